#include "monitor/logic/launches.h"

#include "monitor/logic/task_life.h"

namespace tarcil::monitor {
namespace {

// Between tries to fetch files from a master that is attached and yet says Unavailable.
constexpr Duration kFetchRetry = std::chrono::seconds(1);

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
  if (spec.hasFiles) {
    task.phase = Phase::kFetching;
    if (tables.attached) fetchFiles(context, task);
  } else {
    tables.ready.insert(spec.allocation);
  }
}

void fetchFiles(EventContext& context, const Task& task) {
  context.act(FetchFiles{task.spec.allocation, task.spec.job});
}

void takeFiles(EventContext& context, const FilesArrived& event) {
  Tables& tables = context.tables;
  Task* task = tables.find(event.allocation);
  if (task == nullptr || task->phase != Phase::kFetching) return;
  if (event.files.ok()) {
    tables.clearAlarm(*task);
    task->phase = Phase::kReady;
    task->files = *event.files;
    tables.ready.insert(event.allocation);
    startReady(context);
  } else if (event.files.error().code != ErrorCode::kUnavailable) {
    finishUnstarted(context, *task, EndCause::kNeverStarted,
                    "its input files could not be had: " + event.files.error().message);
  } else if (tables.attached) {
    tables.setAlarm(*task, context.now.steady + kFetchRetry);
  }
}

}  // namespace tarcil::monitor
