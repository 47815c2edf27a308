#include "master/logic/queue/reservation.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "master/logic/people/account_bounds.h"
#include "master/logic/queue/feasibility.h"
#include "master/logic/queue/reserved_servers.h"

namespace tarcil::master {
namespace {

// How many jobs are examined, the oldest first; those for which nothing may be reserved now are skipped.
constexpr int kMaxLookedAt = 1'024;

// For how many times its bound nothing is reserved for a job that did not start although it had free slots.
constexpr int kPause = 10;

// Running tasks change all the time; servers are chosen again no more often than this.
constexpr Duration kLookInterval = std::chrono::seconds(1);

Duration boundOf(const Tables& tables, const Job& job) {
  return job.record.spec.maxWait.value_or(tables.options.reservationDelay);
}

// Whether the job would start were nothing else running but what its account holds, whatever the quality.
// O(servers).
bool couldStart(const Tables& tables, const Job& job) {
  if (!mayStart(tables, job)) return false;
  uint64_t slots = 0;
  for (ServerId id = 0; id < tables.servers.size(); ++id) {
    slots += slotsWhenEmpty(tables.servers.at(id), job.record.spec);
    if (slots >= job.slotsToStart()) return true;
  }
  return false;
}

// The interval at which a reservation is widened, and the unit of pauses. Not below the reservation delay,
// since the bound of a job that does not wait for quality may be zero.
Duration stepOf(const Tables& tables, const Job& job) {
  return std::max({boundOf(tables, job), tables.options.reservationDelay, kLookInterval});
}

// Examines at most one job a second that could not start, since that costs a look at every server.
Job* oldestOverdue(EventContext& context) {
  Tables& tables = context.tables;
  if (context.now.steady < tables.reservationNotBefore) return nullptr;
  int looked = 0;
  for (const auto& [queued, id] : tables.jobs.waitingForReservation()) {
    if (++looked > kMaxLookedAt) return nullptr;
    Job* job = tables.jobs.find(id);
    if (context.now.steady < job->reserveNotBefore) continue;
    if (queueTime(context) - queued < boundOf(tables, *job)) continue;
    if (couldStart(tables, *job)) return job;
    pauseReservation(context, *job);
    tables.reservationNotBefore = context.now.steady + kLookInterval;
    return nullptr;
  }
  return nullptr;
}

// When what the task holds comes free at the latest.
WallTime endOf(const Hold& hold) {
  const JobSpec& running = hold.job->record.spec;
  if (running.timeout == Duration::zero()) return kNever;
  return hold.job->tasks[hold.task].placed + running.timeout + running.grace;
}

std::vector<Prospect> prospectsFor(const Tables& tables, const JobSpec& spec, WallTime now) {
  std::vector<Prospect> prospects;
  for (ServerId id = 0; id < tables.servers.size(); ++id) {
    const Server& server = tables.servers.at(id);
    if (slotsWhenEmpty(server, spec) == 0) continue;
    Prospect& prospect =
        prospects.emplace_back(Prospect{.server = id, .free = server.status.free.size(), .ends = {}});
    for (const Resident& resident : server.residents) {
      prospect.ends.push_back({.when = endOf(*tables.jobs.holder(resident.allocation)),
                               .units = static_cast<uint32_t>(resident.rus.size())});
    }
    // Late-bound tasks are short, and reserved servers lend no units to their pools (pools.h).
    if (const uint32_t lent = server.record.pool.held.size(); lent > 0) {
      prospect.ends.push_back({.when = now, .units = lent});
    }
  }
  return prospects;
}

// Chooses the servers of the reservation, and tells the queue who may pass it.
void chooseServers(EventContext& context, const Job& job) {
  Tables& tables = context.tables;
  ServerReservation& reservation = *tables.reservation;
  std::vector<Prospect> prospects = prospectsFor(tables, job.record.spec, context.now.wall);
  ReservedServers chosen = chooseReserved(prospects, job.record.spec.rusPerTask, job.slotsToStart(),
                                          std::max<uint64_t>(reservation.slots, job.slotsToStart()));
  // Servers that are no longer reserved are there for other jobs.
  if (!std::ranges::includes(chosen.servers, reservation.servers)) tables.jobs.queue().wakeAll();
  reservation.servers = std::move(chosen.servers);
  reservation.due = context.now.steady + kLookInterval;
  const WallTime start = std::max(chosen.start, context.now.wall);
  const auto mayPass = [&tables, start, now = context.now.wall + kLookInterval](const JobId& other) {
    const JobSpec& spec = tables.jobs.find(other)->record.spec;
    return spec.timeout > Duration::zero() && now + spec.timeout + spec.grace <= start;
  };
  tables.jobs.queue().reserve(
      WaitingQueue::Purpose::kSeveralUnits,
      WaitingQueue::Reservation{
          .job = JobTable::queueKeyOf(job), .servers = reservation.servers, .mayPass = mayPass});
}

void widen(EventContext& context, const Job& job) {
  ServerReservation& reservation = *context.tables.reservation;
  reservation.slots =
      std::max<uint64_t>(job.slotsToStart(), std::min(2 * reservation.slots, uint64_t{kMaxTasks}));
  reservation.widenAt = context.now.steady + stepOf(context.tables, job);
  reservation.due = context.now.steady;
}

void release(EventContext& context) {
  WaitingQueue& queue = context.tables.jobs.queue();
  queue.release(WaitingQueue::Purpose::kSeveralUnits, context.tables.reservation->job);
  context.tables.reservation.reset();
  queue.wakeAll();
}

// Free units on the reserved servers.
uint64_t freeOnReserved(const Tables& tables) {
  uint64_t units = 0;
  for (ServerId id : tables.reservation->servers) units += tables.servers.at(id).status.free.size();
  return units;
}

// The job's bound has passed once more. While more and more units come free on the reserved servers, these
// are enough. Its agent may accept by now what it would not accept before, but needs an offer to try: hence
// the wake of the queue.
void widenUnlessMoreIsFree(EventContext& context, const Job& job) {
  ServerReservation& reservation = *context.tables.reservation;
  context.tables.jobs.queue().wakeAll();
  const uint64_t free = freeOnReserved(context.tables);
  if (free <= std::exchange(reservation.freeUnits, free)) return widen(context, job);
  reservation.widenAt = context.now.steady + stepOf(context.tables, job);
}

// Ends the reservation where its job no longer needs it; widens it and chooses servers again where due.
void refresh(EventContext& context) {
  const ServerReservation& reservation = *context.tables.reservation;
  Job* job = context.tables.jobs.find(reservation.job);
  const auto isOver = [&]() {
    return job == nullptr || !job->waits() || !job->needsReservation() ||
           context.now.steady < job->reserveNotBefore;
  };
  if (isOver()) return release(context);
  if (context.now.steady >= reservation.widenAt) widenUnlessMoreIsFree(context, *job);
  if (context.now.steady < reservation.due) return;
  if (!couldStart(context.tables, *job)) {
    pauseReservation(context, *job);
    return release(context);
  }
  chooseServers(context, *job);
}

}  // namespace

void renewReservation(EventContext& context, const Job& job) {
  std::optional<ServerReservation>& reservation = context.tables.reservation;
  if (reservation && reservation->job == job.record.id) reservation->due = context.now.steady;
}

bool isReserved(const Tables& tables, ServerId server) {
  return std::ranges::binary_search(tables.jobs.queue().reserved(), server);
}

void updateReservation(EventContext& context) {
  Tables& tables = context.tables;
  if (tables.reservation) refresh(context);
  if (tables.reservation) return;
  const Job* job = oldestOverdue(context);
  if (job == nullptr) return;
  tables.reservation = ServerReservation{
      .job = job->record.id,
      .servers = {},
      .slots = job->slotsToStart(),
      .due = context.now.steady,
      .widenAt = context.now.steady + stepOf(tables, *job),
  };
  chooseServers(context, *job);
}

void doubtReservation(EventContext& context, Job& job) {
  const Tables& tables = context.tables;
  if (!tables.reservation || tables.reservation->job != job.record.id) return;
  // On all servers: it may use those that are not reserved as well.
  uint64_t free = 0;
  for (ServerId id = 0; id < tables.servers.size(); ++id) {
    free += freeSlots(tables.servers.at(id), job.record.spec);
  }
  if (free < job.slotsToStart()) return;
  if (free >= 2 * uint64_t{job.slotsToStart()}) {
    job.reserveNotBefore = context.now.steady + kPause * stepOf(tables, job);
  } else {
    widen(context, job);
  }
}

void pauseReservation(EventContext& context, Job& job) {
  job.reserveNotBefore = context.now.steady + stepOf(context.tables, job);
}

}  // namespace tarcil::master
