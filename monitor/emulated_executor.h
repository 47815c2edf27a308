// An executor whose tasks are timers: one monitor process stands for many servers, with the path to it
// otherwise real.
#pragma once

#include <map>
#include <optional>

#include "core/base/time.h"
#include "monitor/executor.h"

namespace tarcil {

// How an emulated task behaves follows from its command: `sleep SECONDS` lasts that long; `true` and `false`
// end at once with code 0 and 1; anything else lasts TARCIL_EMULATE_SECONDS of its environment (default 1)
// and ends with TARCIL_EMULATE_EXIT (default 0). SIGTERM ends it with that signal. Nothing outlives the
// process: recover() is empty.
class EmulatedExecutor final : public Executor {
 public:
  // `listener` outlives this object. Time comes from advance().
  EmulatedExecutor(ExecutorListener& listener, Now now);

  void record(const LaunchSpec& spec) override;
  void start(const LaunchSpec& spec, const std::vector<InputFile>& files) override;
  void signal(AllocationId allocation, int signal) override;
  void forget(AllocationId allocation) override;
  std::vector<RecoveredTask> recover() override;

  // Moves time on, and tells the listener of every start and end that is due by then, in order.
  void advance(Now now);

  // When advance() has something to do next.
  std::optional<MonotonicTime> nextWake() const;

 private:
  struct Task {
    MonotonicTime ends;
    TaskEnd end;
    bool announced = false;
  };

  ExecutorListener& listener_;
  Now now_;
  std::map<AllocationId, Task> tasks_;
};

}  // namespace tarcil
