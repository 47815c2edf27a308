// A monitor's shell on virtual time: MonitorLogic over an EmulatedExecutor that outlives it, as
// containers do.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/state/server.h"
#include "monitor/logic/attach_pages.h"
#include "monitor/logic/emulated_executor.h"
#include "monitor/logic/monitor_logic.h"
#include "sim/faults/connection.h"
#include "sim/faults/late_pools.h"
#include "sim/faults/machine_clock.h"
#include "sim/faults/master_process.h"
#include "sim/faults/oom_killer.h"
#include "sim/faults/task_checker.h"

namespace tarcil::sim {

class MonitorProcess final : private ExecutorListener, private Connection::Peer {
 public:
  // `ended` is called when the kernel has killed the process.
  MonitorProcess(VirtualWorld& world, const Masters& masters, CheckedStore& checked, TaskChecker& checker,
                 std::string name, std::vector<ServerFacts> servers, std::function<void()> ended);

  void start();
  void crash();
  // Stops its tasks, with this much grace at most, and then waits to be ended.
  void shutDown(Duration grace);
  // In the middle of what it does next.
  void crashMidway(std::function<void()> crashed) { midway_ = std::move(crashed); }
  // The machine dies with its tasks and what was written down of them, perhaps even who it was.
  void lose();
  Connection& connection() { return connection_; }
  MachineClock& clock() { return clock_; }
  // Its servers as it registers them from the next attachment on; the same ones.
  void changeServers(std::vector<ServerFacts> servers);
  // What it measures of its servers, told at once and after each attachment.
  void measure(std::vector<ServerPressure> pressures);
  // Says of a task that runs that it falls short of what its job expects, or does no longer.
  void complain();
  // One in so many tasks cannot be started, by the server's fault; 0: none.
  void failStarts(uint64_t oneIn) { failsOneIn_ = oneIn; }
  // For so long no launch can be recorded and no task started. Zero: they can.
  void runOutOfMemory(Duration duration) { noMemoryUntil_ = world_.now().steady + duration; }
  OomKiller& oomKiller() { return oomKiller_; }

  // A launch from an agent. `answer` is called with its outcome at once; never where the monitor is dead.
  using Outcome = monitor::AnswerLaunch::Outcome;
  void launch(const LaunchSpec& spec, std::function<void(Outcome)> answer);
  bool alive() const { return logic_ != nullptr; }
  // Whether a connection can be made to it.
  bool accepts() const { return alive() && connection_.hasDescriptors(); }
  LatePools& pools() { return pools_; }
  // Nothing runs here and nothing is left to report.
  bool idle() const { return alive() && logic_->knownTasks().empty(); }
  const std::vector<ServerFacts>& servers() const { return servers_; }
  const std::string& name() const { return name_; }

 private:
  void connected() override;
  void disconnected() override;
  void taskStarted(AllocationId allocation, WallTime when) override;
  void taskEnded(AllocationId allocation, const TaskEnd& end) override;

  std::unique_ptr<EmulatedExecutor> newExecutor();
  void take(const monitor::Event& event);
  void carryOut(std::vector<monitor::Action> actions);
  void carryOut(const monitor::Action& action);
  std::string exhausted() const;
  void execute(const monitor::StartTask& start);
  void endUnstarted(AllocationId allocation, std::string problem);
  void resize(const monitor::ResizeTask& resize);
  void answerResize(uint64_t request, const Status& status);
  void throttle(const monitor::ThrottleTask& throttle);
  void answerThrottle(uint64_t request, const Status& status);
  void forget(AllocationId allocation);
  void fetch(const monitor::FetchFiles& fetch);
  using Copy = MasterProcess::Copy;
  using Message = std::function<void(MasterProcess&, SessionId, Copy)>;
  void toMaster(const Message& message);
  void takeAttached(const monitor::MasterAttached& answer);
  void tellPressures();
  void tellLeave();
  void advanceLater();

  VirtualWorld& world_;
  CheckedStore& checked_;
  TaskChecker& checker_;
  const std::string name_;
  std::vector<ServerFacts> servers_;
  const std::function<void()> ended_;
  MachineClock clock_;
  Connection connection_;
  std::unique_ptr<MonitorLogic> logic_;
  uint64_t life_ = 0;  // of the process
  bool shutsDown_ = false;
  VirtualTimer timer_;
  OomKiller oomKiller_;
  MonotonicTime noMemoryUntil_{};
  std::map<AllocationId, std::string> unrecorded_;  // launches that could not be, and why
  std::function<void()> midway_;                    // set: it dies before the last of its next actions
  std::map<uint64_t, std::function<void(Outcome)>> launches_;
  std::map<uint64_t, monitor::ResizeArrived> resizes_;
  std::map<uint64_t, monitor::ThrottleArrived> throttles_;
  std::set<AllocationId> throttled_;  // of the running tasks
  std::set<AllocationId> fetching_;
  std::vector<monitor::AttachPage> toAttach_;  // the first is under way
  monitor::MasterAttached attaching_;          // what the pages before were answered
  std::vector<ServerPressure> pressures_;
  LatePools pools_;

  // What outlives the process: its identity, the running tasks, and what was written down of them.
  uint64_t identity_ = 0;
  uint64_t failsOneIn_ = 0;
  std::unique_ptr<EmulatedExecutor> executor_;
  VirtualTimer executorTimer_;
  std::map<AllocationId, RecoveredTask> disk_;
};

}  // namespace tarcil::sim
