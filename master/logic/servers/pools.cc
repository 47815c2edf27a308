#include "master/logic/servers/pools.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>

#include "latebinding/names.h"
#include "master/logic/queue/feasibility.h"
#include "master/logic/queue/reservation.h"

namespace tarcil::master {
namespace {

// Jobs seldom wait for so short a time because of pools: they have not been offered yet, or a task is about
// to end.
constexpr Duration kPoolPatience = std::chrono::milliseconds(500);

// Jobs that are looked at, the first in the queue's order, and of how many classes: each class takes a look
// at every server.
constexpr int kMaxJobs = 64;
constexpr size_t kMaxClasses = 4;

bool offersPool(const Server& server) {
  return server.record.facts.attributes.contains(std::string(late::kServerAttribute));
}

// The units that the server's pool may have in addition.
RuSet grantable(const Tables& tables, const Server& server) {
  const bool mayGrow = server.status.up && !server.status.cordoned && !isReserved(tables, server.record.id);
  if (!mayGrow) return {};
  RuSet units;
  for (const RuIndex ru : server.status.free.first(unitsWithShare(server))) units.insert(ru);
  return units;
}

bool isLimited(const Tables& tables, ServerId server) {
  return std::ranges::binary_search(tables.pools.limited, server);
}

std::optional<late::PoolAnswer> take(EventContext& context, Server& server, late::PoolReport report) {
  const Tables& tables = context.tables;
  if (isLimited(tables, server.record.id)) report.wanted = std::min(report.wanted, report.least);
  late::PoolLease lease = server.record.pool;
  std::optional<late::PoolAnswer> answer = late::handle(lease, report, grantable(tables, server));
  if (!answer || lease == server.record.pool) return answer;
  context.tables.servers.setPool(server, std::move(lease));
  context.out.put(server.record);
  return answer;
}

// Above those of earlier masters, which monitors may still hold.
uint64_t nextRevision(const EventContext& context) {
  const auto byClock = static_cast<uint64_t>(context.now.wall.time_since_epoch().count());
  return std::max(context.tables.pools.revision + 1, byClock);
}

void tellLimit(EventContext& context, const Server& server) {
  auto& pools = context.tables.pools;
  if (!server.session || !offersPool(server)) return;
  if (pools.revision == 0) pools.revision = nextRevision(context);
  const uint32_t units = isLimited(context.tables, server.record.id) ? 0 : UINT32_MAX;
  context.out.send(LimitPool{*server.session, server.record.facts.name, {pools.revision, units}});
}

void setLimited(EventContext& context, std::vector<ServerId> limited) {
  Tables& tables = context.tables;
  std::vector<ServerId> changed;
  std::ranges::set_symmetric_difference(tables.pools.limited, limited, std::back_inserter(changed));
  if (changed.empty()) return;
  tables.pools.limited = std::move(limited);
  tables.pools.revision = nextRevision(context);
  for (ServerId id : changed) tellLimit(context, tables.servers.at(id));
}

// The servers that are feasible for the job, where they have too few free slots for it to start; none where
// they have enough or never will: then it is not pools that it waits for.
std::set<ServerId> serversShortFor(const Tables& tables, const Job& job) {
  const JobSpec& spec = job.record.spec;
  std::set<ServerId> feasible;
  uint64_t free = 0, whenEmpty = 0;  // places
  for (ServerId id = 0; id < tables.servers.size() && free < job.slotsToStart(); ++id) {
    const Server& server = tables.servers.at(id);
    const uint64_t places = slotsWhenEmpty(server, spec);
    if (places == 0) continue;
    whenEmpty += places;
    free += freeSlots(server, spec);
    feasible.insert(feasible.end(), id);
  }
  const bool isShort = free < job.slotsToStart() && job.slotsToStart() <= whenEmpty;
  return isShort ? feasible : std::set<ServerId>();
}

std::vector<ServerId> serversToLimit(const Tables& tables) {
  std::set<ServerId> limited;
  // Late-bound tasks beside it may be what makes its servers too noisy for it, though units are free there.
  if (tables.reservation)
    limited.insert(tables.reservation->servers.begin(), tables.reservation->servers.end());
  std::set<EquivalenceClass> classes;
  int jobs = 0;
  tables.jobs.queue().order().walk([&](const QueueKey& key) -> std::optional<uint64_t> {
    const Job& job = *tables.jobs.find(key.job);
    if (classes.insert(key.equivalenceClass).second) limited.merge(serversShortFor(tables, job));
    if (++jobs == kMaxJobs || classes.size() == kMaxClasses) return std::nullopt;
    return uint64_t{job.slotsToStart()} * job.record.spec.rusPerTask;
  });
  return {limited.begin(), limited.end()};
}

}  // namespace

void takePoolReports(EventContext& context, const PoolReported& event) {
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

void takePoolPressures(EventContext& context, const PressureReported& event) {
  for (const late::PoolPressure& pressure : event.pools) {
    Server* server = context.tables.servers.find(pressure.server);
    if (server == nullptr || server->session != event.session || !offersPool(*server)) continue;
    PressureSum caused = pressure.caused;
    for (int32_t& value : caused) value = std::clamp(value, 0, kMaxServerCaused);
    context.tables.servers.setPoolCaused(*server, caused);
  }
}

void takePoolUp(EventContext& context, Server& server, bool takenOver) {
  if ((takenOver || !offersPool(server)) && server.record.pool != late::PoolLease()) {
    context.tables.servers.setPool(server, {});
    context.out.put(server.record);
  }
  context.tables.servers.setPoolCaused(server, {});
  context.tables.pools.areOffered |= offersPool(server);
  tellLimit(context, server);
}

void limitPools(EventContext& context) {
  Tables& tables = context.tables;
  auto& pools = tables.pools;
  const MonotonicTime now = context.now.steady;
  if (!pools.areOffered) return;  // what waits costs nothing
  if (tables.jobs.queue().size() == 0) {
    pools.due.reset();
    setLimited(context, {});
  } else if (!pools.due) {
    pools.due = now + kPoolPatience;
  } else if (now >= *pools.due) {
    pools.due = now + kPoolPatience;
    setLimited(context, serversToLimit(tables));
  }
}

}  // namespace tarcil::master
