#include "monitor/logic/recovery.h"

#include <algorithm>

#include "monitor/logic/launches.h"
#include "monitor/logic/stopping.h"
#include "monitor/logic/task_life.h"

namespace tarcil::monitor {
namespace {

Intent intentOf(const std::optional<EndCause>& reason) {
  if (!reason) return Intent::kNone;
  return *reason == EndCause::kTimedOut ? Intent::kTimeOut : Intent::kStop;
}

}  // namespace

void adopt(EventContext& context, const RecoveredTask& recovered) {
  Tables& tables = context.tables;
  const LaunchSpec& spec = recovered.spec;
  if (recovered.state == RecoveredTask::State::kForgotten) {
    tables.tombstones.add(spec.allocation);
    return;
  }
  if (recovered.state == RecoveredTask::State::kNeverStarted && !recovered.reason) {
    admit(context, spec);
    return;
  }
  Task& task = tables.tasks.try_emplace(spec.allocation).first->second;
  task.spec = spec;
  task.intent = intentOf(recovered.reason);
  if (recovered.state == RecoveredTask::State::kNeverStarted) {
    cancelUnstarted(context, task);
    return;
  }
  if (recovered.state == RecoveredTask::State::kEnded) {
    finish(context, task, withIntent(task, recovered.end));
    return;
  }
  // Its command may not be executed yet, or only just: then the executor tells.
  task.phase = recovered.started == kNever ? Phase::kStarting : Phase::kRunning;
  task.started = recovered.started;
  tables.held.take(spec);
  if (task.intent != Intent::kNone) {
    terminate(context, task, task.intent);  // again: the predecessor may not have come to it
    return;
  }
  if (task.phase == Phase::kRunning && spec.timeout > Duration::zero()) {
    const Duration left = spec.timeout - (context.now.wall - recovered.started);
    tables.setAlarm(task, context.now.steady + std::clamp(left, Duration::zero(), spec.timeout));
  }
}

}  // namespace tarcil::monitor
