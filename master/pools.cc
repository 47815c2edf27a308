#include "master/pools.h"

#include <algorithm>
#include <string>

#include "latebinding/suitability.h"
#include "master/reservation.h"
#include "master/views.h"

namespace tarcil::master {
namespace {

// Jobs seldom wait for so short a time because of pools: their turn has not come, or a task is about to end.
constexpr Duration kPoolPatience = std::chrono::milliseconds(500);

bool offersPool(const Server& server) {
  return server.record.facts.attributes.contains(std::string(late::kServerAttribute));
}

// The units that the server's pool may have in addition.
RuSet grantable(const Tables& tables, const Server& server) {
  const bool mayGrow = server.status.up && !server.status.cordoned && !isKept(tables, server.record.id);
  return mayGrow ? server.status.free : RuSet();
}

std::optional<late::PoolAnswer> take(Context& context, Server& server, late::PoolReport report) {
  const Tables& tables = context.tables;
  if (tables.pools.areLimited) report.wanted = std::min(report.wanted, report.least);
  late::PoolLease lease = server.record.pool;
  std::optional<late::PoolAnswer> answer = late::handle(lease, report, grantable(tables, server));
  if (!answer || lease == server.record.pool) return answer;
  context.tables.servers.setPool(server, std::move(lease));
  context.out.put(server.record);
  return answer;
}

// Above those of earlier masters, which monitors may still hold.
uint64_t nextRevision(const Context& context) {
  const auto byClock = static_cast<uint64_t>(context.now.wall.time_since_epoch().count());
  return std::max(context.tables.pools.revision + 1, byClock);
}

void tellLimit(Context& context, const Server& server) {
  auto& pools = context.tables.pools;
  if (!server.session || !offersPool(server)) return;
  if (pools.revision == 0) pools.revision = nextRevision(context);
  context.out.send(LimitPool{
      *server.session, server.record.facts.name, {pools.revision, pools.areLimited ? 0 : UINT32_MAX}});
}

void setLimited(Context& context, bool areLimited) {
  Tables& tables = context.tables;
  tables.pools.areLimited = areLimited;
  tables.pools.revision = nextRevision(context);
  for (ServerId id = 0; id < tables.servers.size(); ++id) tellLimit(context, tables.servers.at(id));
}

// Whether the first job of the queue needs more units than are free. One that waits for others than units is
// not helped.
bool isShort(const Context& context) {
  const auto first = waitingJobs(context.tables.jobs, 1, context.now.wall);
  if (first.empty()) return false;
  uint64_t free = 0;
  for (ServerId id = 0; id < context.tables.servers.size(); ++id) {
    const ServerStatus& status = context.tables.servers.at(id).status;
    if (status.up && !status.cordoned) free += status.free.size();
  }
  return free < uint64_t{first.front().slots} * first.front().spec.rusPerTask;
}

}  // namespace

void takePoolReports(Context& context, const PoolReported& event) {
  Tables& tables = context.tables;
  if (!tables.servers.attached(event.session)) {
    context.out.send(AnswerPools{
        event.request,
        Error{ErrorCode::kConflict, "this connection does not speak for a monitor any more: attach again"}});
    return;
  }
  std::vector<PoolAnswerOf> answers;
  for (const PoolReportOf& entry : event.reports) {
    Server* server = tables.servers.find(entry.server);
    if (server == nullptr || server->session != event.session || !offersPool(*server)) continue;
    if (auto answer = take(context, *server, entry.report))
      answers.push_back({entry.server, std::move(*answer)});
  }
  context.out.send(AnswerPools{event.request, std::move(answers)});
}

void takePoolPressures(Context& context, const PressureReported& event) {
  constexpr int32_t kMostCaused = kMaxPressure * static_cast<int32_t>(kMaxServerRus);
  for (const late::PoolPressure& pressure : event.pools) {
    Server* server = context.tables.servers.find(pressure.server);
    if (server == nullptr || server->session != event.session || !offersPool(*server)) continue;
    PressureSum caused = pressure.caused;
    for (int32_t& value : caused) value = std::clamp(value, 0, kMostCaused);
    context.tables.servers.setPoolCaused(*server, caused);
  }
}

void takePoolUp(Context& context, Server& server, bool takenOver) {
  if ((takenOver || !offersPool(server)) && server.record.pool != late::PoolLease()) {
    context.tables.servers.setPool(server, {});
    context.out.put(server.record);
  }
  context.tables.servers.setPoolCaused(server, {});
  context.tables.pools.areOffered |= offersPool(server);
  tellLimit(context, server);
}

void limitPools(Context& context) {
  Tables& tables = context.tables;
  auto& pools = tables.pools;
  const MonotonicTime now = context.now.steady;
  if (!pools.areOffered) return;  // what waits costs nothing
  if (tables.jobs.queue().size() == 0) {
    pools.due.reset();
    if (pools.areLimited) setLimited(context, false);
  } else if (!pools.due) {
    pools.due = now + kPoolPatience;
  } else if (now >= *pools.due) {
    pools.due = now + kPoolPatience;
    if (isShort(context) != pools.areLimited) setLimited(context, !pools.areLimited);
  }
}

}  // namespace tarcil::master
