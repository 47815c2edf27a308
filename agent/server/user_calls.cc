#include "agent/server/user_calls.h"

#include <utility>

#include "core/base/result.h"
#include "rpc/errors.h"
#include "rpc/port_server.h"

namespace tarcil {
namespace {

// What a call takes besides its parameters.
constexpr uint64_t kBytesOfCall = 128;

// Whether it is answered when something happens, and not at once.
bool waits(uint16_t method) {
  constexpr uint16_t kWait = 3, kLocate = 4, kWatchDrain = 15;  // of UserPort
  return method == kWait || method == kLocate || method == kWatchDrain;
}

}  // namespace

class UserCalls::Wait final {
 public:
  Wait(const UserCalls& calls, std::string user, uint64_t bytes)
      : waiting_(calls.waiting_), user_(std::move(user)), bytes_(bytes) {
    waiting_->ofAll += bytes_;
    uint64_t& ofUser = waiting_->ofUser[user_] += bytes_;
    isTooMuch_ = ofUser > kMaxWaitBytes || waiting_->ofAll > kMaxWaitBytesOfAll;
  }
  ~Wait() {
    waiting_->ofAll -= bytes_;
    const auto found = waiting_->ofUser.find(user_);
    if ((found->second -= bytes_) == 0) waiting_->ofUser.erase(found);
  }
  KJ_DISALLOW_COPY(Wait);

  bool isTooMuch() const { return isTooMuch_; }

 private:
  const std::shared_ptr<WaitBytes> waiting_;
  const std::string user_;
  const uint64_t bytes_;
  bool isTooMuch_ = false;
};

class UserCalls::Port final : public capnp::Capability::Server {
 public:
  Port(UserCalls& calls, kj::Own<FairCalls::User> user, wire::UserPort::Client master)
      : calls_(calls), user_(kj::mv(user)), master_(kj::mv(master)) {}

  DispatchCallResult dispatchCall(uint64_t interface, uint16_t method, UntypedContext context) override {
    return {user_->inTurn([this, interface, method, context]() mutable {
              const uint64_t bytes =
                  kBytesOfCall + context.getParams().targetSize().wordCount * sizeof(capnp::word);
              return waits(method) ? wait(interface, method, context, bytes)
                                   : ask(interface, method, context, bytes);
            }),
            false};
  }

 private:
  kj::Promise<void> wait(uint64_t interface, uint16_t method, UntypedContext context, uint64_t bytes) {
    auto wait = kj::heap<Wait>(calls_, user_->name(), bytes);
    if (wait->isTooMuch()) {
      return toException(
          {ErrorCode::kExhausted,
           std::string("what users wait for at the master takes as much as it may; ") + kTryAgain});
    }
    auto request = requestOf(interface, method, context);
    // Whoever hangs up waits no more.
    context.allowCancellation();
    return context.tailCall(kj::mv(request)).attach(kj::mv(wait));
  }

  kj::Promise<void> ask(uint64_t interface, uint16_t method, UntypedContext context, uint64_t bytes) {
    return user_->seat(SeatKind::kQuery, bytes)
        .then([this, interface, method, context](kj::Own<FairCalls::Seat>&& seat) mutable {
          auto request = requestOf(interface, method, context);
          context.releaseParams();
          return context.tailCall(kj::mv(request)).attach(kj::mv(seat));
        });
  }

  capnp::Request<capnp::AnyPointer, capnp::AnyPointer> requestOf(uint64_t interface, uint16_t method,
                                                                 UntypedContext& context) {
    const auto params = context.getParams();
    auto request = master_.typelessRequest(interface, method, params.targetSize());
    request.set(params);
    return request;
  }

  UserCalls& calls_;
  kj::Own<FairCalls::User> user_;
  wire::UserPort::Client master_;
};

wire::UserPort::Client UserCalls::port(kj::Own<FairCalls::User> user, wire::UserPort::Client master) {
  return capnp::Capability::Client(kj::heap<Port>(*this, kj::mv(user), kj::mv(master)))
      .castAs<wire::UserPort>();
}

}  // namespace tarcil
