#include "master/logic/queue/reservation.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "master/logic/queue/feasibility.h"
#include "master/logic/queue/reserved_servers.h"

namespace tarcil::master {
namespace {

// Jobs that are looked at, the oldest first; those that no room is kept for now are passed over.
constexpr int kMaxLookedAt = 1'024;

// For how many times its bound no room is kept for a job that did not start though there was some.
constexpr int kPause = 10;

// What runs changes all the time; servers are chosen anew no more often than this.
constexpr Duration kLookInterval = std::chrono::seconds(1);

Duration boundOf(const Tables& tables, const Job& job) {
  return job.record.spec.maxWait.value_or(tables.options.reservationDelay);
}

// Whether the job would start were nothing else running, whatever the quality. O(servers).
bool couldStart(const Tables& tables, const Job& job) {
  uint64_t index = 0;
  for (ServerId id = 0; id < tables.servers.size(); ++id) {
    index += slotsWhenEmpty(tables.servers.at(id), job.record.spec);
    if (index >= job.slotsToStart()) return true;
  }
  return false;
}

// Between two steps of what is kept, and the unit of pauses: a job that waits for no quality at all may have
// a bound of zero.
Duration stepOf(const Tables& tables, const Job& job) {
  return std::max({boundOf(tables, job), tables.options.reservationDelay, kLookInterval});
}

// Looks at one job a second that could not start: that takes a look at every server.
Job* oldestOverdue(EventContext& context) {
  Tables& tables = context.tables;
  if (context.now.steady < tables.reservationNotBefore) return nullptr;
  int looked = 0;
  for (const auto& [queued, id] : tables.jobs.waitingForRoom()) {
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
    // Late-bound tasks are short, and what is kept lends no units (pools.h).
    if (const uint32_t lent = server.record.pool.held.size(); lent > 0) {
      prospect.ends.push_back({.when = now, .units = lent});
    }
  }
  return prospects;
}

// Chooses the servers of the reservation, and tells the queue who may pass it.
void chooseServers(EventContext& context, const Job& job) {
  Tables& tables = context.tables;
  RoomReservation& reservation = *tables.reservation;
  std::vector<Prospect> prospects = prospectsFor(tables, job.record.spec, context.now.wall);
  ReservedServers chosen = chooseKept(prospects, job.record.spec.rusPerTask, job.slotsToStart(),
                                      std::max<uint64_t>(reservation.slots, job.slotsToStart()));
  // What is no longer kept is there for others.
  if (!std::ranges::includes(chosen.servers, reservation.servers)) tables.jobs.queue().wakeAll();
  reservation.servers = std::move(chosen.servers);
  reservation.due = context.now.steady + kLookInterval;
  const WallTime start = std::max(chosen.start, context.now.wall);
  const auto mayPass = [&tables, start, now = context.now.wall + kLookInterval](const JobId& other) {
    const JobSpec& spec = tables.jobs.find(other)->record.spec;
    return spec.timeout > Duration::zero() && now + spec.timeout + spec.grace <= start;
  };
  tables.jobs.queue().keep(
      WaitingQueue::Purpose::kRoom,
      WaitingQueue::Reservation{
          .job = JobTable::queueKeyOf(job), .servers = reservation.servers, .mayPass = mayPass});
}

void widen(EventContext& context, const Job& job) {
  RoomReservation& reservation = *context.tables.reservation;
  reservation.slots =
      std::max<uint64_t>(job.slotsToStart(), std::min(2 * reservation.slots, uint64_t{kMaxTasks}));
  reservation.widenAt = context.now.steady + stepOf(context.tables, job);
  reservation.due = context.now.steady;
}

void release(EventContext& context) {
  WaitingQueue& queue = context.tables.jobs.queue();
  queue.release(WaitingQueue::Purpose::kRoom, context.tables.reservation->job);
  context.tables.reservation.reset();
  queue.wakeAll();
}

// Units on servers that are kept.
uint64_t freeOnKept(const Tables& tables) {
  uint64_t units = 0;
  for (ServerId id : tables.reservation->servers) units += tables.servers.at(id).status.free.size();
  return units;
}

// Its bound has passed once more. While more and more comes free the servers that are kept will do. Its agent
// may take by now what it would not take before, and waits for its turn: this job is what everybody waits
// for.
void widenUnlessMoreIsFree(EventContext& context, const Job& job) {
  RoomReservation& reservation = *context.tables.reservation;
  context.tables.jobs.queue().wakeAll();
  const uint64_t free = freeOnKept(context.tables);
  if (free <= std::exchange(reservation.freeUnits, free)) return widen(context, job);
  reservation.widenAt = context.now.steady + stepOf(context.tables, job);
}

// Of the job that room is kept for.
void refresh(EventContext& context) {
  const RoomReservation& reservation = *context.tables.reservation;
  Job* job = context.tables.jobs.find(reservation.job);
  const auto isOver = [&]() {
    return job == nullptr || !job->waits() || !job->needsRoom() || context.now.steady < job->reserveNotBefore;
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

bool isKept(const Tables& tables, ServerId server) {
  return std::ranges::binary_search(tables.jobs.queue().kept(), server);
}

void updateReservation(EventContext& context) {
  Tables& tables = context.tables;
  if (tables.reservation) refresh(context);
  if (tables.reservation) return;
  const Job* job = oldestOverdue(context);
  if (job == nullptr) return;
  tables.reservation = RoomReservation{
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
  // On all servers: it may take what is not kept as well.
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
