#include "gateway/server/streams.h"

#include "rpc/errors.h"

namespace tarcil::gateway {
namespace {

// Of one write. What comes while it is taken is written with the next.
constexpr size_t kPageBytes = 64 << 10;
constexpr auto kBetweenWrites = 10 * kj::MILLISECONDS;

}  // namespace

kj::Own<StreamPlaces::Place> StreamPlaces::take(const std::string& user) {
  const bool isFull = count_ >= bounds_.inAll;
  if (isFull || ofUser_[user] >= bounds_.ofUser) {
    if (ofUser_[user] == 0) ofUser_.erase(user);
    const std::string number = std::to_string(isFull ? bounds_.inAll : bounds_.ofUser);
    kj::throwFatalException(toException(
        {ErrorCode::kExhausted, number + (isFull ? " streams" : " streams of " + user) +
                                    " are open, as many as may be; close one, or try again later"}));
  }
  ++count_;
  ++ofUser_[user];
  return kj::heap<Place>(*this, user);
}

void StreamPlaces::leave(const std::string& user) {
  --count_;
  const auto found = ofUser_.find(user);
  if (--found->second == 0) ofUser_.erase(found);
}

kj::Promise<void> writeWithin(kj::Timer& timer, kj::Duration time, kj::AsyncOutputStream& to,
                              std::string text) {
  auto owned = kj::heap(std::move(text));
  auto written = to.write(owned->data(), owned->size());
  auto tooLate = timer.afterDelay(time).then([]() -> kj::Promise<void> {
    return toException({ErrorCode::kUnavailable, "the reader does not take what is sent"});
  });
  return written.exclusiveJoin(kj::mv(tooLate)).attach(kj::mv(owned));
}

kj::Promise<void> EventStream::run() {
  KJ_IF_MAYBE (caller, caller_()) {
    EventRing::Page page = ring_.behind(position_, *caller, kPageBytes);
    position_ = page.next;
    if (!page.text.empty()) {
      return writeWithin(timer_, bounds_.write, *to_, std::move(page.text))
          .then([this]() { return timer_.afterDelay(kBetweenWrites); })
          .then([this]() { return run(); });
    }
  } else {
    return kj::READY_NOW;
  }
  auto silence = timer_.afterDelay(bounds_.heartbeat).then([]() { return true; });
  return news_.wait(kNews)
      .then([]() { return false; })
      .exclusiveJoin(kj::mv(silence))
      .then([this](bool isSilent) -> kj::Promise<void> {
        if (!isSilent) return kj::READY_NOW;
        return writeWithin(timer_, bounds_.write, *to_, ": alive\n\n");
      })
      .then([this]() { return run(); });
}

}  // namespace tarcil::gateway
