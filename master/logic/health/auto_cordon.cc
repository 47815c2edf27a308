#include "master/logic/health/auto_cordon.h"

#include <algorithm>

#include "master/logic/health/step_log.h"
#include "master/logic/health/throttling.h"
#include "master/logic/queue/reservation.h"

namespace tarcil::master {
namespace {

// A server that was auto-cordoned takes tasks for so many times the longest auto-cordon before the next one:
// tasks that fall short now and then, or one after the other, do not close it.
constexpr int kAutoCordonInterval = 5;

}  // namespace

bool autoCordon(ViolationCase& violation) {
  auto& [context, tables, degraded, hold, job, task, server] = violation;
  if (degraded.autoCordoned || !server.autoCordonReason.empty() || isReserved(tables, hold.server))
    return false;
  if (context.now.steady < server.autoCordonNotBefore) return false;
  const MasterOptions& options = tables.options;
  const size_t most = std::max<size_t>(1, tables.servers.size() * options.maxAutoCordonedPercent / 100);
  if (options.maxAutoCordonedPercent == 0 || tables.servers.autoCordons().size() >= most) return false;
  degraded.autoCordoned = true;
  server.autoCordonReason = "kept from new tasks for a while: " + titleOf(hold) + " falls short there";
  tables.servers.autoCordons().set(hold.server, context.now.steady + options.maxAutoCordon);
  tables.servers.refreshCordon(server);
  ++tables.adjusted.autoCordoned;
  logStep(violation, "no new tasks on " + server.record.facts.name + ": it " + reasonOf(violation));
  return true;
}

void shortenAutoCordon(EventContext& context, const Server& server) {
  if (hasViolation(context.tables, server)) return;
  Deadlines& autoCordons = context.tables.servers.autoCordons();
  const MonotonicTime calm = context.now.steady + context.tables.options.adjustingCalm;
  if (const auto end = autoCordons.of(server.record.id); end && *end > calm)
    autoCordons.set(server.record.id, calm);
}

void endAutoCordon(EventContext& context, Server& server) {
  if (server.autoCordonReason.empty()) return;
  server.autoCordonReason.clear();
  server.autoCordonNotBefore =
      context.now.steady + kAutoCordonInterval * context.tables.options.maxAutoCordon;
  context.tables.servers.autoCordons().clear(server.record.id);
  context.tables.servers.refreshCordon(server);
}

void endDueAutoCordons(EventContext& context) {
  ServerTable& servers = context.tables.servers;
  for (const ServerId id : servers.autoCordons().takeDue(context.now.steady)) {
    endAutoCordon(context, servers.at(id));
  }
}

}  // namespace tarcil::master
