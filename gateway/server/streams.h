// Streams of server-sent events to those who listen.
#pragma once

#include <kj/async-io.h>
#include <kj/timer.h>

#include <cstddef>
#include <functional>
#include <map>
#include <string>

#include "core/state/caller.h"
#include "gateway/logic/event_ring.h"
#include "rpc/wait_list.h"

namespace tarcil::gateway {

struct StreamBounds {
  size_t inAll = 1'000;
  size_t ofUser = 20;
  kj::Duration heartbeat = 10 * kj::SECONDS;
  // Who takes longer to read what was sent is disconnected.
  kj::Duration write = 30 * kj::SECONDS;
};

// How many streams there are. A Place must not outlive it. Single-threaded.
class StreamPlaces final {
 public:
  explicit StreamPlaces(const StreamBounds& bounds) : bounds_(bounds) {}

  class Place final {
   public:
    Place(StreamPlaces& all, std::string user) : all_(all), user_(std::move(user)) {}
    ~Place() noexcept(false) { all_.leave(user_); }
    KJ_DISALLOW_COPY(Place);

   private:
    StreamPlaces& all_;
    const std::string user_;
  };
  // Exhausted where there are too many, in all or of this user.
  kj::Own<Place> take(const std::string& user);

  size_t count() const { return count_; }

 private:
  void leave(const std::string& user);

  const StreamBounds bounds_;
  size_t count_ = 0;
  std::map<std::string, size_t> ofUser_;
};

// Fails as Unavailable where it takes longer.
kj::Promise<void> writeWithin(kj::Timer& timer, kj::Duration time, kj::AsyncOutputStream& to,
                              std::string text);

// What the ring has behind a position, and what comes, until the reader is gone or the promise is dropped.
// `caller` is asked for each time: none where the user is let in no more. All of it outlives the promise.
class EventStream final {
 public:
  using WhoReads = std::function<kj::Maybe<const Caller&>()>;

  EventStream(kj::Timer& timer, const StreamBounds& bounds, const EventRing& ring, WaitList<int>& news,
              kj::Own<kj::AsyncOutputStream> to, EventPosition from, WhoReads caller)
      : timer_(timer),
        bounds_(bounds),
        ring_(ring),
        news_(news),
        to_(kj::mv(to)),
        position_(from),
        caller_(std::move(caller)) {}
  KJ_DISALLOW_COPY(EventStream);

  kj::Promise<void> run();

 private:
  kj::Timer& timer_;
  const StreamBounds& bounds_;
  const EventRing& ring_;
  WaitList<int>& news_;
  kj::Own<kj::AsyncOutputStream> to_;
  EventPosition position_;
  const WhoReads caller_;
};

// What news_ is waited for by.
inline constexpr int kNews = 0;

}  // namespace tarcil::gateway
