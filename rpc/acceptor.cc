#include "rpc/acceptor.h"

#include <fcntl.h>
#include <kj/debug.h>
#include <sys/resource.h>

#include <utility>

namespace tarcil {
namespace {

constexpr uint64_t kAcceptedInARow = 8;
constexpr auto kBetweenRows = 1 * kj::MILLISECONDS;
constexpr auto kPause = 10 * kj::MILLISECONDS;
constexpr auto kBetweenWarnings = 10 * kj::SECONDS;

kj::AutoCloseFd openReserve() {
  return kj::AutoCloseFd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
}

// Whether it has one of the last quarter of this process's descriptors, which are for its files and for what
// it starts: a role that cannot open a file does wrong what it has promised.
bool takesLastDescriptors(const kj::AsyncIoStream& stream) {
  rlimit limit{};
  KJ_IF_MAYBE (fd, stream.getFd()) {
    return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 && static_cast<rlim_t>(*fd) >= limit.rlim_cur / 4 * 3;
  }
  return false;
}

}  // namespace

Acceptor::Acceptor(kj::Timer& timer, kj::Own<kj::ConnectionReceiver> receiver, Take take)
    : timer_(timer), receiver_(kj::mv(receiver)), take_(std::move(take)), reserve_(openReserve()) {}

kj::Promise<void> Acceptor::run() {
  return accept().then(
      [this](kj::Own<kj::AsyncIoStream>&& stream) -> kj::Promise<void> {
        if (takesLastDescriptors(*stream)) {
          warn("they have three quarters of the descriptors (ulimit -n)");
          stream = nullptr;
          return timer_.afterDelay(kPause).then([this]() { return run(); });
        }
        take_(kj::mv(stream));
        // However many come, those who are there are served in between.
        if (++accepted_ % kAcceptedInARow != 0) return run();
        return timer_.afterDelay(kBetweenRows).then([this]() { return run(); });
      },
      [this](kj::Exception&& exception) -> kj::Promise<void> {
        // Out of descriptors, or of memory for sockets.
        if (exception.getType() != kj::Exception::Type::OVERLOADED) return kj::mv(exception);
        return turnAway(exception);
      });
}

// An error may be thrown by the call itself.
kj::Promise<kj::Own<kj::AsyncIoStream>> Acceptor::accept() {
  return kj::evalNow([this]() { return receiver_->accept(); });
}

void Acceptor::warn(kj::StringPtr why) {
  if (const auto now = timer_.now(); now >= nextWarning_) {
    nextWarning_ = now + kBetweenWarnings;
    KJ_LOG(WARNING, "peers are turned away: no more can be accepted", why);
  }
}

// Those who wait would wake it again at once: they get the reserve, one after the other, and hear that they
// are disconnected. Where even that fails, it waits for descriptors to come free.
kj::Promise<void> Acceptor::turnAway(const kj::Exception& why) {
  warn(why.getDescription());
  reserve_ = nullptr;
  return accept()
      .then([](kj::Own<kj::AsyncIoStream>&&) {}, [](kj::Exception&&) {})
      .exclusiveJoin(timer_.afterDelay(kPause))
      .then([this]() {
        reserve_ = openReserve();
        return timer_.afterDelay(kPause);
      })
      .then([this]() { return run(); });
}

}  // namespace tarcil
