// An executor whose tasks are timers: one monitor process stands for many servers, with the path to it
// otherwise real.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "core/base/time.h"
#include "monitor/executor.h"

namespace tarcil {

// How an emulated task behaves follows from its command, as it stands: `sh -c "sleep 5"` is of the last kind.
// - sleep TIME...: lasts the sum of its times, in seconds, or minutes with the suffix m; ends at once with
//   code 1 where one of them is no time
// - true, false: end at once with code 0 and 1
// - anything else: lasts TARCIL_EMULATE_SECONDS of its environment (default 1) and ends with code
//   TARCIL_EMULATE_EXIT (default 0); never starts where one of them is not a number
//
// SIGTERM and SIGKILL end a task with that signal; other signals do nothing. Nothing outlives the process:
// recover() is empty, and record() and forget() write nothing down.
class EmulatedExecutor final : public Executor {
 public:
  // `listener` outlives this object.
  EmulatedExecutor(ExecutorListener& listener, Now now);

  void record(const LaunchSpec& spec) override;
  void extendLease(MonotonicTime until) override;
  void start(const LaunchSpec& spec, const std::vector<InputFile>& files) override;
  void recordReason(AllocationId allocation, EndCause reason) override;
  void signal(AllocationId allocation, int signal) override;
  void forget(AllocationId allocation) override;
  std::vector<RecoveredTask> recover() override;

  // Moves time on, and tells the listener of every start and end that is due by then: by time, then by
  // allocation, a start before an end. Between two calls time stands still, so call it before start() and
  // signal(). The listener may call start(), signal() and forget(): they take effect at the time of what it
  // was told.
  void advance(Now now);

  // When advance() has something to tell next.
  std::optional<MonotonicTime> nextWake() const;

 private:
  enum class What : uint8_t { kStart, kEnd, kLeaseEnd };
  struct Due {
    MonotonicTime when;
    AllocationId allocation;  // 0 for kLeaseEnd
    What what;

    auto operator<=>(const Due&) const = default;
  };
  struct Task {
    MonotonicTime ends;
    TaskEnd end;
    bool exclusive = false;
  };

  void announce(const Due& due);
  void endNow(AllocationId allocation, Task& task);
  void loseExclusive();
  WallTime wallAt(MonotonicTime when) const;

  ExecutorListener& listener_;
  Now now_;
  std::map<AllocationId, Task> tasks_;  // started and not ended
  std::set<Due> agenda_;
  MonotonicTime leaseEnd_{};
};

}  // namespace tarcil
