#include "agent/logic/commit_answers.h"

#include <algorithm>

#include "agent/logic/assignments.h"
#include "agent/logic/commits.h"
#include "agent/logic/state_feed.h"
#include "agent/logic/submissions.h"
#include "agent/logic/waiting.h"

namespace tarcil::agent {
namespace {

// Adds to `granted` the task that is to be launched. Returns false if the claim was refused and the task
// needs another slot.
bool takeGrant(EventContext& context, Job& job, const Claim& claim, const Grant& grant,
               std::vector<TaskIndex>& granted) {
  const HeldTask* task = job.held.find(claim.task);
  // News that came after the commit was sent outweigh its answer.
  if (!task || task->state != RunState::kQueued || task->attempt != claim.attempt) return true;
  if (grant.verdict == Verdict::kGranted) {
    job.held.grant(claim.task, claim.server, grant);
    endWait(job);
    granted.push_back(claim.task);
    return true;
  }
  if (grant.verdict != Verdict::kTaskNotWaiting) return false;
  // What is known of the task is out of date, and the news are on their way, unless they have come: it
  // has a delay.
  if (task->notBefore <= context.now.steady) job.held.forget(claim.task);
  return true;
}

// Returns whether a claim was refused whose task still needs a slot.
bool takeGrants(EventContext& context, Job& job, const Commit& commit, const CommitAnswer& answered) {
  bool refused = false;
  uint32_t placed = 0;
  std::vector<TaskIndex> granted;
  for (size_t i = 0; i < commit.claims.size() && i < answered.grants.size(); ++i) {
    refused |= !takeGrant(context, job, commit.claims[i], answered.grants[i], granted);
    if (commit.claims[i].attempt == 0 && answered.grants[i].verdict == Verdict::kGranted) ++placed;
  }
  launch(context, job, granted);
  if (placed > 0) {
    const Duration waited = context.now.wall - job.held.record().submitted;
    context.actions.push_back(TasksPlaced{.tasks = placed, .waited = std::max(waited, Duration::zero())});
  }
  return refused;
}

void afterGrants(EventContext& context, Job& job, bool refused) {
  if (!refused) {
    job.replans = 0;
  } else {
    if (isReady(context.tables) && job.replans < context.tables.options.replans) {
      ++job.replans;
      return plan(context, job);
    }
    noteReason(context, job, outrun(), {});
  }
  refresh(context, job);
}

}  // namespace

void takeCommitAnswer(EventContext& context, const CommitAnswer& answered) {
  using Outcome = CommitAnswer::Outcome;
  Tables& tables = context.tables;
  if (answered.outcome == Outcome::kSuperseded) return;  // says nothing of the job
  takeServers(context, answered.servers, StateCopy::Source::kAnswer);
  std::optional<Commit> commit = tables.inFlight.take(answered.sequence, tables.copy.state());
  if (!commit) return;
  Job* job = tables.jobs.find(commit->job);
  if (!job) return;
  const bool first = !job->durable;
  if (answered.outcome == Outcome::kOk) {
    const bool refused = takeGrants(context, *job, *commit, answered);
    if (first) acknowledge(context, *job);
    return afterGrants(context, *job, refused);
  }
  if (answered.outcome == Outcome::kFilesMissing && first) return submitAgain(context, commit->job);
  if (answered.outcome == Outcome::kRefused || answered.outcome == Outcome::kBusy) {
    if (!first) return refresh(context, *job);
    const bool busy = answered.outcome == Outcome::kBusy;
    answer(context, job->clients,
           Error{busy ? ErrorCode::kExhausted : ErrorCode::kInvalid, answered.problem});
    return forget(tables, commit->job);
  }
  // The job existed before or is over. If the master has assigned it since, it stays until the master says
  // that it is over: the answer may be the repeat of one given before the job was run again.
  if (!first) return refresh(context, *job);
  answer(context, job->clients, {});
  forget(tables, commit->job);
}

}  // namespace tarcil::agent
