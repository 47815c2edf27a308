// The units of one server that late-bound tasks run on, leased from the master in blocks: the monitor's side.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>

#include "core/base/time.h"
#include "core/state/ru_set.h"
#include "latebinding/options.h"
#include "latebinding/pool_messages.h"

namespace tarcil::late {

// The demand of the reservation queue.
struct PoolDemand {
  uint32_t busy = 0;    // slots held
  uint64_t queued = 0;  // slots that reservations still wait for
};

// Grows as soon as more is needed, shrinks to the most that was needed within a while, and drains to the
// master's limit: free units are returned at once, the others as their tasks end.
//
// The queue may hold slots() of them. A task takes a unit when it starts and releases it when it ends; there
// is always one for it, since only units beyond those that the queue holds are returned.
//
// Single-threaded; no I/O.
class Pool {
 public:
  // `incarnation` is higher than at any earlier start. Requires: options without problems.
  Pool(const PoolOptions& options, uint64_t incarnation) : options_(options), incarnation_(incarnation) {}

  // Slots that the queue may hold from now on, the ones above it being drained.
  uint32_t slots() const { return std::min(held_.size(), target_); }
  const RuSet& held() const { return held_; }

  // A unit for a task that starts, the lowest free one. Requires: the queue holds a slot for it.
  RuIndex take();
  void release(RuIndex ru) { taken_.erase(ru); }

  // To be called after each change of the demand, of slots or of tasks, and at nextWake(): the report to be
  // sent now, if any. Requires: demand.busy is at least the number of units taken.
  std::optional<PoolReport> update(const PoolDemand& demand, MonotonicTime now);
  // Ignored if it does not answer the report under way.
  void handle(const PoolAnswer& answer, MonotonicTime now);
  // Ignored if its revision is not higher than that of the last.
  void handle(const PoolLimit& limit);
  // max() if nothing will become due.
  MonotonicTime nextWake() const { return wake_; }

 private:
  // So much was needed, and no more since then.
  struct Peak {
    MonotonicTime since{};
    uint32_t units = 0;
  };

  uint32_t needed(const PoolDemand& demand) const;
  uint32_t mostNeeded(uint32_t now, MonotonicTime time);
  RuSet idle(uint32_t count) const;

  const PoolOptions options_;
  const uint64_t incarnation_;
  RuSet held_;
  RuSet taken_;
  PoolLimit limit_;
  uint32_t target_ = 0;
  std::deque<Peak> peaks_;  // of the last while, each higher than the next
  uint64_t sequence_ = 0;
  std::optional<PoolReport> underWay_;
  MonotonicTime sent_{};
  MonotonicTime mayGrow_ = MonotonicTime::min();
  MonotonicTime wake_ = MonotonicTime::max();
};

}  // namespace tarcil::late
