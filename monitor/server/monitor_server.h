// The monitor's shell: keeps the link to the master, takes launches from agents, and carries out what the
// logic decides by means of an executor.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/state/server.h"
#include "env/alarm.h"
#include "env/clock.h"
#include "env/stop.h"
#include "monitor/late/late_binding.h"
#include "monitor/logic/attach_pages.h"
#include "monitor/logic/executor.h"
#include "monitor/logic/failed_launches.h"
#include "monitor/logic/monitor_logic.h"
#include "monitor/logic/performance/violation_tracker.h"
#include "monitor/performance/task_meter.h"
#include "monitor/pressure/meter.h"
#include "monitor/server/monitor_metrics.h"
#include "monitor/server/output_source.h"
#include "rpc/connection.h"
#include "rpc/highest_term.h"
#include "rpc/late_grant.h"
#include "rpc/launch_ticket.h"
#include "rpc/link.h"
#include "rpc/requests.h"
#include "rpc/wait_list.h"
#include "schema/master.capnp.h"
#include "schema/monitor.capnp.h"

namespace tarcil {

struct MonitorServerOptions {
  std::string identity;              // random, kept in the data folder
  std::vector<std::string> masters;  // addresses, of which one leads
  std::string token;                 // role monitor
};

// Single-threaded; its ports call it on the event loop.
class MonitorServer final : public ExecutorListener, public LateMaster {
 public:
  // `clock` outlives the server. `refused`: the master does not accept the token (Denied) or the servers
  // (Invalid); trying again is of no use.
  // `attached`: the master has taken the servers in; called each time.
  MonitorServer(Net net, const Clock& clock, Rng rng, MonitorServerOptions options,
                std::unique_ptr<OutputSource> outputs, kj::Function<void(const Error&)> refused,
                kj::Function<void()> attached);

  // Takes over what the executor's predecessor left and connects to the master, to stand for `servers`.
  // Called once; `executor` tells this object of its tasks and outlives it.
  void start(Executor& executor, std::vector<ServerFacts> servers);

  // Its servers take late-bound tasks too, whose outputs are there, by slot lease. Called before start();
  // `late` outlives this object.
  void offer(LateBindingMonitor& late, std::unique_ptr<OutputSource> outputs) {
    late_ = &late;
    lateOutputs_ = std::move(outputs);
  }
  // --- LateMaster: answers go to what was offered
  void report(const std::string& server, const late::PoolReport& report) override;
  void charge(late::PoolPressure pressure) override;

  // Stops every task, with at most this much grace, and starts nothing any more. Resolves when all have ended
  // and a master that is there has heard of it, or some seconds after the grace.
  kj::Promise<void> stopTasks(Duration grace);

  // The bootstrap capability of one agent's connection.
  wire::MonitorGate::Client gate(LetIn letIn);

  // In Prometheus' text format. Requires: started.
  std::string metrics();

  // Tells the master, now and after each attach, until another is told of the same server.
  void tell(ServerPressure pressure);
  // Tells the master of degraded tasks, at most once a second, and of those that still are after each
  // attach. The master itself ends the violations of tasks that end.
  void tell(const std::vector<Violation>& violations);
  // Tells the master what watched tasks reach, now and after each attach, until more is told of the same
  // task.
  void tell(const std::vector<PerformanceSample>& samples);
  // The usual performance of watched tasks, which goes with the reports of their ends.
  void noteUsual(const std::map<AllocationId, double>& usual);
  // For metrics.
  void show(const TaskMeter::Load& watched, Duration took);
  // What was measured, for metrics. `took`: how long measuring did.
  void show(const std::array<std::optional<double>, kResources>& background,
            const PressureMeter::Signals& signals, Duration took);

  // --- ExecutorListener ---
  void imageFound(AllocationId allocation, const std::string& digest) override;
  void taskStarted(AllocationId allocation, WallTime when) override;
  void taskEnded(AllocationId allocation, const TaskEnd& end) override;

  // --- For the ports ---
  kj::Promise<void> authenticate(const std::string& token);
  // Certificates that let nobody in.
  void setRevoked(const std::vector<uint64_t>& serials) {
    if (net_.security != nullptr) net_.security->setRevoked(serials);
  }
  bool isRevoked(const Identity& peer) const {
    return net_.security != nullptr && net_.security->isRevoked(peer);
  }
  // Asks about each token anew, for the master may know others now. Whoever has logged in stays.
  void forgetLogins() { agentTokens_.clear(); }
  // Whether the ticket says that the master wants this launch (rpc/launch_ticket.h). Throws Unavailable
  // where no master has been there yet that could say so.
  bool isWanted(const LaunchSpec& spec, std::string_view ticket) const;
  kj::Promise<monitor::AnswerLaunch::Outcome> launch(LaunchSpec spec);
  void stop(AllocationId allocation);
  kj::Promise<void> resize(AllocationId allocation, std::vector<RuIndex> rus);
  kj::Promise<void> throttle(AllocationId allocation, const Throttle& throttle);
  LateBindingMonitor* lateBinding() { return late_; }
  struct Output {
    std::string content;
    bool ended;
    uint64_t start;  // of the content in all that the task wrote
  };
  kj::Promise<Output> output(AllocationId allocation, Stream stream, uint64_t offset, bool wait);
  void outputTaken(AllocationId allocation, Stream stream, uint64_t offset) {
    outputs_->taken(allocation, stream, offset);
  }
  // Files that are kept of a task; of one that has not ended none.
  struct Results {
    ResultsPage page;
    bool ended = false;
  };
  Results results(AllocationId allocation, const std::string& after);
  std::string readResult(AllocationId allocation, const std::string& path, uint64_t offset);
  // Of a late-bound task that has ended.
  Output lateOutput(late::SlotLeaseId lease, Stream stream, uint64_t offset);

