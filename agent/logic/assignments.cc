#include "agent/logic/assignments.h"

#include <algorithm>

#include "agent/logic/submissions.h"
#include "agent/logic/waiting.h"
#include "core/state/launch_of.h"

namespace tarcil::agent {
namespace {

// What can be expected of the task there after earlier runs; 0 where that is not known.
double earlierOn(const ClusterState& state, ServerId server, const JobSpec& spec) {
  if (spec.earlier.empty() || !state.known(server)) return 0;
  const auto found = spec.earlier.find(state.facts(server).platform);
  return found == spec.earlier.end() ? 0 : found->second;
}

// If a job with the same id has been submitted meanwhile, its commit is still to be answered: the master
// treats it as a new job if it has forgotten the old one by then.
void endJob(EventContext& context, const JobRecord& over, FilePieces files) {
  Tables& tables = context.tables;
  forget(tables, over.id);
  const Commit* commit = tables.inFlight.find(over.id);
  if (commit == nullptr || !commit->newJob || commit->newJob->record.submitted == over.submitted) return;
  Job& job = tables.jobs.add(HeldJob::submitted(commit->newJob->record));
  job.files = std::move(files);
  refresh(context, job);
}

void assignTask(EventContext& context, Job& job, const TaskAssignment& task) {
  const HeldTask* held = job.held.find(task.index);
  const bool starting = task.state == RunState::kStarting;
  if (held && held->allocation != 0 && !(starting && held->allocation == task.allocation)) {
    context.tables.launches.drop(held->allocation);
  }
  job.held.assign(task, context.now.steady);
}

bool isStarting(const Job& job, TaskIndex index) {
  const HeldTask* task = job.held.find(index);
  return task && task->state == RunState::kStarting;
}

bool isGang(const Job& job) {
  return job.held.record().spec.schedule == Schedule::kGang;
}

// Where its tasks are now: nobody knows that of those that have ended or wait.
GangHosts hostsOf(const Job& job, const ClusterState& state) {
  std::vector<std::string_view> hosts(job.held.record().spec.tasks);
  for (const auto& [index, task] : job.held.tasks()) {
    const bool isPlaced = task.state != RunState::kQueued && state.known(task.server);
    if (isPlaced && index < hosts.size()) hosts[index] = hostOf(state.address(task.server));
  }
  return gangHosts(hosts);
}

}  // namespace

void takeAssignment(EventContext& context, const JobAssignment& assignment) {
  Tables& tables = context.tables;
  Job* job = tables.jobs.find(assignment.job.id);
  if (!job && assignment.over) return;
  if (!job) job = &tables.jobs.add(HeldJob(assignment.job));
  FilePieces files = job->files;
  // The master knows it, so it is durable, even if its first commit has not been answered.
  if (!job->durable) acknowledge(context, *job);
  if (assignment.over) return endJob(context, assignment.job, std::move(files));
  job->held.follow(assignment.job.spec);
  forEachWaiting(assignment, [&context, job](TaskIndex task) { assignTask(context, *job, {.index = task}); });
  for (const TaskAssignment& task : assignment.tasks) assignTask(context, *job, task);
  if (assignment.complete) {
    for (AllocationId ended : job->held.keepListed(assignment)) tables.launches.drop(ended);
  }
  std::vector<TaskIndex> starting;
  for (const TaskAssignment& task : assignment.tasks) {
    if (isStarting(*job, task.index)) starting.push_back(task.index);
  }
  launch(context, *job, starting);
  refresh(context, *job);
}

void launch(EventContext& context, const Job& job, const std::vector<TaskIndex>& tasks) {
  if (tasks.empty()) return;
  const ClusterState& state = context.tables.copy.state();
  std::optional<GangHosts> gang;
  if (isGang(job)) {
    if (!context.tables.hasSnapshot) return;
    gang = hostsOf(job, state);
  }
  const JobRecord& record = job.held.record();
  for (const TaskIndex index : tasks) {
    const HeldTask& task = *job.held.find(index);
    LaunchSpec spec = launchOf(record, index, {task.allocation, task.attempt, task.rus, task.extras});
    spec.earlier = earlierOn(state, task.server, record.spec);
    spec.gang = gang;
    context.tables.launches.start(std::move(spec), unitsMore(record.spec, task.rus.size()), task.server,
                                  state, context.actions);
  }
}

void launchGangs(EventContext& context) {
  for (const auto& [id, job] : context.tables.jobs) {
    if (!isGang(job)) continue;
    std::vector<TaskIndex> starting;
    for (const auto& [index, task] : job.held.tasks()) {
      if (isStarting(job, index)) starting.push_back(index);
    }
    launch(context, job, starting);
  }
}

void forget(Tables& tables, const JobId& id) {
  for (const auto& [index, task] : tables.jobs.find(id)->held.tasks()) {
    if (task.allocation != 0) tables.launches.drop(task.allocation);
  }
  tables.jobs.erase(id);
}

}  // namespace tarcil::agent
