#include "master/reservation.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "master/suitable.h"

namespace tarcil::master {
namespace {

// Gangs that are looked at, the oldest first; those that no room is kept for now are passed over.
constexpr int kMostLookedAt = 64;

// For how many times its bound no room is kept for a gang that did not start though there was some.
constexpr int kPause = 10;

// What runs changes all the time; the time of the start is found out anew no more often than this.
constexpr Duration kBetweenLooks = std::chrono::seconds(1);

Duration boundOf(const Tables& tables, const Job& gang) {
  return gang.record.spec.maxWait.value_or(tables.options.gangPatience);
}

// Slots for a job's tasks on servers that meet its constraints and take tasks, whatever their quality.
struct Slots {
  uint64_t free = 0;
  uint64_t all = 0;  // were nothing running
};

Slots slotsFor(const Tables& tables, const JobSpec& spec) {
  Slots slots;
  for (ServerId id = 0; id < tables.servers.size(); ++id) {
    const Server& server = tables.servers.at(id);
    if (!isSuitable(server, spec)) continue;
    slots.free += server.status.free.size() / spec.rusPerTask;
    slots.all += server.record.facts.rus / spec.rusPerTask;
  }
  return slots;
}

// Whether the gang would start were nothing else running. Asked again some time later where not.
bool couldStart(const Context& context, Job& gang) {
  if (slotsFor(context.tables, gang.record.spec).all >= gang.placeable()) return true;
  gang.reserveNotBefore = context.now.steady + kBetweenLooks;
  return false;
}

Job* oldestOverdue(const Context& context) {
  JobTable& jobs = context.tables.jobs;
  int looked = 0;
  for (const auto& [submitted, id] : jobs.waitingGangs()) {
    if (++looked > kMostLookedAt) return nullptr;
    Job* gang = jobs.find(id);
    if (context.now.steady < gang->reserveNotBefore) continue;
    if (context.now.wall - submitted < boundOf(context.tables, *gang)) continue;
    if (couldStart(context, *gang)) return gang;
  }
  return nullptr;
}

void reserveFor(Context& context, const Job& gang) {
  Tables& tables = context.tables;
  const WallTime start = expectedStartOf(tables, gang, context.now.wall);
  tables.reservation = GangReservation{
      .gang = gang.record.id, .expectedStart = start, .due = context.now.steady + kBetweenLooks};
  const auto mayPass = [&tables, start, now = context.now.wall + kBetweenLooks](const JobId& other) {
    const JobSpec& spec = tables.jobs.find(other)->record.spec;
    return spec.timeout > Duration::zero() && now + spec.timeout + spec.grace <= start;
  };
  tables.jobs.queue().reserve(WaitingQueue::Reservation{.job = JobTable::placeOf(gang), .mayPass = mayPass});
}

void letGo(Context& context) {
  context.tables.reservation.reset();
  context.tables.jobs.queue().reserve(std::nullopt);
  context.tables.jobs.queue().wakeAll();
}

}  // namespace

WallTime expectedStartOf(const Tables& tables, const Job& gang, WallTime now) {
  const JobSpec& spec = gang.record.spec;
  const uint64_t free = slotsFor(tables, spec).free, wanted = gang.placeable();
  if (free >= wanted) return now;
  // Units by when they come free at the latest. Slots are counted as if units of different servers made one:
  // for tasks of several units the time may be too early, so fewer pass, never more.
  std::vector<std::pair<WallTime, size_t>> ends;
  for (ServerId id = 0; id < tables.servers.size(); ++id) {
    const Server& server = tables.servers.at(id);
    if (!isSuitable(server, spec)) continue;
    for (const Resident& resident : server.residents) {
      const Hold& hold = *tables.jobs.holder(resident.allocation);
      const JobSpec& running = hold.job->record.spec;
      if (running.timeout == Duration::zero()) continue;
      const WallTime placed = hold.job->tasks[hold.task].placed;
      ends.emplace_back(placed + running.timeout + running.grace, resident.rus.size());
    }
  }
  std::ranges::sort(ends);
  uint64_t missing = (wanted - free) * spec.rusPerTask;
  for (const auto& [end, units] : ends) {
    if (units >= missing) return std::max(end, now);
    missing -= units;
  }
  return kNever;
}

void updateReservation(Context& context) {
  Tables& tables = context.tables;
  const auto& reservation = tables.reservation;
  if (reservation && context.now.steady >= reservation->due) {
    Job* gang = tables.jobs.find(reservation->gang);
    if (gang != nullptr && gang->waits() && couldStart(context, *gang)) reserveFor(context, *gang);
  }
  if (reservation) {
    const Job* gang = tables.jobs.find(reservation->gang);
    if (gang == nullptr || !gang->waits() || context.now.steady < gang->reserveNotBefore) letGo(context);
  }
  if (reservation) return;
  if (const Job* gang = oldestOverdue(context)) reserveFor(context, *gang);
}

void doubtReservation(Context& context, Job& gang) {
  const Tables& tables = context.tables;
  if (!tables.reservation || tables.reservation->gang != gang.record.id) return;
  if (slotsFor(tables, gang.record.spec).free < 2 * uint64_t{gang.placeable()}) return;
  gang.reserveNotBefore = context.now.steady + kPause * boundOf(tables, gang);
}

}  // namespace tarcil::master
