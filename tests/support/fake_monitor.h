// A monitor's shell on virtual time: MonitorLogic over an EmulatedExecutor that outlives it, as containers
// do.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/state/server.h"
#include "monitor/emulated_executor.h"
#include "monitor/monitor_logic.h"
#include "tests/support/fake_connection.h"
#include "tests/support/fake_master.h"
#include "tests/support/fake_world.h"

namespace tarcil {

class FakeMonitor final : private ExecutorListener, private FakeConnection::Peer {
 public:
  FakeMonitor(FakeWorld& world, FakeMaster& master, std::string name, std::vector<ServerFacts> servers);

  void start();
  void crash();
  // The machine dies with its tasks and what was written down of them.
  void lose();
  void cutFor(Duration duration) { connection_.cutFor(duration); }

  // A launch from an agent. `answer` is called with its outcome at once; never where the monitor is dead.
  using Outcome = monitor::AnswerLaunch::Outcome;
  void launch(const LaunchSpec& spec, std::function<void(Outcome)> answer);
  bool alive() const { return logic_ != nullptr; }
  // Nothing runs here and nothing is left to report.
  bool idle() const { return alive() && logic_->knownTasks().empty(); }
  const std::vector<ServerFacts>& servers() const { return servers_; }

 private:
  void connected() override;
  void disconnected() override;
  void taskStarted(AllocationId allocation, WallTime when) override;
  void taskEnded(AllocationId allocation, const TaskEnd& end) override;

  std::unique_ptr<EmulatedExecutor> newExecutor();
  void take(const monitor::Event& event);
  void carryOut(const std::vector<monitor::Action>& actions);
  void execute(const monitor::StartTask& start);
  void expectUnitsFree(const LaunchSpec& spec);
  void fetch(const monitor::FetchFiles& fetch);
  void advanceLater();

  FakeWorld& world_;
  FakeMaster& master_;
  const std::string name_;
  const std::vector<ServerFacts> servers_;
  FakeConnection connection_;
  std::unique_ptr<MonitorLogic> logic_;
  uint64_t life_ = 0;  // of the process
  FakeTimer timer_;
  std::map<uint64_t, std::function<void(Outcome)>> launches_;
  std::set<AllocationId> fetching_;

  // What outlives the process: the running tasks, and what was written down of them.
  std::unique_ptr<EmulatedExecutor> executor_;
  FakeTimer executorTimer_;
  std::map<AllocationId, RecoveredTask> disk_;
  std::set<AllocationId> everStarted_;
};

}  // namespace tarcil
