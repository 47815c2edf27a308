#include "master/logic/health/violation_handler.h"

#include "master/logic/health/auto_cordon.h"
#include "master/logic/health/relocation.h"
#include "master/logic/health/resizing.h"
#include "master/logic/health/throttling.h"

namespace tarcil::master {
namespace {

Cause::Kind likeliestCause(const Violation& violation) {
  return violation.causes.empty() ? Cause::Kind::kUnknown : violation.causes.front().kind;
}

Bottleneck bottleneckOf(Cause::Kind cause) {
  switch (cause) {
    case Cause::Kind::kCores:
      return Bottleneck::kCores;
    case Cause::Kind::kMemoryLimit:
      return Bottleneck::kMemory;
    default:
      return Bottleneck::kInterference;
  }
}

}  // namespace

void takeNextStep(ViolationCase& violation) {
  const auto& [context, tables, degraded, hold, job, task, server] = violation;
  if (task.stopping || task.state != RunState::kRunning || !server.session) return;
  if (isThrottled(tables, task.allocation)) return;  // what it lacks is others' now
  if (!degraded.resizing.empty()) return;            // one step at a time
  if (context.now.steady < degraded.nextStep) return;
  const Cause::Kind cause = likeliestCause(*degraded.violation);
  const Bottleneck bottleneck = bottleneckOf(cause);
  const bool isOwnLimit = bottleneck != Bottleneck::kInterference;
  const bool othersMatter = !isOwnLimit && cause != Cause::Kind::kUnknown;
  // New tasks kept away do nothing yet for this one, so these two go together.
  const bool isCordoned = othersMatter && autoCordon(violation);
  const bool areOthersHeldBack = othersMatter && throttleNeighbour(violation);
  if (isCordoned || areOthersHeldBack || (isOwnLimit && growTask(violation)) ||
      relocate(violation, bottleneck)) {
    violation.degraded.nextStep = context.now.steady + tables.options.adjustingPause;
  }
}

void endViolation(ViolationCase& violation) {
  if (!violation.degraded.violation) return;
  violation.degraded.violation.reset();
  shortenAutoCordon(violation.context, violation.server);
  violation.tables.violations.due.set(violation.task.allocation,
                                      violation.context.now.steady + violation.degraded.calm);
}

void takeDueSteps(EventContext& context) {
  Tables& tables = context.tables;
  for (const AllocationId allocation : tables.violations.due.takeDue(context.now.steady)) {
    DegradedTask& degraded = *tables.violations.find(allocation);
    ViolationCase violation(context, allocation, degraded);
    accountForExtraUnits(violation);  // from time to time, for a master that dies
    if (degraded.violation) {
      takeNextStep(violation);
      tables.violations.due.set(allocation, context.now.steady + tables.options.adjustingPause);
    } else if (shrinkTask(violation)) {
      tables.violations.due.set(allocation, context.now.steady + degraded.calm);
    } else {
      tables.violations.erase(allocation);
    }
  }
  easeDueThrottles(context);
  endDueAutoCordons(context);
}

void forgetViolation(EventContext& context, const Hold& hold) {
  const AllocationId allocation = hold.job->tasks[hold.task].allocation;
  context.tables.performances.erase(allocation);
  DegradedTask* degraded = context.tables.violations.find(allocation);
  if (degraded == nullptr) return;
  ViolationCase violation(context, allocation, *degraded);
  accountForExtraUnits(violation);
  context.tables.violations.erase(allocation);
  shortenAutoCordon(context, violation.server);
}

void resumeSteps(EventContext& context, const Server& server) {
  resumeThrottles(context, server);
  ViolationTable& violations = context.tables.violations;
  for (const Resident& resident : server.residents) {
    DegradedTask* degraded = violations.find(resident.allocation);
    if (degraded == nullptr) {
      confirmUnits(context, *context.tables.jobs.holder(resident.allocation));
      continue;
    }
    degraded->violation.reset();
    violations.due.set(resident.allocation, context.now.steady + degraded->calm);
    ViolationCase violation(context, resident.allocation, *degraded);
    resumeResizing(violation);
  }
}

}  // namespace tarcil::master
