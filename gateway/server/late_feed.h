// Follows late-bound jobs into the ring of events. They are no master's: the agents, each of which knows its
// own, are asked again and again.
#pragma once

#include <kj/async.h>
#include <kj/timer.h>

#include <functional>
#include <map>
#include <string>

#include "core/base/ids.h"
#include "gateway/logic/event_ring.h"
#include "gateway/server/workers.h"

namespace tarcil::gateway {

// On the event loop. A job that came and ended between two questions is told of once, as it ended.
class LateFeed final {
 public:
  // All of them outlive it; `token` is of an operator. `happened` is called when there is something new.
  LateFeed(Workers& workers, kj::Timer& timer, EventRing& ring, std::string token,
           std::function<void()> happened);
  KJ_DISALLOW_COPY(LateFeed);

  // Until the promise is dropped.
  kj::Promise<void> run();

  struct Job {
    std::string owner;
    std::string json;  // as in lists
  };
  using Jobs = std::map<JobId, Job>;

 private:
  void take(Jobs&& jobs);

  Workers& workers_;
  kj::Timer& timer_;
  EventRing& ring_;
  const std::string token_;
  const std::function<void()> happened_;
  Jobs told_;  // as agents listed them last
};

}  // namespace tarcil::gateway
