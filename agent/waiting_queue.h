// Jobs that wait for slots, and in which order they are tried when the state gets better for them.
#pragma once

#include <compare>
#include <optional>
#include <set>

#include "core/base/ids.h"
#include "core/base/time.h"
#include "core/state/job_state.h"

namespace tarcil::agent {

// A job's place among the waiting: priority, then age.
struct WaitingKey {
  uint8_t urgency = 0;  // 255 - priority: smaller comes first
  WallTime submitted = kNever;
  JobId job;

  auto operator<=>(const WaitingKey&) const = default;
};

WaitingKey waitingKey(const JobRecord& record);

// A job here either is to be tried or rests until something changes. The cost of a change is that of the jobs
// tried since the last one, not that of all that wait.
class WaitingQueue {
 public:
  enum class Mode : uint8_t { kToBeTried, kResting };

  // Adds the job; one that is there and rests is to be tried if asked, one that is to be tried stays so.
  void put(const WaitingKey& key, Mode mode);
  void erase(const WaitingKey& key);

  // Everything is to be tried again.
  void wakeAll();

  // The next job to be tried; it rests from now on. Calls alternate between the first in order and the one
  // after the last so taken: the urgent are tried soonest, and those behind a long row of jobs that nothing
  // suits are reached as well.
  std::optional<JobId> next();

  bool anyToTry() const { return !toTry_.empty(); }
  size_t size() const { return toTry_.size() + resting_.size(); }

 private:
  std::set<WaitingKey> toTry_;
  std::set<WaitingKey> resting_;
  WaitingKey cursor_;
  bool fromHead_ = true;
};

}  // namespace tarcil::agent
