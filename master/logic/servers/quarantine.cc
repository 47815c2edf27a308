#include "master/logic/servers/quarantine.h"

#include <algorithm>

namespace tarcil::master {
namespace {

// Doubling beyond this cannot matter: the bound is met before.
constexpr uint32_t kMaxTimesDoubled = 16;

bool isAside(const Server& server) {
  return server.trust.asideUntil != kNever;
}

void release(EventContext& context, Server& server) {
  server.trust.asideUntil = kNever;
  server.trust.asideReason.clear();
  server.trust.neverStarted = 0;
  context.tables.servers.refreshCordon(server);
}

void setAside(EventContext& context, Server& server, const std::string& problem) {
  const MasterOptions& options = context.tables.options;
  Server::Trust& trust = server.trust;
  const Duration time = std::min(options.quarantine * (1 << std::min(trust.timesAside, kMaxTimesDoubled)),
                                 options.longestQuarantine);
  trust.asideUntil = context.now.wall + time;
  trust.asideReason = "set aside after " + std::to_string(trust.neverStarted) +
                      " tasks that could not be started; the last: " + problem;
  ++trust.timesAside;
  context.tables.servers.quarantines().set(server.record.id, context.now.steady + time);
  context.tables.servers.refreshCordon(server);
}

}  // namespace

void noteNeverStarted(EventContext& context, Server& server, const TaskEnd& end) {
  const MasterOptions& options = context.tables.options;
  if (options.quarantineAfter == 0 || isAside(server) || !serversFault(end)) return;
  Server::Trust& trust = server.trust;
  const MonotonicTime now = context.now.steady;
  if (trust.neverStarted > 0 && now - trust.firstFailure > options.quarantineWindow) trust.neverStarted = 0;
  if (trust.neverStarted == 0) trust.firstFailure = now;
  if (++trust.neverStarted >= options.quarantineAfter) setAside(context, server, end.problem);
}

void noteStarted(Server& server) {
  server.trust.neverStarted = 0;
  if (!isAside(server)) server.trust.timesAside = 0;
}

void endQuarantine(EventContext& context, Server& server) {
  if (!isAside(server)) return;
  context.tables.servers.quarantines().clear(server.record.id);
  server.trust.timesAside = 0;
  release(context, server);
}

void endQuarantines(EventContext& context) {
  ServerTable& servers = context.tables.servers;
  for (ServerId id : servers.quarantines().takeDue(context.now.steady)) release(context, servers.at(id));
}

}  // namespace tarcil::master
