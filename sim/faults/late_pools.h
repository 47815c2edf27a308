// Late-bound tasks of a monitor's servers on virtual time: what they do to units. A demand comes and goes by
// chance; agents and jobs do not come in.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "core/state/server.h"
#include "latebinding/pool.h"
#include "sim/faults/machine_clock.h"
#include "sim/faults/task_checker.h"

namespace tarcil::sim {

// The master's word on the pool of a server.
struct PoolNews {
  std::string server;
  std::variant<late::PoolAnswer, late::PoolLimit> what;
};

// As MonitorProcess has them: they die with it, and the tasks that ran then end when it starts anew, before
// anything else. `world`, `clock` and `checker` outlive it, and it outlives the run.
class LatePools {
 public:
  using Report = std::function<void(const std::string& server, const late::PoolReport& report)>;
  LatePools(VirtualWorld& world, const MachineClock& clock, TaskChecker& checker, std::string machine,
            Report report);

  // Pools for those of the servers that take late-bound tasks.
  void start(const std::vector<ServerFacts>& servers);
  void crash() { pools_.clear(); }
  // The machine's tasks are gone, and the checker was told.
  void lose() { tasks_.clear(); }
  // The master is in reach, for the first time since the start.
  void masterAttached();
  void handle(const PoolNews& news);

  // Whether tasks come from now on. There are none before.
  void wantTasks(bool areWanted) { areWanted_ = areWanted; }
  uint64_t started() const { return started_; }

 private:
  struct Server {
    late::Pool pool;
    std::map<AllocationId, RuIndex> running;
    uint32_t queued = 0;
  };

  void demand(const std::string& name, uint64_t life);
  void startTask(const std::string& name, Server& server);
  void endTask(AllocationId task);
  void update(const std::string& name);

  VirtualWorld& world_;
  const MachineClock& clock_;
  TaskChecker& checker_;
  const std::string machine_;
  const Report report_;
  std::map<std::string, Server> pools_;  // none while the monitor is dead
  std::map<std::string, VirtualTimer> timers_;
  std::map<AllocationId, std::string> tasks_;  // that run, whether the monitor does or not; with their server
  uint64_t life_ = 0;
  uint64_t started_ = 0;
  bool areWanted_ = false;
  bool hasMaster_ = false;
};

}  // namespace tarcil::sim
