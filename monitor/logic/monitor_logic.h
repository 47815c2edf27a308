// Manages the tasks of one monitor's servers: records a launch before it is carried out, starts each
// allocation at most once, stops tasks, enforces timeouts, and repeats reports until the master has them on
// disk. A state machine without I/O.
//
// A task starts once its launch is recorded, its files are there, no earlier task holds its resource units,
// and the monitor has attached since this process started: while the monitor was away the task may have been
// stopped or given to another server, which the first MasterAttached says. After that, tasks start and run
// without the master, except those of exclusive jobs: each starts only when the master has confirmed it, and
// lives no longer than the lease, which is renewed continuously.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "core/base/rng.h"
#include "core/base/time.h"
#include "monitor/logic/events.h"

namespace tarcil {

class MonitorLogic final {
 public:
  // `servers`: names of the servers it stands for. `recovered`: what its predecessor left; running tasks are
  // adopted, ends are reported, tasks that were never started are started after the first MasterAttached. A
  // running task's timeout counts from its start by the wall clock, the only one that outlives a process: if
  // that clock was set, the task gets more or less time, between none and its whole timeout.
  MonitorLogic(const std::vector<std::string>& servers, const std::vector<RecoveredTask>& recovered, Now now,
               std::vector<monitor::Action>& actions);
  ~MonitorLogic();

  // Handles one event and appends the actions that follow, to be carried out in order.
  void handle(const monitor::Event& event, Now now, Rng& rng, std::vector<monitor::Action>& actions);

  // For MonitorAttached at the master: recorded and not forgotten, in order of allocation.
  std::vector<KnownTask> knownTasks() const;

  // What it holds, for metrics. O(tasks).
  struct Load {
    // Tasks not forgotten: fetching their files, waiting for their units, starting, running, ended.
    std::array<size_t, 5> tasks{};
    size_t reportsDue = 0, reportsUnderWay = 0;
    // Starting or running.
    size_t active() const { return tasks[2] + tasks[3]; }
  };
  Load load() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tarcil
