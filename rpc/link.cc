#include "rpc/link.h"

#include <kj/debug.h>

#include <algorithm>

#include "rpc/errors.h"

namespace tarcil {
namespace {

constexpr auto kFirstPause = 20 * kj::MILLISECONDS;
constexpr auto kMaxPause = 1 * kj::SECONDS;
constexpr auto kMaxPauseOfSeveral = 400 * kj::MILLISECONDS;

class Link final {
 public:
  Link(Net net, std::vector<std::string> addresses, Rng rng, Attach attach, Lost lost, Expected whom)
      : net_(net),
        addresses_(std::move(addresses)),
        rng_(rng),
        whom_(std::move(whom)),
        attach_(kj::mv(attach)),
        lost_(kj::mv(lost)) {}

  kj::Promise<void> run() {
    return tryOnce(addresses_[next_])
        .catch_([this](kj::Exception&& exception) { lost_(fromException(exception), addresses_[next_]); })
        .then([this]() { return pause(); })
        .then([this]() { return run(); });
  }

 private:
  // Ends, always with an exception, when the connection is lost.
  kj::Promise<void> tryOnce(const std::string& address) {
    return connect(net_, address, whom_).then([this, &address](kj::Own<Connection>&& connection) {
      auto& held = *connection;
      auto attached = kj::evalNow([this, &held, &address]() { return attach_(held.bootstrap(), address); });
      return attached
          .then([this, &held](Attached&& attached) {
            // A call may be the first to see that the connection has ended.
            auto fault = attached.fault.catch_([](kj::Exception&& exception) -> kj::Promise<void> {
              if (exception.getType() == kj::Exception::Type::DISCONNECTED) return kj::READY_NOW;
              return kj::mv(exception);
            });
            return held.onDisconnect().exclusiveJoin(kj::mv(fault)).then([this]() {
              pause_ = kFirstPause;
              triedInRow_ = 0;
            });
          })
          .then([&address]() {
            kj::throwFatalException(
                toException({ErrorCode::kUnavailable, address + " closed the connection"}));
          })
          .attach(kj::mv(connection));
    });
  }

  // Before the next address is tried.
  kj::Promise<void> pause() {
    next_ = (next_ + 1) % addresses_.size();
    if (++triedInRow_ % addresses_.size() != 0) return kj::READY_NOW;
    const auto half = pause_ / 2;
    const auto part = static_cast<int64_t>(rng_.below(static_cast<uint64_t>(half / kj::NANOSECONDS) + 1));
    const auto pause = pause_ - part * kj::NANOSECONDS;
    pause_ = std::min(pause_ * 2, addresses_.size() == 1 ? kMaxPause : kMaxPauseOfSeveral);
    return net_.timer.afterDelay(pause);
  }

  Net net_;
  const std::vector<std::string> addresses_;
  Rng rng_;
  const Expected whom_;
  Attach attach_;
  Lost lost_;
  size_t next_ = 0;  // of the addresses
  size_t triedInRow_ = 0;
  kj::Duration pause_ = kFirstPause;
};

}  // namespace

kj::Promise<void> keepLinked(Net net, std::vector<std::string> addresses, Rng rng, Attach attach, Lost lost,
                             Expected whom) {
  auto link = kj::heap<Link>(net, std::move(addresses), rng, kj::mv(attach), kj::mv(lost), std::move(whom));
  auto running = link->run();
  return running.attach(kj::mv(link));
}

}  // namespace tarcil