 private:
  kj::Promise<Attached> attach(wire::MasterGate::Client master, const std::string& address);
  kj::Promise<Attached> attachMore(wire::MonitorPort::Client port, std::vector<monitor::AttachPage> pages,
                                   monitor::MasterAttached event);
  Attached attached(wire::MonitorPort::Client port, const monitor::MasterAttached& event);
  void lost(const Error& error, const std::string& address);
  void logFailedLaunch(AllocationId allocation, const TaskEnd& end);
  void dispatch(const monitor::Event& event);
  void carryOut(std::vector<monitor::Action>& actions);
  void carryOut(monitor::RecordLaunch& action);
  void carryOut(monitor::AnswerLaunch& action);
  void carryOut(monitor::FetchFiles& action);
  void carryOut(monitor::FetchSecrets& action);
  void carryOut(monitor::StartTask& action);
  void carryOut(monitor::RecordReason& action);
  void carryOut(monitor::ResizeTask& action);
  void carryOut(monitor::ThrottleTask& action);
  void carryOut(monitor::RefuseChange& action);
  void carryOut(monitor::SignalTask& action);
  void carryOut(monitor::ForgetTask& action);
  void carryOut(monitor::SendReports& action);
  Measurement measuredBy(AllocationId allocation);
  void carryOut(monitor::RenewLease& action);
  void carryOut(monitor::ExtendLease& action);
  void carryOut(monitor::WakeAt& action);
  void ended(AllocationId allocation);
  void send(const std::vector<ServerPressure>& pressures, const std::vector<late::PoolPressure>& pools);
  void sendViolations();
  void send(const std::vector<PerformanceSample>& samples);
  kj::Promise<void> leave();
  kj::Promise<void> tasksStopped();

  Net net_;
  const Clock& clock_;
  Rng rng_;
  const MonitorServerOptions options_;
  kj::Function<void(const Error&)> refused_;
  kj::Function<void()> attachedCallback_;
  std::vector<ServerFacts> servers_;
  const std::unique_ptr<OutputSource> outputs_;
  Executor* executor_ = nullptr;
  LateBindingMonitor* late_ = nullptr;
  std::unique_ptr<OutputSource> lateOutputs_;  // where late_ is set
  std::unique_ptr<MonitorLogic> logic_;
  MonitorMetrics metrics_;
  Alarm alarm_;
  uint64_t requests_ = 0;
  Requests<monitor::AnswerLaunch::Outcome> launches_{requests_};
  Requests<Status> changes_{requests_};  // of tasks

  std::set<AllocationId> live_;             // recorded and not ended
  std::map<AllocationId, double> reached_;  // as noteUsual() said last; until the end is at the master
  std::map<AllocationId, MonotonicTime>
      unstarted_;                           // of them, those launched here and not started: since when
  monitor::FailedLaunches failedLaunches_;  // what the log says of them
  WaitList<AllocationId> ends_;             // of live ones

  // While the link to the master stands.
  kj::Maybe<wire::MonitorPort::Client> port_;
  kj::Own<kj::PromiseFulfiller<void>> fault_;  // rejected: the link is dropped and made anew
  bool attached_ = false;
  bool shutsDown_ = false;
  uint64_t attachments_ = 0;
  std::optional<MacKey> ticketKey_;    // of the last attach; none where that master makes no tickets
  std::optional<PublicKey> grantKey_;  // the same, of grants of late-bound tasks
  std::set<std::string> agentTokens_;  // that the master has confirmed
  bool takesPressure_ = true;          // masters of an earlier version do not

  bool takesViolations_ = true;   // as above
  bool takesPerformance_ = true;  // as above

  // Told last, by server.
  std::map<std::string, ServerPressure> pressures_;
  std::map<std::string, late::PoolPressure> poolPressures_;
  std::map<AllocationId, Reached> performances_;  // of live tasks
  ViolationTracker violations_;
  Alarm violationAlarm_;

  HighestTerm term_;
  std::string master_;                       // address of the one that is attached to, or was last
  Outage outage_;                            // of the master
  StopsIfFailed stops_{"taking an answer"};  // calls handle their own failures
  kj::TaskSet calls_{stops_};
  kj::Promise<void> link_ = nullptr;
};

}  // namespace tarcil
