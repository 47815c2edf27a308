// The monitor's side of late binding: reservations wait for slots of one server (Sparrow sections 3.5, 4.2).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/model/contention.h"
#include "latebinding/fair_flows.h"
#include "latebinding/messages.h"
#include "latebinding/options.h"
#include "latebinding/reservation_table.h"

namespace tarcil::late {

// The task runs now, on the leased slot. Exactly one for each lease that got a task.
struct StartTask {
  AgentNumber agent = 0;
  JobNumber job = 0;
  TaskIndex task = 0;
  SlotLeaseId lease = 0;
};

// The task of this lease is to end; taskEnded() follows when it has. Repeated when the agent repeats
// its Stop.
struct StopTask {
  SlotLeaseId lease = 0;
};

// The actions of the queue, appended to; the caller empties and reuses it.
struct QueueActions {
  std::vector<Ask> asks;
  std::vector<StartTask> starts;
  std::vector<StopTask> stops;
  std::vector<Started> started;
  std::vector<NotStarted> notStarted;
  std::vector<Ended> ended;

  void clear();
};

// What became of reservations since the start, counted in slot leases.
struct QueueCounts {
  uint64_t reserved = 0;
  uint64_t cancelled = 0;  // before a slot was leased for them
  uint64_t given = 0;      // leases that got a task
  uint64_t noneLeft = 0;   // leases that were told that no task is left
  uint64_t givenUp = 0;    // that got no answer
};

// The interference on a server's late-bound tasks from everything else: committed tasks and the background.
struct Surroundings {
  PressureSum caused{};  // by committed tasks, as in their profiles
  Share share = fullShare();
  Pressure background{};
};

// Every slot is free or leased: asking for a task, or running it. Whenever a slot is free, the
// reservation that comes next gets it: of the highest priority, of the user who has used least for their
// shares, the oldest. One whose tasks do not bear the contention here is passed over, for a bounded time.
//
// A lease starts one task at most, so a Give that is lost, late or repeated does no harm; nor does any other
// message. One reservation stands for `count` leases.
//
// Single-threaded; no I/O; O(1) for each message, and O(users with work here) for each lease.
class ReservationQueue {
 public:
  // `firstLease` lies above every lease that this server's monitors ever made, in units of 2^16: the time
  // since an epoch in seconds will do. Requires: options without problems, 1 <= firstLease < 2^47.
  ReservationQueue(const QueueOptions& options, ServerId server, uint64_t firstLease);

  // So many slots from now on. Leases beyond that run to their end.
  void setSlots(uint32_t slots, MonotonicTime now, QueueActions& actions);
  void setSurroundings(const Surroundings& surroundings, MonotonicTime now, QueueActions& actions);

  // --- Messages of agents
  void handle(const Reserve& message, MonotonicTime now, QueueActions& actions);
  void handle(const Cancel& message);
  void handle(const Give& message, MonotonicTime now, QueueActions& actions);
  void handle(const Forget& message);
  void handle(const Stop& message, QueueActions& actions);
  // The answer to a Look.
  QueueLength handle(const Look& message) const;

  // --- What happens here
  // The lease's task has ended. Ignored for a lease that runs none.
  void taskEnded(SlotLeaseId lease, int32_t code, MonotonicTime now, QueueActions& actions);
  // The session is over: its reservations go, and slots that wait for its answer are free. Its tasks run on,
  // and their end is told to nobody.
  void agentLost(AgentNumber agent, MonotonicTime now, QueueActions& actions);
  // Does what has become due. Called at nextWake(), or a little later.
  void advance(MonotonicTime now, QueueActions& actions);
  // May be earlier than anything is due; max() where nothing will be.
  MonotonicTime nextWake() const { return wake_; }

  // --- What there is
  uint32_t slots() const { return slots_; }
  uint32_t busy() const { return busy_; }      // slots held
  uint64_t queued() const { return queued_; }  // slots that reservations still wait for
  const QueueCounts& counts() const { return counts_; }
  const PressureSum& caused() const { return causedHere_; }  // by the tasks of leased slots

 private:
  enum class State : uint8_t { kFree, kAsking, kRunning, kEnded };
  struct SlotLease {
    SlotLeaseId number = 0;
    JobNumber job = 0;
    AgentNumber agent = 0;
    ProbeIndex probe = 0;
    TaskIndex task = kNoTask;
    FlowIndex flow = 0;
    State state = State::kFree;
    bool orphan = false;  // its agent is lost
    int32_t code = 0;
    Pressure caused{};
    MonotonicTime came{}, asked{}, started{}, ended{};
    MonotonicTime due = MonotonicTime::max();  // for the next repeat
  };

  SlotLease* find(SlotLeaseId number, State state);
  SlotLease& newLease();
  void free(SlotLease& lease);
  void fillSlots(MonotonicTime now, QueueActions& actions);
  Row nextFeasible(MonotonicTime now);
  bool isFeasible(Reservation& reservation, MonotonicTime now);
  void begin(Row row, MonotonicTime now, QueueActions& actions);
  void start(SlotLease& lease, TaskIndex task, MonotonicTime now, QueueActions& actions);
  void giveSlotBack(SlotLease& lease, MonotonicTime now);
  void drop(Row row);
  void dropAllOf(AgentNumber agent);
  void wakeBy(MonotonicTime time) { wake_ = std::min(wake_, time); }
  Ask askOf(const SlotLease& lease) const;
  Ended endOf(const SlotLease& lease) const;

  const QueueOptions options_;
  const ServerId server_;
  const uint64_t firstLease_;
  uint64_t lastLease_;
  uint32_t slots_ = 0;
  uint32_t busy_ = 0;
  uint64_t queued_ = 0;
  ReservationTable reservations_;
  FairFlows flows_;
  std::vector<SlotLease> leases_;
  std::vector<uint32_t> freeLeases_;
  QueueCounts counts_;
  Surroundings surroundings_;
  PressureSum causedHere_{};  // by the tasks of leased slots
  MonotonicTime wake_ = MonotonicTime::max();
};

}  // namespace tarcil::late
