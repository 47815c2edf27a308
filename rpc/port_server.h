// What the servers of the schema's interfaces derive from: whose calls are taken when, and how long they
// take. Both are templates over an interface; its methods are implemented below them as usual. Calls of one
// caller come in the order in which they were made.
#pragma once

#include <capnp/capability.h>

#include "env/loop_step.h"
#include "rpc/fair_calls.h"

namespace tarcil {

using UntypedContext = capnp::CallContext<capnp::AnyPointer, capnp::AnyPointer>;
using DispatchCallResult = capnp::Capability::Server::DispatchCallResult;

// A port of a user: its calls are taken in turns with those of other users.
template <typename Port>
class UserPortServer : public Port::Server {
 public:
  explicit UserPortServer(kj::Own<FairCalls::User> user) : user_(kj::mv(user)) {}

  DispatchCallResult dispatchCall(uint64_t interface, uint16_t method, UntypedContext context) final {
    return {user_->inTurn([this, interface, method, context]() {
              return Port::Server::dispatchCall(interface, method, context).promise;
            }),
            false};
  }

 protected:
  FairCalls::User& fairUser() { return *user_; }

 private:
  kj::Own<FairCalls::User> user_;
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
