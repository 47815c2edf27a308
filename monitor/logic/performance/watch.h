// The tasks of a monitor whose performance is watched: takes their samples and says which are degraded, and
// why. Pure.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "core/base/time.h"
#include "monitor/logic/performance/blame.h"
#include "monitor/logic/performance/tracker.h"

namespace tarcil {

class PerformanceWatch final {
 public:
  // The evidence around a task; nullopt: none has been collected yet.
  using SceneOf = std::function<std::optional<Scene>(AllocationId)>;

  // A task that is watched already goes on. `earlier`: as LaunchSpec::earlier.
  void begin(AllocationId task, const PerformanceGoal& goal, double earlier = 0);
  // The task is gone, and its violation with it: nothing more is reported of either.
  void end(AllocationId task);

  // The task's metric since its last sample. Of one that is not watched: nothing.
  void take(AllocationId task, double value, Now now);

  // Whether a task is degraded, or may be soon: then it is time to look for causes.
  bool suspicious() const;

  // What is to be reported to the master: violations that began (one call later where there was no evidence
  // yet), whose likeliest cause has changed (examined once a window), or that are over.
  std::vector<Violation> changes(const SceneOf& sceneOf, Now now);

  // What tasks reach, of those of which it is known and has not been told, or has moved by kMoved of what is
  // expected since; of each once a window at most.
  std::vector<PerformanceSample> moved(Now now);
  static constexpr double kMoved = 0.05;

  // The usual performance of each task of which it is known (PerformanceTracker::usual).
  std::map<AllocationId, double> usual() const;

  size_t watched() const { return tasks_.size(); }
  size_t isDegraded() const;

 private:
  struct Watched {
    Watched(const PerformanceGoal& of, double earlier) : goal(of), tracker(of, earlier) {}
    PerformanceGoal goal;
    PerformanceTracker tracker;
    PerformanceTracker::Change change = PerformanceTracker::Change::kNone;  // not told yet
    bool postponed = false;                                                 // telling of it, once
    MonotonicTime judged{};                                                 // while degraded
    Violation told;                                                         // as above
    std::optional<double> toldPart{};                                       // of what is expected, by moved()
    MonotonicTime toldAt{};
  };

  std::map<AllocationId, Watched> tasks_;
};

}  // namespace tarcil
