#include "master/logic/servers/steering.h"

#include <algorithm>

#include "core/base/units.h"
#include "master/logic/health/auto_cordon.h"
#include "master/logic/jobs/task_life.h"
#include "master/logic/servers/quarantine.h"

namespace tarcil::master {
namespace {

void moveTasks(EventContext& context, const Server& server) {
  for (const Resident& resident : server.residents) {
    moveTask(context, *context.tables.jobs.holder(resident.allocation),
             "server drained (" + server.record.facts.name + ")");
  }
}

void cordon(ServerRecord& record, const std::string& user) {
  if (record.cordoned) return;
  record.cordoned = true;
  record.cordonReason = "cordoned by " + user;
}

void uncordon(ServerRecord& record) {
  record.cordoned = record.draining = false;
  record.drainAt = kNever;
  record.cordonReason.clear();
}

void drain(ServerRecord& record, const std::string& user, WallTime until) {
  record.cordoned = record.draining = true;
  record.drainAt = until;
  record.cordonReason = "drained by " + user;
}

// Why it cannot be removed now.
Status mayRemove(const Server& server, const MasterOptions& options) {
  const std::string& name = server.record.facts.name;
  if (server.session) {
    return invalid("server " + name + " is up, and would come back: stop its monitor first");
  }
  if (server.residents.empty()) return {};
  return invalid("server " + name + " may still run tasks (" + std::to_string(server.residents.size()) +
                 "), which count as lost once it was out of reach for " +
                 formatDuration(options.serverTimeout) + " (--server-timeout): remove it then");
}

void remove(EventContext& context, Server& server) {
  context.tables.servers.remove(server);
  context.out.put(server.record);
}

void steer(EventContext& context, Server& server, const ServersSteered& event) {
  ServerTable& servers = context.tables.servers;
  const ServerId id = server.record.id;
  const ServerRecord before = server.record;
  switch (event.change) {
    case ServerChange::kCordon:
      cordon(server.record, event.caller.user);
      break;
    case ServerChange::kUncordon:
      uncordon(server.record);
      servers.drains().clear(id);
      endQuarantine(context, server);
      endAutoCordon(context, server);
      break;
    case ServerChange::kDrain:
      if (event.deadline > Duration::zero()) {
        drain(server.record, event.caller.user, context.now.wall + event.deadline);
        servers.drains().set(id, context.now.steady + event.deadline);
      } else {
        drain(server.record, event.caller.user, kNever);
        servers.drains().clear(id);
        moveTasks(context, server);
      }
      break;
    case ServerChange::kRemove:
      if (!server.record.removed) remove(context, server);
      return;
  }
  if (server.record != before) context.out.put(server.record);
  servers.refreshCordon(server);
}

}  // namespace

Status steerServers(EventContext& context, const ServersSteered& event) {
  ServerTable& servers = context.tables.servers;
  for (const std::string& name : event.servers) {
    const Server* server = servers.find(name);
    if (server == nullptr) return notFound("there is no server '" + name + "'; see: tarcil server list");
    if (event.change != ServerChange::kRemove) continue;
    if (Status may = mayRemove(*server, context.tables.options); !may) return may;
  }
  for (const std::string& name : event.servers) steer(context, *servers.find(name), event);
  return {};
}

void drainOverdue(EventContext& context) {
  ServerTable& servers = context.tables.servers;
  for (ServerId id : servers.drains().takeDue(context.now.steady)) {
    Server& server = servers.at(id);
    server.record.drainAt = kNever;
    context.out.put(server.record);
    moveTasks(context, server);
  }
}

void removeOverdue(EventContext& context) {
  ServerTable& servers = context.tables.servers;
  // They are down, and their tasks were lost.
  for (ServerId id : servers.removals().takeDue(context.now.steady)) remove(context, servers.at(id));
}

void resumeDrains(EventContext& context) {
  ServerTable& servers = context.tables.servers;
  for (ServerId id = 0; id < servers.size(); ++id) {
    const ServerRecord& record = servers.at(id).record;
    if (!record.draining || record.drainAt == kNever) continue;
    servers.drains().set(id,
                         context.now.steady + std::max(record.drainAt - context.now.wall, Duration::zero()));
  }
}

}  // namespace tarcil::master
