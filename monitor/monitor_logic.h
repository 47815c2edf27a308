// Looks after the tasks of one monitor's servers (design 8): records a launch before it is carried out,
// starts each allocation at most once, stops, times out, and reports until the master has it on disk. A state
// machine without I/O.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/base/rng.h"
#include "core/base/time.h"
#include "monitor/events.h"

namespace tarcil {

class MonitorLogic final {
 public:
  // `servers`: names of the servers it stands for. `recovered`: what its predecessor left; tasks that were
  // never started are started.
  MonitorLogic(std::vector<std::string> servers, const std::vector<RecoveredTask>& recovered, Now now,
               std::vector<monitor::Action>& actions);
  ~MonitorLogic();

  // Takes one event and appends what is to be done. Actions are to be carried out in order.
  void handle(const monitor::Event& event, Now now, Rng& rng, std::vector<monitor::Action>& actions);

  // For MonitorAttached at the master.
  std::vector<KnownTask> knownTasks() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tarcil
