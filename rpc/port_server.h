// What the servers of the schema's interfaces derive from: whose calls are taken when, and how long they
// take. Both are templates over an interface; its methods are implemented below them as usual. Calls of one
// caller come in the order in which they were made.
#pragma once

#include <capnp/capability.h>

#include "core/state/caller.h"
#include "env/loop_step.h"
#include "rpc/errors.h"
#include "rpc/fair_calls.h"
#include "rpc/reader_calls.h"

namespace tarcil {

using UntypedContext = capnp::CallContext<capnp::AnyPointer, capnp::AnyPointer>;
using DispatchCallResult = capnp::Capability::Server::DispatchCallResult;

// A port of a user: its calls are taken in turns with those of other users. Of role read those alone are
// that the schema marks for it.
template <typename Port>
class UserPortServer : public Port::Server {
 public:
  UserPortServer(kj::Own<FairCalls::User> user, Role role) : user_(kj::mv(user)), role_(role) {}

  DispatchCallResult dispatchCall(uint64_t interface, uint16_t method, UntypedContext context) final {
    if (role_ == Role::kRead && !isForReaders<Port>(interface, method)) {
      refusedToReader(nameOfMethod<Port>(interface, method));
      return {mayOnlyLook(), false};
    }
    if (const Status may = mayCall(); !may) return {toException(may.error()), false};
    return {user_->inTurn([this, interface, method, context]() {
              return Port::Server::dispatchCall(interface, method, context).promise;
            }),
            false};
  }

 protected:
  FairCalls::User& fairUser() { return *user_; }
  // Why no call is taken any more; success where they are.
  virtual Status mayCall() const { return {}; }
  // Of role read; the method's name as the schema has it.
  virtual void refusedToReader(const char* method) { (void)method; }

 private:
  kj::Exception mayOnlyLook() const {
    return toException(
        denied("user " + user_->name() + " may look and change nothing: that takes another role than read"));
  }

  kj::Own<FairCalls::User> user_;
  const Role role_;
};

// A port of another role: its calls are taken as they come.
template <typename Port>
class RolePortServer : public Port::Server {
 public:
  DispatchCallResult dispatchCall(uint64_t interface, uint16_t method, UntypedContext context) final {
    const LoopStep step("a call of another role");
    return Port::Server::dispatchCall(interface, method, context);
  }
};

}  // namespace tarcil
