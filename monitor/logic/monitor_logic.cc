#include "monitor/logic/monitor_logic.h"

#include <variant>

#include "monitor/logic/attachment.h"
#include "monitor/logic/launches.h"
#include "monitor/logic/lease.h"
#include "monitor/logic/recovery.h"
#include "monitor/logic/reports.h"
#include "monitor/logic/resizing.h"
#include "monitor/logic/stopping.h"
#include "monitor/logic/task_life.h"
#include "monitor/logic/throttling.h"
#include "monitor/logic/timers.h"

namespace tarcil {
namespace monitor {
namespace {

struct Handler {
  EventContext& context;

  void operator()(const MasterAttached& event) const { attach(context, event); }
  void operator()(const MasterLost&) const { lose(context); }
  void operator()(const LaunchArrived& event) const { takeLaunch(context, event); }
  void operator()(const FilesArrived& event) const { takeFiles(context, event); }
  void operator()(const SecretsArrived& event) const { takeSecrets(context, event); }
  void operator()(const StopArrived& event) const { stop(context, event.allocation); }
  void operator()(const ResizeArrived& event) const { takeResize(context, event); }
  void operator()(const ThrottleArrived& event) const { takeThrottle(context, event); }
  void operator()(const TaskResized& event) const { takeResized(context, event); }
  void operator()(const ImageFound& event) const { takeImage(context, event); }
  void operator()(const TaskStarted& event) const { takeStarted(context, event); }
  void operator()(const TaskEnded& event) const { takeEnded(context, event); }
  void operator()(const ReportsAcknowledged&) const { acknowledgeReports(context); }
  void operator()(const LeaseRenewed& event) const { takeRenewal(context, event); }
  void operator()(const ShutdownBegun& event) const { shutDown(context, event.grace); }
  void operator()(const TimerFired&) const { runTimers(context); }
};

}  // namespace
}  // namespace monitor

struct MonitorLogic::State {
  monitor::Tables tables;
};

MonitorLogic::MonitorLogic(const std::vector<std::string>& servers,
                           const std::vector<RecoveredTask>& recovered, Now now,
                           std::vector<monitor::Action>& actions)
    : state_(new State{monitor::Tables(servers)}) {
  monitor::EventContext context{state_->tables, now, actions};
  for (const RecoveredTask& task : recovered) monitor::adopt(context, task);
  monitor::askToWake(context);
}

MonitorLogic::~MonitorLogic() = default;

void MonitorLogic::handle(const monitor::Event& event, Now now, Rng&, std::vector<monitor::Action>& actions) {
  monitor::EventContext context{state_->tables, now, actions};
  std::visit(monitor::Handler{context}, event);
  monitor::sendReports(context);
  monitor::renewLease(context);
  monitor::askToWake(context);
}

MonitorLogic::Load MonitorLogic::load() const {
  const monitor::Tables& tables = state_->tables;
  Load load;
  for (const auto& [allocation, task] : tables.tasks) ++load.tasks[static_cast<size_t>(task.phase)];
  load.reportsDue = tables.due.size();
  load.reportsUnderWay = tables.underWay.size();
  return load;
}

std::vector<KnownTask> MonitorLogic::knownTasks() const {
  std::vector<KnownTask> known;
  for (const auto& [allocation, task] : state_->tables.tasks) {
    if (task.recorded) known.push_back({allocation, task.spec.server});
  }
  return known;
}

}  // namespace tarcil
