#include "rpc/link.h"

#include <kj/debug.h>

#include <algorithm>

#include "rpc/errors.h"

namespace tarcil {
namespace {

constexpr auto kFirstPause = 20 * kj::MILLISECONDS;
constexpr auto kMaxPause = 1 * kj::SECONDS;

class Link final {
 public:
  Link(Net net, std::string address, kj::Function<kj::Promise<Attached>(capnp::Capability::Client)> attach,
       kj::Function<void(const Error&)> lost, Expected whom)
      : net_(net),
        address_(std::move(address)),
        whom_(std::move(whom)),
        attach_(kj::mv(attach)),
        lost_(kj::mv(lost)) {}

  kj::Promise<void> run() {
    return tryOnce()
        .catch_([this](kj::Exception&& exception) { lost_(fromException(exception)); })
        .then([this]() {
          const auto pause = pause_;
          pause_ = std::min(pause_ * 2, kMaxPause);
          return net_.timer.afterDelay(pause);
        })
        .then([this]() { return run(); });
  }

 private:
  // Ends, always with an exception, when the connection is lost.
  kj::Promise<void> tryOnce() {
    return connect(net_, address_, whom_).then([this](kj::Own<Connection>&& connection) {
      auto& held = *connection;
      auto attached = kj::evalNow([this, &held]() { return attach_(held.bootstrap()); });
      return attached
          .then([this, &held](Attached&& attached) {
            // A call may be the first to see that the connection has ended.
            auto fault = attached.fault.catch_([](kj::Exception&& exception) -> kj::Promise<void> {
              if (exception.getType() == kj::Exception::Type::DISCONNECTED) return kj::READY_NOW;
              return kj::mv(exception);
            });
            return held.onDisconnect().exclusiveJoin(kj::mv(fault)).then([this]() { pause_ = kFirstPause; });
          })
          .then([this]() {
            kj::throwFatalException(
                toException({ErrorCode::kUnavailable, address_ + " closed the connection"}));
          })
          .attach(kj::mv(connection));
    });
  }

  Net net_;
  const std::string address_;
  const Expected whom_;
  kj::Function<kj::Promise<Attached>(capnp::Capability::Client)> attach_;
  kj::Function<void(const Error&)> lost_;
  kj::Duration pause_ = kFirstPause;
};

}  // namespace

kj::Promise<void> keepLinked(Net net, std::string address,
                             kj::Function<kj::Promise<Attached>(capnp::Capability::Client)> attach,
                             kj::Function<void(const Error&)> lost, Expected whom) {
  auto link = kj::heap<Link>(net, std::move(address), kj::mv(attach), kj::mv(lost), std::move(whom));
  auto running = link->run();
  return running.attach(kj::mv(link));
}

}  // namespace tarcil
