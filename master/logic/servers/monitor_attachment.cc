#include "master/logic/servers/monitor_attachment.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "core/base/names.h"
#include "core/state/reason.h"
#include "core/state/server_check.h"
#include "master/logic/health/violation_handler.h"
#include "master/logic/jobs/images.h"
#include "master/logic/jobs/observed_profiles.h"
#include "master/logic/jobs/task_life.h"
#include "master/logic/servers/charges.h"
#include "master/logic/servers/pools.h"
#include "master/logic/servers/quarantine.h"

namespace tarcil::master {
namespace {

Error listedTwice(const std::string& server) {
  return invalid("server \"" + server + "\": listed twice; names are unique in a cluster");
}

// Why the monitor cannot have these servers; success changes nothing yet.
Status mayRegister(const ServerTable& servers, const std::string& monitor,
                   const std::vector<ServerFacts>& wanted) {
  if (monitor.empty() || monitor.size() > kMaxNameCharacters)
    return invalid("monitor: its identity has " + std::to_string(monitor.size()) + " bytes; 1 to " +
                   std::to_string(kMaxNameCharacters));
  std::unordered_set<std::string> names;
  std::set<std::string> platforms;
  size_t all = servers.size();
  for (const ServerFacts& facts : wanted) {
    const std::string where = "server \"" + facts.name + "\": ";
    if (Status good = checkFacts(facts); !good) return good;
    if (!names.insert(facts.name).second) return listedTwice(facts.name);
    platforms.insert(facts.platform);
    const Server* known = servers.find(facts.name);
    if (known == nullptr && ++all > kMaxServers) {
      return Error{ErrorCode::kExhausted, where + "the cluster has had " + std::to_string(servers.size()) +
                                              " servers, and numbers for no more than " +
                                              std::to_string(kMaxServers) + "; use names that are known"};
    }
    if (known != nullptr && known->session && known->record.monitor != monitor) {
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

Arrived bringUp(EventContext& context, const ServerFacts& facts, const std::string& monitor,
                SessionId session) {
  ServerTable& servers = context.tables.servers;
  Server* server = servers.find(facts.name);
  const bool isNew = server == nullptr;
  if (isNew) server = &servers.add(facts, monitor);
  const bool takenOver = server->record.monitor != monitor;
  const ServerRecord before = server->record;
  server->record.monitor = monitor;
  servers.setFacts(*server, facts);
  if (takenOver) {  // what the other one measured was perhaps another machine
    servers.setBackground(*server, {});
    server->absent.clear();
  }
  servers.setUp(*server, session);
  if (isNew || server->record != before) context.out.put(server->record);
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

std::vector<ServerId> idsOf(const std::vector<Arrived>& arrived) {
  std::vector<ServerId> ids;
  for (const Arrived& server : arrived) ids.push_back(server.server);
  return ids;
}

std::vector<Arrived> bringUp(EventContext& context, const std::vector<ServerFacts>& servers,
                             const std::string& monitor, SessionId session) {
  std::vector<Arrived> arrived;
  for (const ServerFacts& facts : servers) arrived.push_back(bringUp(context, facts, monitor, session));
  return arrived;
}

// Tells what is to become of the tasks that the monitor has on these servers, which have come up.
void answer(EventContext& context, RequestId request, const std::vector<Arrived>& arrived,
            const std::vector<KnownTask>& tasks) {
  AnswerMonitorAttached answer{request, {}, {}, {}, leaseOf(context.tables.options)};
  std::unordered_map<AllocationId, std::string> known;
  for (const KnownTask& task : tasks) known.emplace(task.allocation, task.server);
  for (const Arrived& server : arrived) reconcile(context, server, known, answer.stop);
  for (const KnownTask& task : tasks) {
    if (known.contains(task.allocation)) answer.drop.push_back(task.allocation);
  }
  context.out.send(std::move(answer));
  for (const Arrived& server : arrived) resumeSteps(context, context.tables.servers.at(server.server));
}

void refuse(EventContext& context, RequestId request, Error why) {
  context.out.send(AnswerMonitorAttached{request, std::move(why), {}, {}, {}});
}

std::string secondsOf(Duration duration) {
  return std::to_string(std::chrono::duration_cast<std::chrono::seconds>(duration).count()) + " s";
}

}  // namespace

void attachMonitor(EventContext& context, const MonitorAttached& event) {
  ServerTable& servers = context.tables.servers;
  if (Status may = mayRegister(servers, event.monitor, event.servers); !may) {
    return refuse(context, event.request, may.error());
  }
  const std::vector<ServerId> before = servers.closeSessionOf(event.monitor);
  const std::vector<Arrived> arrived = bringUp(context, event.servers, event.monitor, event.session);
  for (ServerId id : before) {
    if (servers.at(id).session == event.session) continue;
    servers.setDown(servers.at(id), context.now.steady + context.tables.options.serverTimeout);
  }
  servers.openSession(event.session, event.monitor, idsOf(arrived));
  answer(context, event.request, arrived, event.tasks);
}

void attachMoreServers(EventContext& context, const MoreServersAttached& event) {
  ServerTable& servers = context.tables.servers;
  if (!servers.attached(event.session)) return refuse(context, event.request, replaced());
  const std::string& monitor = servers.monitorOf(event.session);
  if (Status may = mayRegister(servers, monitor, event.servers); !may) {
    return refuse(context, event.request, may.error());
  }
  for (const ServerFacts& facts : event.servers) {
    const Server* known = servers.find(facts.name);
    if (known == nullptr || known->session != event.session) continue;
    return refuse(context, event.request, listedTwice(facts.name));
  }
  const std::vector<Arrived> arrived = bringUp(context, event.servers, monitor, event.session);
  servers.addToSession(event.session, idsOf(arrived));
  answer(context, event.request, arrived, event.tasks);
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
      keepToImage(context, *hold, report.image);
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
    server->absent.resize(std::min<size_t>(server->absent.size(), kResources));
    for (AbsentPressure& absent : server->absent) absent.reason = asReason(std::move(absent.reason));
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
    const Duration patience = tables.options.removeDownServersAfter;
    if (patience > Duration::zero()) tables.servers.removals().set(*id, context.now.steady + patience);
  }
}

}  // namespace tarcil::master
