// A local cluster in a folder of its own that takes late-bound tasks: what the benchmarks of late
// binding measure.
#pragma once

#include <kj/async-io.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "deploy/supervisor.h"

namespace tarcil::bench {

struct LateClusterPlan {
  std::string tarcil;  // the executable
  std::string data;    // folder; emptied first
  uint32_t servers = 20, slots = 4, agents = 1;
  uint32_t monitors = 20;  // processes, each for as many servers
  // Tasks run in containers and executors, not as timers; each server has a process. Needs root.
  bool isReal = false;
  double probeRatio = 2;
  uint32_t users = 1;  // each with a token of their own
};

// Master, agents and monitors as processes. All units are lent to late-bound tasks for good. Uses the event
// loop of `io`, whose port captures the exits of children.
class LateCluster {
 public:
  // Waits until every process is ready. Throws what keeps one from it.
  LateCluster(const LateClusterPlan& plan, kj::AsyncIoContext& io);

  const std::vector<std::string>& agents() const { return agents_; }
  const std::string& tokenOf(uint32_t user) const { return tokens_[user]; }
  int pidOf(const std::string& name) const;
  // Microseconds of processor time, by role.
  std::map<std::string, double> cpu() const;
  // Ends all processes and removes the folder.
  void stop(kj::WaitScope& waitScope);

 private:
  void addUsers(uint32_t users);

  const std::string data_;
  Supervisor supervisor_;
  std::vector<std::string> agents_;
  std::vector<std::string> tokens_;
};

}  // namespace tarcil::bench
