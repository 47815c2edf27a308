#include "master/logic/health/violation_reports.h"

#include <utility>

#include "master/logic/health/learning.h"
#include "master/logic/health/step_log.h"
#include "master/logic/health/throttling.h"
#include "master/logic/health/violation_handler.h"

namespace tarcil::master {
namespace {

// What is kept of a report on one task: every query shows it.
constexpr size_t kMaxCauses = 8;
constexpr size_t kMaxEvidence = 256;

// Not within a character of UTF-8.
void cut(std::string& text, size_t most) {
  if (text.size() <= most) return;
  const auto isWithin = [&text](size_t at) { return (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80; };
  while (most > 0 && isWithin(most)) --most;
  text.resize(most);
}

Violation bounded(Violation violation) {
  std::erase_if(violation.causes,
                [](const Cause& cause) { return !(cause.weight >= 0 && cause.weight <= 1); });
  if (violation.causes.size() > kMaxCauses) violation.causes.resize(kMaxCauses);
  for (Cause& cause : violation.causes) cut(cause.evidence, kMaxEvidence);
  return violation;
}

void takeViolation(EventContext& context, const Violation& violation) {
  ViolationTable& violations = context.tables.violations;
  const AllocationId allocation = violation.allocation;
  DegradedTask* known = violations.find(allocation);
  DegradedTask& degraded = known != nullptr ? *known : violations.add(allocation);
  const bool isNew = !degraded.violation;
  degraded.violation = bounded(violation);
  if (!isNew) return;  // there is a step due already
  const std::vector<Cause>& causes = degraded.violation->causes;
  ++context.tables
        .violationsBegun[static_cast<size_t>(causes.empty() ? Cause::Kind::kUnknown : causes.front().kind)];
  degraded.calm = known == nullptr ? context.tables.options.adjustingCalm : longerCalm(degraded.calm);
  violations.due.set(allocation, context.now.steady + context.tables.options.adjustingPause);
  if (!isThrottled(context.tables, allocation)) {
    learnFrom(context, *context.tables.jobs.holder(allocation), violation);
  }
  ViolationCase handled(context, allocation, degraded);
  takeNextStep(handled);
}

}  // namespace

void takeViolations(EventContext& context, const ViolationsReported& event) {
  for (const Violation& violation : event.violations) {
    if (holderFor(context.tables, violation.allocation, event.session) == nullptr) continue;
    const Reached reached{violation.expected, violation.measured};
    if (isSound(reached)) context.tables.performances[violation.allocation] = reached;
    if (!violation.over) {
      if (!isSound(reached)) continue;
      takeViolation(context, violation);
    } else if (DegradedTask* degraded = context.tables.violations.find(violation.allocation)) {
      ViolationCase handled(context, violation.allocation, *degraded);
      endViolation(handled);
    }
  }
}

void takePerformance(EventContext& context, const PerformanceReported& event) {
  for (const PerformanceSample& sample : event.samples) {
    if (!isSound(sample.reached)) continue;
    if (holderFor(context.tables, sample.allocation, event.session) == nullptr) continue;
    context.tables.performances[sample.allocation] = sample.reached;
  }
}

std::optional<TaskViolation> violationOf(const Tables& tables, const Hold& hold) {
  const TaskRecord& task = hold.job->tasks[hold.task];
  const DegradedTask* degraded = tables.violations.find(task.allocation);
  if (degraded == nullptr || !degraded->violation) return std::nullopt;
  TaskViolation view{.job = task.job,
                     .number = hold.job->record.number,
                     .task = task.index,
                     .server = task.server,
                     .violation = *degraded->violation,
                     .neighbours = {}};
  for (const Cause& cause : view.violation.causes) view.neighbours.push_back(neighbourOf(tables, cause));
  return view;
}

}  // namespace tarcil::master
