// A scheduler inside a simulation: it hears of jobs, ended tasks and its own messages, and starts tasks.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/workload/workload.h"

namespace tarcil::sim {

using ServerNumber = uint32_t;

// What a policy sends itself, to arrive later: its meaning is the policy's own.
struct Message {
  uint8_t kind = 0;
  uint32_t a = 0, b = 0, c = 0;
};

// What a policy tells of its work.
struct SchedulerCounts {
  uint64_t decisions = 0;
  uint64_t conflicts = 0;             // claims that were refused because the state had changed
  std::vector<float> decisionMicros;  // of each decision, modelled: with the time that it waited for its turn
};

class Scheduler {
 public:
  virtual ~Scheduler() = default;

  virtual void jobArrived(JobNumber job) = 0;
  // Its units are free again. Said once for each task.
  virtual void taskEnded(TaskNumber task, ServerNumber server) = 0;
  virtual void received(const Message& message) = 0;

  virtual SchedulerCounts counts() const { return {}; }
};

}  // namespace tarcil::sim
