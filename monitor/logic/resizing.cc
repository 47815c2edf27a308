#include "monitor/logic/resizing.h"

#include <algorithm>

#include "monitor/logic/task_life.h"

namespace tarcil::monitor {

void takeResize(EventContext& context, const ResizeArrived& event) {
  const Task* task = context.tables.find(event.allocation);
  if (task == nullptr || task->phase != Phase::kRunning || task->intent != Intent::kNone) {
    context.act(RefuseChange{event.request, notFound("this task is not running here")});
    return;
  }
  LaunchSpec wanted = task->spec;
  wanted.extras.clear();
  wanted.rus.clear();
  for (const RuIndex ru : event.rus) {
    if (std::ranges::find(task->spec.rus, ru) == task->spec.rus.end()) wanted.rus.push_back(ru);
  }
  if (event.rus.empty() || !context.tables.held.areFree(wanted)) {
    context.act(
        RefuseChange{event.request, Error{ErrorCode::kConflict, "another task has one of these units"}});
    return;
  }
  context.act(ResizeTask{event.request, event.allocation, event.rus});
}

void takeResized(EventContext& context, const TaskResized& event) {
  Task* task = context.tables.find(event.allocation);
  if (task == nullptr || !task->holdsUnits()) return;
  context.tables.held.release(task->spec);
  task->spec.rus = event.rus;
  context.tables.held.take(task->spec);
  startReady(context);
}

}  // namespace tarcil::monitor
