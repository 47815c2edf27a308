#include "master/logic/servers/monitor_attachment.h"

#include <set>
#include <unordered_map>
#include <unordered_set>

#include "core/base/names.h"
#include "master/logic/health/violation_handler.h"
#include "master/logic/jobs/observed_profiles.h"
#include "master/logic/jobs/task_life.h"
#include "master/logic/servers/charges.h"
#include "master/logic/servers/pools.h"
#include "master/logic/servers/quarantine.h"

namespace tarcil::master {
namespace {

Status checkNames(const ServerFacts& facts) {
  if (Status named = checkName("server", facts.name); !named) return named;
  if (Status named = checkName("platform", facts.platform); !named) return named;
  return facts.rack.empty() ? Status() : checkName("rack", facts.rack);
}

// Why the monitor cannot have these servers; success changes nothing yet.
Status mayRegister(const ServerTable& servers, const MonitorAttached& event) {
  if (event.monitor.empty()) return invalid("monitor: its identity is missing");
  std::unordered_set<std::string> names;
  std::set<std::string> platforms;
  size_t all = servers.size();
  for (const ServerFacts& facts : event.servers) {
    const std::string where = "server \"" + facts.name + "\": ";
    if (Status named = checkNames(facts); !named) return named;
    if (!names.insert(facts.name).second)
      return invalid(where + "listed twice; names are unique in a cluster");
    if (facts.rus < 1 || facts.rus > kMaxServerRus) {
      return invalid(where + "rus: " + std::to_string(facts.rus) + "; write a number from 1 to " +
                     std::to_string(kMaxServerRus));
    }
    platforms.insert(facts.platform);
    const Server* known = servers.find(facts.name);
    if (known == nullptr && ++all > kMaxServers) {
      return Error{ErrorCode::kExhausted, where + "the cluster has had " + std::to_string(servers.size()) +
                                              " servers, and numbers for no more than " +
                                              std::to_string(kMaxServers) + "; use names that are known"};
    }
    if (known != nullptr && known->session && known->record.monitor != event.monitor) {
      return Error{ErrorCode::kConflict,
                   where + "another monitor stands for it; stop that one or use another name"};
    }
  }
  return servers.takesPlatforms(platforms);
}

// A server as it comes up, and whether another monitor had it before: then nobody knows what became of
// its tasks.
struct Arrived {
  ServerId server = 0;
  bool takenOver = false;
};

Arrived bringUp(EventContext& context, const ServerFacts& facts, const MonitorAttached& event) {
  ServerTable& servers = context.tables.servers;
  Server* server = servers.find(facts.name);
  const bool isNew = server == nullptr;
  if (isNew) server = &servers.add(facts, event.monitor);
  const bool takenOver = server->record.monitor != event.monitor;
  if (isNew || takenOver || server->record.facts != facts) {
    server->record.monitor = event.monitor;
    servers.setFacts(*server, facts);
    context.out.put(server->record);
  }
  if (takenOver) {  // what the other one measured was perhaps another machine
    servers.setBackground(*server, {});
    server->absent.clear();
  }
  servers.setUp(*server, event.session);
  takePoolUp(context, *server, takenOver);
  return {server->record.id, takenOver};
}

TaskEnd lost(const EventContext& context, const std::string& server) {
  TaskEnd end;
  end.cause = EndCause::kLost;
  end.problem = "server " + server + " came back without it";
  end.ended = context.now.wall;
  return end;
}

// Compares the tasks that the table has on the server with those that the monitor knows. What both know is
// taken out of `known`.
void reconcile(EventContext& context, const Arrived& arrived,
               std::unordered_map<AllocationId, std::string>& known, std::vector<AllocationId>& stop) {
  JobTable& jobs = context.tables.jobs;
  Server& server = context.tables.servers.at(arrived.server);
  std::vector<AllocationId> allocations;
  for (const Resident& resident : server.residents) allocations.push_back(resident.allocation);
  for (AllocationId allocation : allocations) {
    const Hold hold = *jobs.holder(allocation);
    const TaskRecord& task = hold.job->tasks[hold.task];
    const auto found = known.find(allocation);
    const bool isKnown = found != known.end() && found->second == server.record.facts.name;
    if (!isKnown && (task.state == RunState::kRunning || arrived.takenOver)) {
      endTask(context, hold, lost(context, server.record.facts.name), context.tables.options.serverTimeout);
      continue;
    }
    if (isKnown) known.erase(found);
    if (task.stopping) {
      stop.push_back(allocation);
    } else if (!isKnown) {
      jobs.noteNews(*hold.job, hold.task);  // its launch never arrived: the owner is to send it again
    }
  }
}

// Two thirds of the server timeout: the rest is for tasks to end, and for clocks that run at
// different speeds.
Duration leaseOf(const MasterOptions& options) {
  return options.serverTimeout * 2 / 3;
}

Error replaced() {
  return {ErrorCode::kConflict, "this connection does not speak for a monitor any more: attach again"};
}

std::string secondsOf(Duration duration) {
  return std::to_string(std::chrono::duration_cast<std::chrono::seconds>(duration).count()) + " s";
}

}  // namespace

void attachMonitor(EventContext& context, const MonitorAttached& event) {
  ServerTable& servers = context.tables.servers;
  AnswerMonitorAttached answer{
      event.request, mayRegister(servers, event), {}, {}, leaseOf(context.tables.options)};
  if (!answer.status) {
    context.out.send(std::move(answer));
    return;
  }
  const std::vector<ServerId> before = servers.closeSessionOf(event.monitor);
  std::vector<Arrived> arrived;
  std::vector<ServerId> ids;
  for (const ServerFacts& facts : event.servers) {
    arrived.push_back(bringUp(context, facts, event));
    ids.push_back(arrived.back().server);
  }
  for (ServerId id : before) {
    if (servers.at(id).session == event.session) continue;
    servers.setDown(servers.at(id), context.now.steady + context.tables.options.serverTimeout);
  }
  servers.openSession(event.session, event.monitor, std::move(ids));

  std::unordered_map<AllocationId, std::string> known;
  for (const KnownTask& task : event.tasks) known.emplace(task.allocation, task.server);
  for (const Arrived& server : arrived) reconcile(context, server, known, answer.stop);
  for (const KnownTask& task : event.tasks) {
    if (known.contains(task.allocation)) answer.drop.push_back(task.allocation);
  }
  context.out.send(std::move(answer));
  for (const Arrived& server : arrived) resumeSteps(context, servers.at(server.server));
}

void renewLease(EventContext& context, const LeaseAsked& event) {
  const Tables& tables = context.tables;
  if (!tables.servers.attached(event.session)) {
    context.out.send(AnswerLease{event.request, replaced()});
    return;
  }
  std::vector<AllocationId> refused;
  for (const AllocationId allocation : event.starting) {
    const Hold* hold = tables.jobs.holder(allocation);
    const bool isHeld = hold != nullptr && tables.servers.at(hold->server).session == event.session;
    if (!isHeld) refused.push_back(allocation);
  }
  context.out.send(AnswerLease{event.request, std::move(refused)});
}

void takeReports(EventContext& context, const ReportsArrived& event) {
  Tables& tables = context.tables;
  if (!tables.servers.attached(event.session)) {
    context.out.send(AnswerReports{event.request, replaced()});
    return;
  }
  for (const TaskReport& report : event.reports) {
    const Hold* hold = tables.jobs.holder(report.allocation);
    if (hold == nullptr || tables.servers.at(hold->server).session != event.session) {
      // Nobody owns it: its launch was so late that the task had been given up.
      if (!report.ended) context.out.send(StopTask{event.session, report.allocation});
      continue;
    }
    Server& server = tables.servers.at(hold->server);
    if (report.ended) {
      noteNeverStarted(context, server, report.end);
      hold->job->changes.measured = report.measured;
      if (report.reached) observePerformance(context, *hold, *report.reached);
      endTask(context, *hold, report.end);
    } else {
      noteStarted(server);
      startTask(context, *hold, report.end.started);
    }
  }
  context.out.send(AnswerReports{event.request, Status()});
}

void takePressure(EventContext& context, const PressureReported& event) {
  ServerTable& servers = context.tables.servers;
  for (const ServerPressure& pressure : event.servers) {
    Server* server = servers.find(pressure.server);
    if (server == nullptr || server->session != event.session) continue;
    servers.setBackground(*server, pressure.background);
    server->absent = pressure.absent;
    takeCharges(context, *server, pressure.tasks);
  }
  takePoolPressures(context, event);
}

void detachMonitor(EventContext& context, SessionId session) {
  Tables& tables = context.tables;
  for (ServerId id : tables.servers.closeSession(session)) {
    tables.servers.setDown(tables.servers.at(id), context.now.steady + tables.options.serverTimeout);
  }
}

void takeLeave(EventContext& context, SessionId session) {
  ServerTable& servers = context.tables.servers;
  for (ServerId id : servers.serversOf(session)) servers.setLeaving(servers.at(id));
}

void loseOverdue(EventContext& context) {
  Tables& tables = context.tables;
  for (size_t tasks = 0; tasks < tables.options.jobsAtOnce;) {
    const std::optional<ServerId> id = tables.servers.losses().takeFirstDue(context.now.steady);
    if (!id) break;
    Server& server = tables.servers.at(*id);
    tasks += server.residents.size() + 1;
    loseTasks(context, server,
              "server " + server.record.facts.name + " was out of reach for " +
                  secondsOf(tables.options.serverTimeout));
  }
}

}  // namespace tarcil::master
