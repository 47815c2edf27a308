#include "monitor/logic/launches.h"

#include "monitor/logic/task_life.h"

namespace tarcil::monitor {
namespace {

// Between tries to fetch something from a master that is attached and yet says Unavailable.
constexpr Duration kFetchRetry = std::chrono::seconds(1);

// What a shell returns for a command that may not be executed: it lies with the job, or with the cluster, and
// with no server.
constexpr int kMayNotStart = 126;

// Of a task that has all that it waits for.
void makeReady(EventContext& context, Task& task) {
  if (task.lacksFiles || task.lacksSecrets) return;
  context.tables.clearAlarm(task);
  task.phase = Phase::kReady;
  context.tables.ready.insert(task.spec.allocation);
  startReady(context);
}

// Something that the task needs cannot be had now.
void fetchLater(EventContext& context, Task& task) {
  if (context.tables.attached) context.tables.setAlarm(task, context.now.steady + kFetchRetry);
}

}  // namespace

void takeLaunch(EventContext& context, const LaunchArrived& event) {
  using Outcome = AnswerLaunch::Outcome;
  const Tables& tables = context.tables;
  const AllocationId allocation = event.spec.allocation;
  Outcome outcome = Outcome::kAccepted;
  if (!tables.servers.contains(event.spec.server)) {
    outcome = Outcome::kUnknownServer;
  } else if (tables.tombstones.contains(allocation)) {
    outcome = Outcome::kRevoked;
  } else if (!tables.tasks.contains(allocation)) {
    context.act(RecordLaunch{event.spec});
    context.act(AnswerLaunch{event.request, outcome});
    admit(context, event.spec);
    startReady(context);
    return;
  }
  context.act(AnswerLaunch{event.request, outcome});
}

void admit(EventContext& context, const LaunchSpec& spec) {
  Tables& tables = context.tables;
  Task& task = tables.tasks.try_emplace(spec.allocation).first->second;
  task.spec = spec;
  task.allowed = !spec.exclusive;
  task.lacksFiles = spec.hasFiles;
  task.lacksSecrets = !spec.secrets.empty();
  if (task.lacksFiles || task.lacksSecrets) {
    task.phase = Phase::kFetching;
    if (tables.attached) fetch(context, task);
  } else {
    tables.ready.insert(spec.allocation);
  }
}

void fetch(EventContext& context, const Task& task) {
  if (task.lacksFiles) context.act(FetchFiles{task.spec.allocation, task.spec.job});
  if (task.lacksSecrets) context.act(FetchSecrets{task.spec.allocation});
}

void takeFiles(EventContext& context, const FilesArrived& event) {
  Tables& tables = context.tables;
  Task* task = tables.find(event.allocation);
  if (task == nullptr || task->phase != Phase::kFetching || !task->lacksFiles) return;
  if (event.files.ok()) {
    task->lacksFiles = false;
    task->files = *event.files;
    makeReady(context, *task);
  } else if (event.files.error().code != ErrorCode::kUnavailable) {
    finishUnstarted(context, *task, EndCause::kNeverStarted,
                    "its input files could not be had: " + event.files.error().message);
  } else {
    fetchLater(context, *task);
  }
}

void takeSecrets(EventContext& context, const SecretsArrived& event) {
  Task* task = context.tables.find(event.allocation);
  if (task == nullptr || task->phase != Phase::kFetching || !task->lacksSecrets) return;
  if (event.secrets.ok()) {
    task->lacksSecrets = false;
    task->secrets = *event.secrets;
    makeReady(context, *task);
  } else if (event.secrets.error().code != ErrorCode::kUnavailable) {
    finishUnstarted(context, *task, EndCause::kNeverStarted,
                    "its secrets could not be had: " + event.secrets.error().message, kMayNotStart);
  } else {
    fetchLater(context, *task);
  }
}

}  // namespace tarcil::monitor
