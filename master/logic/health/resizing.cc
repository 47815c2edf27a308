#include "master/logic/health/resizing.h"

#include <utility>

#include "master/logic/health/step_log.h"
#include "master/logic/queue/eligible_job.h"
#include "master/logic/queue/feasibility.h"
#include "master/logic/queue/reservation.h"

namespace tarcil::master {
namespace {

size_t extraUnits(const ViolationCase& violation) {
  return violation.task.rus.size() - violation.job.record.spec.rusPerTask;
}

bool runsOn(const TaskRecord& task) {
  return task.state == RunState::kRunning && !task.stopping;
}

// The record and the server's tables say that the task holds these.
void setUnits(ViolationCase& violation, const std::vector<RuIndex>& rus) {
  accountForExtraUnits(violation);
  violation.tables.jobs.resize(violation.task.allocation, rus);
  violation.tables.servers.resize(violation.server, violation.task.allocation, rus);
}

void requestUnits(ViolationCase& violation, std::vector<RuIndex> rus) {
  if (!violation.server.session) return;  // when its monitor is back
  violation.context.out.send(ResizeTask{*violation.server.session, violation.task.allocation, rus});
  violation.degraded.resizing = std::move(rus);
}

void confirm(ViolationCase& violation, const std::vector<RuIndex>& rus) {
  violation.degraded.resizing.clear();
  violation.degraded.grows = false;
  if (rus.size() >= violation.task.rus.size()) return;
  setUnits(violation, rus);
  logStep(violation, "gave units back: " + std::to_string(rus.size()) + " are left");
}

// Nothing is asked back for a while, each time a longer one: to be asked costs the task memory that it could
// have kept.
void askLater(ViolationCase& violation) {
  DegradedTask& degraded = violation.degraded;
  degraded.calm = longerCalm(degraded.calm);
  if (degraded.violation) return;
  violation.tables.violations.due.set(violation.task.allocation,
                                      violation.context.now.steady + degraded.calm);
}

// A unit that was to be added is free again; all others may be in use by the task, and stay its own.
void refuse(ViolationCase& violation, const std::string& why) {
  DegradedTask& degraded = violation.degraded;
  degraded.resizing.clear();
  if (!std::exchange(degraded.grows, false)) return askLater(violation);
  degraded.failed = why;
  setUnits(violation, {violation.task.rus.begin(), violation.task.rus.end() - 1});
  logStep(violation, "could not be given another unit: " + why);
}

}  // namespace

bool growTask(ViolationCase& violation) {
  auto& [context, tables, degraded, hold, job, task, server] = violation;
  const std::string& name = server.record.facts.name;
  if (degraded.failed || extraUnits(violation) >= job.record.spec.adjust.moreRus) return false;
  if (isReserved(tables, hold.server) || unitsWithShare(server) == 0) return false;
  if (const Job* waiting = nextEligibleJob(tables, server)) {
    if (!std::exchange(degraded.outranked, true)) {
      logStep(violation,
              "gets no unit more of " + name + " while " + titleOf(*waiting) + " waits, which could use it");
    }
    return false;
  }
  degraded.outranked = false;
  std::vector<RuIndex> more = task.rus;
  more.push_back(server.status.free.first(1).front());
  setUnits(violation, more);
  ++tables.adjusted.grown;
  logStep(violation, "got a unit more of " + name + ", " + std::to_string(more.size()) + " in all: it " +
                         reasonOf(violation));
  degraded.grows = true;
  requestUnits(violation, std::move(more));
  return true;
}

bool shrinkTask(ViolationCase& violation) {
  if (!violation.degraded.resizing.empty()) return true;
  if (extraUnits(violation) == 0) return false;
  const TaskRecord& task = violation.task;
  if (!runsOn(task)) return true;  // it has none yet, or not for long
  requestUnits(violation, {task.rus.begin(), task.rus.end() - static_cast<ptrdiff_t>(extraUnits(violation))});
  return true;
}

void takeResized(EventContext& context, const TaskResized& event) {
  if (holderFor(context.tables, event.allocation, event.session) == nullptr) return;
  DegradedTask* degraded = context.tables.violations.find(event.allocation);
  if (degraded == nullptr || degraded->resizing != event.rus) return;
  ViolationCase violation(context, event.allocation, *degraded);
  event.status.ok() ? confirm(violation, event.rus) : refuse(violation, event.status.error().message);
}

void accountForExtraUnits(ViolationCase& violation) {
  const MonotonicTime now = violation.context.now.steady;
  const MonotonicTime since = std::exchange(violation.degraded.grownSince, now);
  const size_t extra = extraUnits(violation);
  if (extra > 0) violation.tables.usage.addUnits(violation.job.record.user, extra, now - since);
}

void watchExtraUnits(EventContext& context, AllocationId allocation, Duration calm) {
  ViolationTable& violations = context.tables.violations;
  DegradedTask& degraded = violations.add(allocation);
  degraded.calm = calm;
  degraded.grownSince = context.now.steady;
  violations.due.set(allocation, context.now.steady + calm);
}

void resumeResizing(ViolationCase& violation) {
  violation.degraded.resizing.clear();
  violation.degraded.grows = false;
  if (extraUnits(violation) > 0 && runsOn(violation.task)) requestUnits(violation, violation.task.rus);
}

void confirmUnits(EventContext& context, const Hold& hold) {
  const TaskRecord& task = hold.job->tasks[hold.task];
  if (hold.job->record.spec.adjust.moreRus == 0 || !runsOn(task)) return;
  const Server& server = context.tables.servers.at(hold.server);
  context.out.send(ResizeTask{*server.session, task.allocation, task.rus});
}

void restoreExtraUnits(EventContext& context) {
  const Tables& tables = context.tables;
  for (ServerId id = 0; id < tables.servers.size(); ++id) {
    for (const Resident& resident : tables.servers.at(id).residents) {
      const Hold& hold = *tables.jobs.holder(resident.allocation);
      if (resident.rus.size() <= hold.job->record.spec.rusPerTask) continue;
      watchExtraUnits(context, resident.allocation, tables.options.adjustingCalm);
    }
  }
}

}  // namespace tarcil::master
