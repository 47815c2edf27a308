#include "agent/server/agent_metrics.h"

#include "env/loop_step.h"

namespace tarcil {
namespace {

// The guarantee takes some microseconds to compute.
constexpr uint64_t kGuaranteeOneIn = 16;

// Position in `submissions`.
size_t outcomeOf(const Status& answer) {
  if (answer.ok()) return 0;
  switch (answer.error().code) {
    case ErrorCode::kInvalid:
      return 1;
    case ErrorCode::kDenied:
      return 2;
    case ErrorCode::kExhausted:
      return 3;
    case ErrorCode::kUnavailable:
      return 4;
    case ErrorCode::kNotFound:
    case ErrorCode::kConflict:
    case ErrorCode::kInternal:
      return 5;
  }
  return 5;
}

}  // namespace

void AgentMetrics::count(const Status& answer) {
  submissions[outcomeOf(answer)]->Increment();
}

void AgentMetrics::count(const Explanation& made) {
  if (made.drawn == 0) return;
  draws.Observe(made.drawn);
  feasible.Observe(shareAcceptable(made));
  if (--untilGuarantee_ > 0) return;
  untilGuarantee_ = kGuaranteeOneIn;
  guarantee.Observe(tarcil::guarantee(made));
}

void AgentMetrics::count(const late::TaskOver& over) {
  lateTasks[static_cast<size_t>(over.outcome)]->Increment();
  if (over.outcome != late::Outcome::kDone) return;
  lateReserve.Observe(seconds(over.phases.reserve));
  lateQueue.Observe(seconds(over.phases.queue));
  lateGetTask.Observe(seconds(over.phases.getTask));
  lateService.Observe(seconds(over.phases.service));
}

void AgentMetrics::count(const late::SchedulerActions& actions) {
  lateProbes.Increment(static_cast<double>(actions.reserves.size()));
  lateCancels.Increment(static_cast<double>(actions.cancels.size()));
  for (const late::Give& give : actions.gives) lateAnswers[give.task == late::kNoTask ? 1 : 0]->Increment();
}

void AgentMetrics::countDecisions(uint64_t made, Duration together) {
  const double each = seconds(together) / static_cast<double>(made);
  for (uint64_t i = 0; i < made; ++i) decision.Observe(each);
  decisions.Increment(static_cast<double>(made));
}

void AgentMetrics::show(const AgentLogic::Load& load, bool isAttached, Duration age) {
  longestStep.Set(seconds(tarcil::longestStep().took));
  commits.Set(static_cast<double>(load.commits));
  attached.Set(isAttached ? 1 : 0);
  copyAge.Set(seconds(age));
  raiseTo(comparisons, load.comparisons);
  raiseTo(mismatches, load.mismatches);
  jobs.Set(static_cast<double>(load.jobs));
  waiting.Set(static_cast<double>(load.waiting));
  arrivals.Set(static_cast<double>(load.submissions));
  freeUnits.Set(static_cast<double>(load.freeUnits));
}

}  // namespace tarcil
