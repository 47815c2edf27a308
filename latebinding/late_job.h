// A job whose tasks are bound late, and what becomes of it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "latebinding/messages.h"
#include "latebinding/server_groups.h"

namespace tarcil::late {

enum class LatePolicy : uint8_t {
  kLateBinding,
  // Without late binding, for comparison. These assume that no message is lost.
  kBatch,    // the least loaded of all servers looked at (Sparrow section 3.3)
  kPerTask,  // each task the less loaded of its own (section 3.2)
  kRandom,
};

struct LateJob {
  uint32_t tasks = 1;  // at least 1
  LatePolicy policy = LatePolicy::kLateBinding;
  // A task that may have run is not launched again, but lost. Otherwise it is, until an end of it is known.
  bool atMostOnce = false;
  UserNumber user = 0;
  uint16_t shares = 1;                 // of the user, beside others of the same priority; at least 1
  uint8_t priority = 50;               // 0 to 100, higher first
  GroupNumber group = kAllServers;     // where its tasks may run; has to last as long as the job
  std::optional<double> probeRatio{};  // 1 to 100
  Bearing bearing{};
  // Where each task may run, instead of the group (Sparrow section 4.1); empty: all tasks alike. Else one
  // list for each task, without duplicates: it waits while none of them is up. Late binding only.
  std::vector<std::vector<ServerId>> serversOfTasks{};
};

enum class Outcome : uint8_t {
  kDone,       // it ran to its end, whatever its code
  kLost,       // at most once: its server was lost; it may have run
  kCancelled,  // before it was launched, or it was stopped there: then it has a code
};

struct TaskOver {
  JobNumber job = 0;
  TaskIndex task = 0;
  Outcome outcome = Outcome::kDone;
  int32_t code = 0;       // as the executor gave it; not 0 where it was stopped
  ServerId server = 0;    // the last at which it was launched
  uint32_t attempts = 0;  // how often it was launched
  SlotLeaseId lease = 0;  // of the last attempt; only of tasks that ran to an end, as the next
  Phases phases{};
};

// All of its tasks are over. Follows the last TaskOver.
struct JobOver {
  JobNumber job = 0;
};

}  // namespace tarcil::late
