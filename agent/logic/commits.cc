#include "agent/logic/commits.h"

#include "agent/logic/offers.h"
#include "agent/logic/placement.h"
#include "agent/logic/waiting.h"

namespace tarcil::agent {
namespace {

// Commits under way from which on waiting jobs are not tried: else thousands whose wait has reached its bound
// at once would stand before what users submit meanwhile.
constexpr size_t kMaxInFlight = 256;

// Jobs planned per event; each costs a decision, some tens of microseconds.
constexpr int kTriedPerEvent = 64;

// Tasks placed by one commit, so that a huge job does not hold up others behind one event or one message.
constexpr size_t kTasksPerCommit = 1024;

Commit emptyCommit(const Tables& tables, const Job& job) {
  Commit commit;
  commit.job = job.id();
  commit.capacityVersion = tables.queueTold.capacityVersion;
  commit.judging = judgingFor(job.spec(), tables.settings);
  commit.gang = job.spec().schedule == Schedule::kGang;
  return commit;
}

Commit decide(EventContext& context, Job& job, WaitReason& reason) {
  Tables& tables = context.tables;
  const PlacementOptions options{
      .settings = settingsFor(tables, job),
      .standard = job.isOverdue ? Standard::kBestThereIs : Standard::kAcceptable,
      .atMost = kTasksPerCommit,
      .seed = context.rng(),
      .except = job.isOffered ? job.reservedForOthers : reservedForOthers(tables, job.spec())};
  PlacementAttempt attempt = attemptFor(tables, job.held, options, tables.chooser);
  const uint32_t drawn = attempt.decision.explanation.drawn;
  if (drawn > 0) ++tables.decisions;
  tables.drawn += drawn;
  if (drawn > 0 && tables.settings.ranking == RankBy::kWorth)
    tables.price.offered(attempt.decision.bestWorth);
  if (attempt.isCutOff) tables.jobs.markToTry(job);  // goes on with its next commit
  reason = std::move(attempt.reason);
  Commit commit = emptyCommit(tables, job);
  commit.claims = std::move(attempt.decision.claims);
  commit.explanation = std::move(attempt.decision.explanation);
  commit.judging.margin = commit.explanation.margin;
  return commit;
}

void send(EventContext& context, Job& job, Commit commit, const WaitReason& reason) {
  Tables& tables = context.tables;
  commit.waitReason = reason.text;
  job.reportedKind = reason.kind;
  job.reportedAt = context.now.steady;
  job.pendingReason.reset();
  job.isOffered = false;
  context.actions.push_back(
      SendCommit{tables.inFlight.add(std::move(commit), job.spec(), tables.copy.state())});
}

NewJob newJobOf(const Job& job) {
  return {.record = job.held.record(), .files = job.files.size() == 1 ? job.files.front() : nullptr};
}

}  // namespace

bool mayTry(const Tables& tables) {
  return tables.jobs.hasToTry() && tables.inFlight.size() < kMaxInFlight;
}

void planWaiting(EventContext& context) {
  for (int tries = 0; tries < kTriedPerEvent; ++tries) {
    if (!mayTry(context.tables)) return;
    Job* job = context.tables.jobs.nextToTry();
    job->replans = 0;
    plan(context, *job);
  }
}

void plan(EventContext& context, Job& job) {
  context.tables.jobs.unmarkToTry(job);
  WaitReason reason;
  Commit commit = decide(context, job, reason);
  if (job.durable && commit.claims.empty()) {
    noteReason(context, job, std::move(reason), std::move(commit.explanation));
  } else {
    if (!job.durable) commit.newJob = newJobOf(job);
    send(context, job, std::move(commit), reason);
  }
  decline(context, job);
  refresh(context, job);
}

void submitUntried(EventContext& context, Job& job) {
  Commit commit = emptyCommit(context.tables, job);
  commit.newJob = newJobOf(job);
  send(context, job, std::move(commit), waitsForOffer());
  refresh(context, job);
}

void noteReason(EventContext& context, Job& job, WaitReason reason, Explanation explanation) {
  if (reason.kind == job.reportedKind) {
    job.pendingReason.reset();
    return;
  }
  job.pendingReason = PendingReason{.reason = std::move(reason),
                                    .explanation = std::move(explanation),
                                    .capacityVersion = context.tables.queueTold.capacityVersion};
  reportReason(context, job);
}

void reportReason(EventContext& context, Job& job) {
  if (context.now.steady < job.nextReportAt()) return;
  PendingReason pendingReason = std::move(*job.pendingReason);
  Commit commit = emptyCommit(context.tables, job);
  commit.explanation = std::move(pendingReason.explanation);
  commit.capacityVersion = pendingReason.capacityVersion;
  send(context, job, std::move(commit), pendingReason.reason);
}

}  // namespace tarcil::agent
