// Which user's reservation comes next on one server: strict priorities, and fair shares between users of one
// priority (Sparrow section 4.2).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/time.h"
#include "latebinding/reservation_table.h"

namespace tarcil::late {

// Position of a flow; valid until it is dropped, which happens only while it has no reservation and no
// slot lease.
using FlowIndex = uint32_t;

// The reservations of one user at one priority, and the slots held for them.
struct Flow {
  UserNumber user = 0;
  uint16_t shares = 1;
  uint8_t priority = 0;
  bool inUse = false;
  uint32_t leases = 0;  // slots held: asking or running
  Chain queue{};
  // Weighted fair queueing by slot time: how long slots were held for the user, per share. It grows while
  // they are held, so that no one needs to know beforehand how long a task takes.
  double used = 0;       // microseconds of one slot for each share
  uint32_t visited = 0;  // the search that last looked at it

  bool isActive() const { return leases > 0 || queue.head != kNoRow; }
};

// Among flows of the highest priority that have reservations, the one that has used least comes next. A flow
// that is new, or returns after a while, starts level with the least of those active: idle time saves up
// nothing, and a short absence writes off nothing. Operations are O(flows of this server). Single-threaded.
class FairFlows {
 public:
  // The flow of this user at this priority, made where there is none.
  FlowIndex flowOf(UserNumber user, uint16_t shares, uint8_t priority, MonotonicTime now);

  Flow& at(FlowIndex index) { return flows_[index]; }
  const Flow& at(FlowIndex index) const { return flows_[index]; }
  // Positions below this may be in use.
  FlowIndex end() const { return static_cast<FlowIndex>(flows_.size()); }

  // A slot is held for the flow, or no longer.
  void hold(FlowIndex index, MonotonicTime now);
  void release(FlowIndex index, MonotonicTime now);

  // Begins a search, whose first(), and each next one, is the flow that comes next of those not looked
  // at yet.
  void search(MonotonicTime now);
  std::optional<FlowIndex> next();

 private:
  void charge(MonotonicTime now);
  double leastUsed(uint8_t priority) const;
  void dropIdle();

  std::vector<Flow> flows_;
  MonotonicTime charged_{};  // until when `used` counts
  uint32_t searches_ = 0;
};

}  // namespace tarcil::late
