// The master's word: attachments, answers to commits, news of jobs; and the launches that follow.
#include <algorithm>

#include "agent/logic/agent_state.h"

namespace tarcil {

using namespace agent;

namespace {

LaunchSpec launchSpec(const JobRecord& record, TaskIndex index, const HeldTask& task) {
  const JobSpec& spec = record.spec;
  LaunchSpec launch;
  static_cast<TaskSpec&>(launch) = spec;
  launch.user = record.runAs;
  launch.allocation = task.allocation;
  launch.job = record.id;
  launch.jobName = spec.name;
  launch.task = index;
  launch.attempt = task.attempt;
  launch.tasks = spec.tasks;
  launch.rus = task.rus;
  launch.extras = task.extras;
  launch.hasFiles = record.hasFiles;
  launch.caused = spec.profile.caused;
  launch.tolerated = spec.profile.tolerated;
  launch.measures = !spec.measures.empty();
  return launch;
}

}  // namespace

void AgentLogic::State::on(const MasterAttached& event, EventContext& context) {
  const bool resumed = event.epoch == epoch && epoch != 0;
  epoch = event.epoch;
  attached = true;
  pendingPriority.reset();
  kept.clear();
  crowded = false;
  startCopyAnew();
  if (!resumed) inFlight.restart();
  replaceJobs(event.jobs, context);
  if (!resumed) startEpochAnew(context);
  for (Commit& commit : inFlight.all()) context.actions.push_back(SendCommit{std::move(commit)});
}

// Jobs that the master does not know have lost their commits, or these came to be known and another agent has
// the job by now: they are handed in again, whatever servers are up.
void AgentLogic::State::startEpochAnew(EventContext& context) {
  std::vector<JobId> unknown;
  for (auto& [id, job] : jobs) {
    if (!job.durable) unknown.push_back(id);
  }
  for (const JobId& id : unknown) {
    Job& job = jobs.at(id);
    arrivals.push_back({.clients = std::move(job.clients),
                        .job = {.record = job.held.record(), .files = std::move(job.files)},
                        .deadline = context.now + options.masterPatience,
                        .admitted = true});
    forget(id);
  }
}

void AgentLogic::State::replaceJobs(const std::vector<JobAssignment>& assignments, EventContext& context) {
  std::set<JobId> listed;
  for (const JobAssignment& assignment : assignments) listed.insert(assignment.job.id);
  std::vector<JobId> gone;
  for (auto& [id, job] : jobs) {
    job.pendingReason.reset();
    job.reportedKind.clear();  // the commit that said it may have come to nothing
    job.isOffered = false;     // a turn ends with the attachment; the next one comes
    if (job.durable && !listed.contains(id)) gone.push_back(id);
  }
  for (const JobId& id : gone) forget(id);
  for (const JobAssignment& assignment : assignments) assign(assignment, context);
}

void AgentLogic::State::on(const JobAssigned& event, EventContext& context) {
  assign(event.assignment, context);
}

void AgentLogic::State::assign(const JobAssignment& assignment, EventContext& context) {
  const JobId& id = assignment.job.id;
  Job* job = find(id);
  if (!job && assignment.over) return;
  if (!job) job = &jobs.emplace(id, HeldJob(assignment.job)).first->second;
  job->held.setPriority(assignment.job.spec.priority);
  // That the master speaks of it says that it is durable, though the answer to its first commit is still to
  // come.
  if (!job->durable) acknowledge(*job, {}, context);
  if (assignment.over) return endJob(assignment.job, context);
  for (const TaskAssignment& task : assignment.tasks) assignTask(*job, task, context);
  if (assignment.complete) {
    for (AllocationId ended : job->held.keepListed(assignment.tasks)) launches.drop(ended);
  }
  refresh(*job, context);
}

// Where the same job has been handed in anew meanwhile, that is still to be answered: the master takes it for
// a new one if it has forgotten the old one by then.
void AgentLogic::State::endJob(const JobRecord& over, EventContext& context) {
  forget(over.id);
  const Commit* commit = inFlight.find(over.id);
  if (commit == nullptr || !commit->newJob || commit->newJob->record.submitted == over.submitted) return;
  Job& job = jobs.emplace(over.id, HeldJob::submitted(commit->newJob->record)).first->second;
  job.files = commit->newJob->files;
  refresh(job, context);
}

void AgentLogic::State::assignTask(Job& job, const TaskAssignment& task, EventContext& context) {
  const HeldTask* held = job.held.find(task.index);
  const bool starting = task.state == RunState::kStarting;
  if (held && held->allocation != 0 && !(starting && held->allocation == task.allocation)) {
    launches.drop(held->allocation);
  }
  job.held.assign(task, context.now);
  if (starting) launch(job, task.index, context);
}

// The job's record is durable: whoever waits for that is told.
void AgentLogic::State::acknowledge(Job& job, const Status& status, EventContext& context) {
  job.durable = true;
  job.files.reset();
  answer(job.clients, status, context);
  job.clients.clear();
}

void AgentLogic::State::on(const CommitAnswered& event, EventContext& context) {
  using Outcome = CommitAnswer::Outcome;
  const CommitAnswer& answered = event.answer;
  if (answered.outcome == Outcome::kSuperseded) return;  // nothing is known of the job
  apply(answered.servers, StateCopy::Source::kAnswer, context);
  std::optional<Commit> commit = inFlight.take(answered.sequence, copy.state());
  if (!commit) return;
  Job* job = find(commit->job);
  if (!job) return;
  const bool first = !job->durable;
  if (answered.outcome == Outcome::kOk) {
    const bool refused = takeGrants(*job, *commit, answered, context);
    if (first) acknowledge(*job, {}, context);
    return afterGrants(*job, refused, context);
  }
  if (answered.outcome == Outcome::kRefused || answered.outcome == Outcome::kBusy) {
    if (!first) return refresh(*job, context);
    const bool busy = answered.outcome == Outcome::kBusy;
    answer(job->clients, Error{busy ? ErrorCode::kExhausted : ErrorCode::kInvalid, answered.problem},
           context);
    return forget(commit->job);
  }
  // The job was there before or is over. Where the master has assigned it meanwhile, that is news and stays.
  if (first) answer(job->clients, {}, context);
  if (first || answered.outcome == Outcome::kJobOver) return forget(commit->job);
  refresh(*job, context);
}

bool AgentLogic::State::takeGrants(Job& job, const Commit& commit, const CommitAnswer& answered,
                                   EventContext& context) {
  bool refused = false;
  uint32_t placed = 0;
  for (size_t i = 0; i < commit.claims.size() && i < answered.grants.size(); ++i) {
    refused |= !takeGrant(job, commit.claims[i], answered.grants[i], context);
    if (commit.claims[i].attempt == 0 && answered.grants[i].verdict == Verdict::kGranted) ++placed;
  }
  if (placed > 0) {
    const Duration waited = context.wall - job.held.record().submitted;
    context.actions.push_back(TasksPlaced{.tasks = placed, .waited = std::max(waited, Duration::zero())});
  }
  return refused;
}

// Returns false where the claim was refused and the task waits for another slot.
bool AgentLogic::State::takeGrant(Job& job, const Claim& claim, const Grant& grant, EventContext& context) {
  const HeldTask* task = job.held.find(claim.task);
  // News that came since the commit was sent count for more than its answer.
  if (!task || task->state != RunState::kQueued || task->attempt != claim.attempt) return true;
  if (grant.verdict == Verdict::kGranted) {
    job.held.grant(claim.task, claim.server, grant);
    job.waitingSince.reset();  // got a slot: for the others the wait begins anew
    job.late = false;
    job.toldBound.reset();
    launch(job, claim.task, context);
    return true;
  }
  if (grant.verdict != Verdict::kTaskNotWaiting) return false;
  // What is held of the task is out of date, and the news are on their way, where they have not come yet:
  // that it waits for a while.
  if (task->notBefore <= context.now) job.held.forget(claim.task);
  return true;
}

void AgentLogic::State::afterGrants(Job& job, bool refused, EventContext& context) {
  if (!refused) {
    job.replans = 0;
  } else {
    if (ready() && job.replans < options.replans) {
      ++job.replans;
      return plan(job, context);
    }
    noteReason(job, outrun(), {}, context);
  }
  refresh(job, context);
}

// A monitor may lose a launch that it accepted, with its machine: where the master still counts the task as
// starting, the launch is sent again. One that was not lost is not started twice.
void AgentLogic::State::launch(Job& job, TaskIndex index, EventContext& context) {
  const HeldTask& task = *job.held.find(index);
  const JobRecord& record = job.held.record();
  const size_t asked = record.spec.rusPerTask, more = std::max(task.rus.size(), asked) - asked;
  launches.start(launchSpec(record, index, task), more, task.server, copy.state(), context.actions);
}

void AgentLogic::State::on(const LaunchAnswered& event, EventContext& context) {
  launches.answered(event, context.now);
}

AgentLogic::State::Job* AgentLogic::State::find(const JobId& id) {
  auto found = jobs.find(id);
  return found == jobs.end() ? nullptr : &found->second;
}

void AgentLogic::State::forget(const JobId& id) {
  Job& job = jobs.at(id);
  for (const auto& [index, task] : job.held.tasks()) {
    if (task.allocation != 0) launches.drop(task.allocation);
  }
  toTry.erase({job.tryNumber, id});
  deferred.erase(id);
  waiting -= job.waits ? 1 : 0;
  if (job.due) timers.erase({*job.due, id});
  if (job.counted && --waitingOfUser[job.held.record().user] == 0)
    waitingOfUser.erase(job.held.record().user);
  jobs.erase(id);
}

}  // namespace tarcil
