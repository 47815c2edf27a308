#include "master/logic/health/relocation.h"

#include <algorithm>

#include "core/decide/margin.h"
#include "core/model/quality.h"
#include "master/logic/jobs/task_life.h"
#include "master/logic/queue/claimants.h"
#include "master/logic/queue/feasibility.h"
#include "master/logic/queue/reservation.h"
#include "master/logic/queue/spreading.h"

namespace tarcil::master {
namespace {

// Units that the task could have on the server; those beyond what its job asks for only where they are
// nobody's.
uint32_t unitsThere(const Tables& tables, const Relocation& task, const Server& server) {
  const uint32_t asked = task.hold.job->record.spec.rusPerTask;
  const auto free = std::min<size_t>(task.units, server.status.free.size());
  const bool isContested = free > asked && nextEligibleJob(tables, server) != nullptr;
  return isContested ? asked : static_cast<uint32_t>(free);
}

// With how much of its best performance, of what S and platform give, it can do on so many units.
double reachWith(uint32_t units, const Relocation& task) {
  using HeldBy = Relocation::HeldBy;
  const size_t here = task.hold.job->tasks[task.hold.task].rus.size();
  const bool isHeld = task.heldBy == HeldBy::kCores || (task.heldBy == HeldBy::kMemory && units <= here);
  return std::min(1.0, (isHeld ? task.part : 1) * units / static_cast<double>(here));
}

}  // namespace

std::optional<Claim> betterPlace(const Tables& tables, const Relocation& task, size_t first) {
  const Job& job = *task.hold.job;
  const JobSpec& spec = job.record.spec;
  const auto factorOn = [&spec](const Server& server) {
    return platformFactor(spec.profile, server.record.facts.platform);
  };
  const Server& here = tables.servers.at(task.hold.server);
  const double least = task.part * factorOn(here) + kWorthAMove;
  Spreading others(tables.servers, job);
  others.remove(here);
  std::optional<Claim> best;
  const size_t count = tables.servers.size();
  for (size_t i = 0; i < std::min(count, kMaxLookedAt); ++i) {
    const Server& server = tables.servers.at(static_cast<ServerId>((first + i) % count));
    if (&server == &here || !isFeasible(server, spec)) continue;
    if (isKept(tables, server.record.id) || others.isFull(server)) continue;
    if (best && server.status.free.size() <= best->rus) continue;
    Claim claim = freshClaim(server, unitsThere(tables, task, server));
    claim.task = task.hold.task;
    if (claim.rus < spec.rusPerTask || (best && claim.rus <= best->rus)) continue;
    claim.floor = least / (factorOn(server) * reachWith(claim.rus, task));
    if (claim.floor > 1 || verdictOn(spec, tables.settings, server, claim) != Verdict::kGranted) continue;
    best = std::move(claim);
    if (best->rus >= task.units) break;
  }
  return best;
}

bool takePlace(EventContext& context, Job& job, Claim claim) {
  const TaskRecord& task = job.tasks[claim.task];
  if (task.state != RunState::kQueued || job.progress.held || job.progress.cancelRequested) return false;
  Tables& tables = context.tables;
  Server& server = tables.servers.at(claim.server);
  const JobSpec& spec = job.record.spec;
  const bool isThere = isFeasible(server, spec) && !isKept(tables, claim.server) &&
                       !Spreading(tables.servers, job).isFull(server) &&
                       nextEligibleJob(tables, server, &job) == nullptr &&
                       verdictOn(spec, tables.settings, server, claim) == Verdict::kGranted;
  if (!isThere) return false;
  claim.attempt = task.attempt;
  const Judging judging = judgingWithoutMargin(spec, tables.settings);
  const JobView view = viewOn(spec.profile, server.share, 1.0);
  const Judgement judged =
      judge(view,
            contention(judging.contention, server.status.sum, server.share, server.status.background,
                       static_cast<int>(server.record.facts.rus)),
            judging.model, judging.margin);
  claim.q = q(judged);
  claim.s = judged.satisfaction;
  const Grant grant{Verdict::kGranted, newAllocation(context), server.status.free.first(claim.rus),
                    lowestExtras(server.status.freeExtras, spec.extras)};
  tables.servers.occupy(
      server, {grant.allocation, grant.rus, spec.profile.caused, spec.profile.tolerated, grant.extras});
  placeTask(context, job, claim, grant, kNoDecision);
  return true;
}

}  // namespace tarcil::master
