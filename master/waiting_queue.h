// The order of the jobs that wait for slots, and whose turn it is to be tried.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "core/base/ids.h"
#include "core/base/time.h"
#include "core/state/job_state.h"

namespace tarcil::master {

// A job's place among the waiting: priority, then age. Smaller comes first.
struct Place {
  uint8_t urgency = 0;  // 255 - priority
  WallTime submitted = kNever;
  JobId job;

  uint8_t priority() const { return static_cast<uint8_t>(255 - urgency); }
  auto operator<=>(const Place&) const = default;
};

Place placeOf(const JobRecord& record);

// A job here is to be tried, has its turn, rests until something gets better for it, or nobody is there to
// try it. Agents try their jobs when they have a turn, so the order is one for all of them (design: the
// master holds the queue's order).
//
// Turns are given in batches, the next when all turns of the last are over. The jobs of a batch have one
// priority: none is tried while one of a higher priority is being tried. Agents race within a batch, but for
// the first batches after something got better, each of which has the jobs of one agent only: what came free
// is offered in the exact order first. The cost of a change is that of the jobs tried since the last one, not
// that of all that wait.
class WaitingQueue {
 public:
  enum class Mode : uint8_t { kToBeTried, kResting };

  // Adds the job; one that is there is to be tried if asked, else stays as it is. One that has its turn is
  // tried again after it.
  void put(const Place& place, Mode mode);
  void erase(const Place& place);

  // Something got better: everything is to be tried again, but for jobs that nobody can try.
  void wakeAll();
  // Somebody came: he may be able to try those.
  void wakeUntriable();

  // The next turns, at most so many; none while others are not over. Jobs that nobody can try now are set
  // aside. After a wake turns begin anew with the first in order, then go on behind the last. Where wakes
  // come so fast that they would never get far, every fourth batch goes on where the last such one ended: a
  // long row of jobs that nothing suits does not keep those behind it from being tried.
  //
  // `whoTries`: a number of the agent that tries the job; none where nobody can.
  using WhoTries = std::function<std::optional<uint64_t>(const JobId&)>;
  std::vector<JobId> giveTurns(size_t atMost, const WhoTries& whoTries);
  // The job was tried, or cannot be. Does nothing where it has no turn.
  void endTurn(const Place& place);
  // Whoever has a turn has had it long enough.
  void endTurns();
  bool hasTurnsOut() const { return !onTurn_.empty(); }

  // The highest priority of a job that is to be tried or has its turn.
  std::optional<uint8_t> pendingPriority() const;

  bool contains(const Place& place) const;
  size_t size() const { return toTry_.size() + onTurn_.size() + resting_.size() + untriable_.size(); }
  // Jobs that come before this one. O(result) plus a search.
  uint32_t ahead(const Place& place) const;
  // The first in order, at most so many. O(result).
  std::vector<JobId> first(size_t atMost) const;

 private:
  std::set<Place>::iterator firstBehind(const Place& place);
  std::vector<JobId> nextBatch(size_t atMost, const WhoTries& whoTries);

  std::set<Place> toTry_;
  std::set<Place> resting_;
  std::set<Place> untriable_;
  std::map<Place, bool> onTurn_;  // value: to be tried again
  Place last_;                    // given a turn
  Place deepest_;                 // ... in a batch that did not begin anew in spite of a wake
  bool beginsAnew_ = true;        // since the last batch
  int batches_ = 0;               // since the last that began anew
  int begunAnew_ = 0;             // batches in a row
};

}  // namespace tarcil::master
