// What an agent holds of a job until it is over. Used by JobScheduler only.
#pragma once

#include <cstdint>
#include <vector>

#include "latebinding/late_job.h"

namespace tarcil::late {

struct HeldTask {
  enum class State : uint8_t {
    kWaiting,
    kGiven,    // to a slot lease; whether it runs is not known
    kRunning,  // its monitor said so
    kOver,
  };

  SlotLeaseId lease = 0;  // 0: bound without one
  MonotonicTime since{};  // waiting
  Duration reserve{};     // from `since` to the Ask, less the time in the queue
  ProbeIndex probe = 0;   // that it was given to
  uint16_t attempts = 0;
  State state = State::kWaiting;
};

struct Probe {
  SlotLeaseId lastLease = 0;  // the highest that asked
  ServerId server = 0;
  uint32_t left = 0;  // reservations that have neither asked nor been cancelled
};

// A task may run on a server; sorted by server.
struct Eligible {
  ServerId server = 0;
  TaskIndex task = 0;
  bool drew = false;  // whether the task sent a reservation there
};

// Kept by position; lists keep their memory from job to job.
struct HeldJob {
  JobNumber number = 0;  // generation << 32 | position
  bool isOpen = false;
  bool isCancelled = false;
  LateJob spec{};
  double ratio = 2;
  std::vector<HeldTask> tasks;
  std::vector<Probe> probes;
  std::vector<TaskIndex> returned;  // waiting again
  std::vector<Eligible> eligible;   // where tasks have servers of their own
  std::vector<int32_t> lengths;     // by probe, where queues were looked at
  uint32_t answers = 0;             // lengths that are known
  TaskIndex fresh = 0;              // this and all after it wait for the first time
  uint32_t waiting = 0;             // tasks
  uint32_t notOver = 0;             // tasks
  uint64_t outstanding = 0;         // sum of `left`
  Duration pause{};                 // until the next repeat

  bool isConstrained() const { return !spec.serversOfTasks.empty(); }
};

}  // namespace tarcil::late
