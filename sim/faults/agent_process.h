// An agent's shell on virtual time.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "agent/logic/agent_logic.h"
#include "sim/faults/connection.h"
#include "sim/faults/machine_clock.h"
#include "sim/faults/master_process.h"
#include "sim/faults/monitor_process.h"
#include "sim/faults/oom_killer.h"

namespace tarcil::sim {

class AgentProcess final : private Connection::Peer {
 public:
  // `monitorAt` finds the monitor at an address, null where there is none.
  using Directory = std::function<MonitorProcess*(const std::string& address)>;
  // `ended` is called when the process has ended because another one has taken the name, or the kernel has
  // killed it.
  AgentProcess(VirtualWorld& world, const Masters& masters, std::string name, const AgentOptions& options,
               Directory monitorAt, std::function<void()> ended);

  void start();
  void crash();
  // In the middle of what it does next.
  void crashMidway(std::function<void()> crashed) { midway_ = std::move(crashed); }
  OomKiller& oomKiller() { return oomKiller_; }
  Connection& connection() { return connection_; }
  MachineClock& clock() { return clock_; }
  bool alive() const { return logic_ != nullptr; }
  // Requires: alive().
  const AgentLogic& logic() const { return *logic_; }

  // `answer` is called once: also with Unavailable where the agent takes no connection or dies.
  using Answer = std::function<void(const Status&)>;
  void submit(const Caller& caller, const NewJob& job, Answer answer);

 private:
  void connected() override;
  void disconnected() override;

  void take(const agent::Event& event);
  void end();
  size_t queued() const;
  void carryOut(const agent::Action& action);
  void commit(const Commit& commit);
  void launch(const agent::Launch& launch);

  VirtualWorld& world_;
  const std::string name_;
  const AgentOptions options_;
  const Directory monitorAt_;
  const std::function<void()> ended_;
  MachineClock clock_;
  Connection connection_;
  std::unique_ptr<AgentLogic> logic_;
  uint64_t life_ = 0;  // of the process
  VirtualTimer timer_;
  OomKiller oomKiller_;
  std::function<void()> midway_;  // set: it dies before the last of its next actions
  std::map<uint64_t, Answer> submissions_;
};

}  // namespace tarcil::sim
