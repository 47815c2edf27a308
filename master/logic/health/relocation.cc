#include "master/logic/health/relocation.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "core/decide/margin.h"
#include "core/model/quality.h"
#include "core/state/claim.h"
#include "master/logic/health/resizing.h"
#include "master/logic/health/step_log.h"
#include "master/logic/jobs/task_life.h"
#include "master/logic/queue/eligible_job.h"
#include "master/logic/queue/feasibility.h"
#include "master/logic/queue/reservation.h"
#include "master/logic/queue/spreading.h"
#include "master/logic/servers/job_resident.h"

namespace tarcil::master {
namespace {

// Servers that are looked at each time.
constexpr size_t kMaxServersLookedAt = 128;

// What a server must give more of the best performance: each move costs what the task has done so far.
constexpr double kWorthAMove = 0.1;
constexpr uint32_t kMaxMoves = 3;

// A task that is to get a better server.
struct MovingTask {
  Hold hold;
  double reached = 0;  // share of its expected performance, where it is
  Bottleneck bottleneck = Bottleneck::kInterference;
  size_t units = 1;  // that it could use
};

// Units that the task could have on the server; those beyond what its job asks for only where no waiting job
// could use them.
uint32_t unitsOn(const Server& server, const MovingTask& task, const Tables& tables) {
  const uint32_t asked = task.hold.job->record.spec.rusPerTask;
  const auto free = std::min<size_t>(task.units, server.status.free.size());
  const bool isContested = free > asked && nextEligibleJob(tables, server) != nullptr;
  return isContested ? asked : static_cast<uint32_t>(free);
}

// The share of its best performance, of what S and platform allow, that it can reach on so many units: a task
// that uses up its cores, or has no more memory there, reaches no more than now with as many units as here.
double reachOn(uint32_t units, const MovingTask& task) {
  const size_t here = task.hold.job->tasks[task.hold.task].rus.size();
  const bool isBound =
      task.bottleneck == Bottleneck::kCores || (task.bottleneck == Bottleneck::kMemory && units <= here);
  return std::min(1.0, (isBound ? task.reached : 1) * units / static_cast<double>(here));
}

// The server, of kMaxServersLookedAt from number `first` (modulo their number) on, where the task gets most
// of the units that it could use, and may expect kWorthAMove more of its performance on its best platform
// than now:
//   E = S * platform factor (docs/design.md) * reachOn()
// The units are free there, and the server is reserved for nobody. The claim's floor is the S that is worth
// the move. O(servers looked at).
std::optional<Claim> betterPlace(const Tables& tables, const MovingTask& task, size_t first) {
  const Job& job = *task.hold.job;
  const JobSpec& spec = job.record.spec;
  const auto factorOn = [&spec](const Server& server) {
    return platformFactor(spec.profile, server.record.facts.platform);
  };
  const Server& here = tables.servers.at(task.hold.server);
  const double least = task.reached * factorOn(here) + kWorthAMove;
  Spreading others(tables.servers, job);
  others.remove(here);
  std::optional<Claim> best;
  const size_t count = tables.servers.size();
  for (size_t i = 0; i < std::min(count, kMaxServersLookedAt); ++i) {
    const Server& server = tables.servers.at(static_cast<ServerId>((first + i) % count));
    if (&server == &here || !isFeasible(server, spec, task.hold.task)) continue;
    if (isReserved(tables, server.record.id) || others.isFull(server)) continue;
    if (best && server.status.free.size() <= best->rus) continue;
    Claim claim = freshClaim(server, unitsOn(server, task, tables));
    claim.task = task.hold.task;
    if (claim.rus < spec.rusPerTask || (best && claim.rus <= best->rus)) continue;
    claim.floor = least / (factorOn(server) * reachOn(claim.rus, task));
    if (claim.floor > 1 || verdictOn(spec, tables.settings, server, claim) != Verdict::kGranted) continue;
    best = std::move(claim);
    if (best->rus >= task.units) break;
  }
  return best;
}

// The units with which the task would perform as expected, if each did as much as now; no more than it
// may have.
size_t unitsNeeded(const ViolationCase& violation) {
  const JobSpec& spec = violation.job.record.spec;
  const auto has = static_cast<double>(violation.task.rus.size());
  const auto most = std::max(has, static_cast<double>(spec.rusPerTask + spec.adjust.moreRus));
  const double reached = partOfExpected(*violation.degraded.violation);
  return static_cast<size_t>(reached > 0 ? std::clamp(std::ceil(has / reached), has, most) : most);
}

// Whether the units of the claim are still free for the queued task.
bool isStillFree(const Tables& tables, const Job& job, const Server& server, const Claim& claim) {
  const JobSpec& spec = job.record.spec;
  return isFeasible(server, spec, claim.task) && !isReserved(tables, claim.server) &&
         !Spreading(tables.servers, job).isFull(server) && nextEligibleJob(tables, server, &job) == nullptr &&
         verdictOn(spec, tables.settings, server, claim) == Verdict::kGranted;
}

// Places the task on the units of the claim, for its owner to launch; false where they are not to be had any
// more, or the task is not to run.
bool takePlace(EventContext& context, Job& job, Claim claim) {
  const TaskRecord& task = job.tasks[claim.task];
  if (task.state != RunState::kQueued || job.progress.held || job.progress.cancelRequested) return false;
  Tables& tables = context.tables;
  Server& server = tables.servers.at(claim.server);
  if (!isStillFree(tables, job, server, claim)) return false;
  const JobSpec& spec = job.record.spec;
  claim.attempt = task.attempt;
  const Judging judging = judgingWithoutMargin(spec, tables.settings);
  const Judgement judged =
      judge(viewOn(spec.profile, server.share, 1.0),
            contention(judging.contention, server.status.sum, server.share, server.status.background,
                       static_cast<int>(server.record.facts.rus)),
            judging.model, judging.margin);
  claim.q = q(judged);
  claim.s = judged.satisfaction;
  const Grant grant{Verdict::kGranted, newAllocation(context), server.status.free.first(claim.rus),
                    lowestExtras(server.status.freeExtras, spec.extras)};
  tables.servers.occupy(server, residentOf(spec, grant.allocation, grant.rus, grant.extras));
  placeTask(context, job, claim, grant, kNoDecision);
  return true;
}

}  // namespace

bool relocate(ViolationCase& violation, Bottleneck bottleneck) {
  auto& [context, tables, degraded, hold, job, task, server] = violation;
  if (!job.record.spec.adjust.move || job.progress.cancelRequested || job.progress.held) return false;
  uint32_t& moves = job.adjusting.moves[hold.task];
  if (moves >= kMaxMoves || !(degraded.violation->expected > 0)) return false;
  // Where the search begins differs from task to task, and from time to time.
  const size_t first =
      task.allocation + std::exchange(degraded.lookedAt, degraded.lookedAt + kMaxServersLookedAt);
  const size_t units = bottleneck == Bottleneck::kInterference ? task.rus.size() : unitsNeeded(violation);
  const auto place =
      betterPlace(tables, {hold, partOfExpected(*degraded.violation), bottleneck, units}, first);
  if (!place) return false;
  ++moves;
  ++tables.adjusted.moved;
  const std::string reason = reasonOf(violation);
  std::string where = "moved away from " + server.record.facts.name;
  // The task's owner looks for the best place for the units that the job asks for; with more than those it is
  // placed here, since no agent may claim them.
  if (place->rus > job.record.spec.rusPerTask) {
    where += " to " + unitsText(place->rus) + " of " + tables.servers.at(place->server).record.facts.name;
    job.adjusting.destinations[hold.task] = {*place, degraded.calm};
  }
  logStep(violation, where + ": it " + reason);
  moveTask(context, hold, "moved: it " + reason);
  return true;
}

void startRelocated(EventContext& context, Job& job, TaskIndex index) {
  const auto entry = job.adjusting.destinations.extract(index);
  if (entry.empty()) return;
  const auto& [claim, calm] = entry.mapped();
  const TaskRecord& task = job.tasks[index];
  if (task.state != RunState::kQueued || task.end.cause != EndCause::kCancelled) return;
  const std::string& server = context.tables.servers.at(claim.server).record.facts.name;
  if (!takePlace(context, job, claim)) {
    logStep(context, job, index,
            "waits for any place: its units of " + server + " are not to be had any more");
    return;
  }
  logStep(context, job, index, "starts on " + unitsText(claim.rus) + " of " + server);
  watchExtraUnits(context, task.allocation, calm);
}

}  // namespace tarcil::master
