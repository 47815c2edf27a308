// An executor whose tasks are timers: one monitor process stands for many servers, and everything up to the
// executor is real.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "core/base/time.h"
#include "monitor/logic/emulated_truth.h"
#include "monitor/logic/executor.h"
#include "monitor/logic/performance/watch.h"

namespace tarcil {

// An emulated task behaves by its command, taken literally: `sh -c "sleep 5"` is of the last kind.
// - sleep TIME...: lasts the sum of its times, in seconds, or minutes with the suffix m; ends at once with
//   code 1 where one of them is no time
// - true, false: end at once with code 0 and 1
// - anything else: lasts TARCIL_EMULATE_SECONDS of its environment (default 1) at full speed and ends with
//   code TARCIL_EMULATE_EXIT (default 0); never starts where one of its TARCIL_EMULATE_ variables cannot be
//   read
struct EmulatedBehaviour {
  Duration lasts{};
  int exitCode = 0;
  bool slows = false;     // takes longer where something interferes
  std::string problem{};  // why it never starts; empty where it does
};
EmulatedBehaviour emulatedBehaviour(const LaunchSpec& spec);

// All tasks cause pressure on their server. Those of the last kind run at the speed that
// monitor/logic/emulated_truth.h gives beside whatever else runs there at each moment, the others always at
// full speed. A task with a performance goal reports its speed times its target (or 1), whatever its metric.
//
// SIGTERM and SIGKILL end a task with that signal; other signals do nothing. Nothing outlives the process:
// recover() returns nothing, and record() and forget() store nothing.
class EmulatedExecutor final : public Executor {
 public:
  // `listener` outlives this object. `shares`: by server, how much of a reference server's pressure arrives
  // there; all of it on servers that are not in there.
  EmulatedExecutor(ExecutorListener& listener, Now now, std::map<std::string, Share> shares = {});

  void record(const LaunchSpec& spec) override;
  void extendLease(MonotonicTime until) override;
  void start(const LaunchSpec& spec, const std::vector<InputFile>& files,
             const std::vector<TaskSecret>& secrets) override;
  void recordReason(AllocationId allocation, EndCause reason) override;
  Status resize(AllocationId allocation, const std::vector<RuIndex>& rus) override;
  // kUnavailable: what an emulated task does is set by its job.
  Status throttle(AllocationId allocation, const Throttle& throttle) override;
  void signal(AllocationId allocation, int signal) override;
  void forget(AllocationId allocation) override;
  std::vector<RecoveredTask> recover() override;

  // Advances time, and tells the listener of every start and end that is due by then: by time, then by
  // allocation, a start before an end. Between two calls time stands still, so call it before start() and
  // signal(). The listener may call start(), signal() and forget(), which take effect at the time of the
  // event that it was told of.
  void advance(Now now);

  // When advance() has something to tell next.
  std::optional<MonotonicTime> nextWake() const;

  // Takes a sample of every watched task's performance and returns what the master is to be told. Time stands
  // where advance() left it.
  std::vector<Violation> sample();
  // PerformanceWatch::moved(), after sample().
  std::vector<PerformanceSample> moved() { return watch_.moved(now_); }
  size_t watched() const { return watch_.watched(); }

  // Of a started task, relative to the task alone, now; nullopt: there is none.
  std::optional<double> speed(AllocationId allocation) const;

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
    JobId job;
    std::string server{};
    size_t units = 0;
    TrueNature nature{};
    bool slows = false;   // runs at the speed that its neighbours leave it
    double speed = 1;     // since `changed`
    double workLeft = 0;  // then, in microseconds at full speed
    MonotonicTime changed{};
    Pressure caused{}, tolerated{};  // by its profile
    double target = 0;               // of its performance goal; 0: it has none
  };

  void join(AllocationId allocation, const LaunchSpec& spec);
  void leave(AllocationId allocation, const Task& task);
  void reckonServer(const std::string& server);
  void setSpeed(AllocationId allocation, Task& task, double speed);
  std::optional<Scene> sceneOf(AllocationId allocation) const;
  const Share& shareOf(const std::string& server) const;

  void announce(const Due& due);
  void endNow(AllocationId allocation, Task& task);
  void loseExclusive();
  WallTime wallAt(MonotonicTime when) const;

  ExecutorListener& listener_;
  Now now_;
  std::map<AllocationId, Task> tasks_;                     // started and not ended
  std::map<std::string, std::set<AllocationId>> servers_;  // the tasks on each
  const std::map<std::string, Share> shares_;
  PerformanceWatch watch_;
  std::set<Due> agenda_;
  MonotonicTime leaseEnd_{};
};

}  // namespace tarcil
