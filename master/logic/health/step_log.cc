#include "master/logic/health/step_log.h"

#include <cmath>
#include <utility>

namespace tarcil::master {
namespace {

constexpr size_t kMaxSteps = 20;

}  // namespace

void logStep(const EventContext& context, Job& job, TaskIndex task, std::string text) {
  auto& steps = job.adjusting.steps;
  if (steps.size() == kMaxSteps) steps.erase(steps.begin());
  steps.push_back({context.now.wall, task, std::move(text)});
}

void logStep(const ViolationCase& violation, std::string text) {
  logStep(violation.context, violation.job, violation.hold.task, std::move(text));
}

std::string titleOf(const Job& job) {
  return job.record.spec.name + " (job " + std::to_string(job.record.number) + ")";
}

std::string titleOf(const Hold& hold) {
  return "task " + std::to_string(hold.task) + " of " + titleOf(*hold.job);
}

std::string unitsText(size_t units) {
  return std::to_string(units) + (units == 1 ? " unit" : " units");
}

std::string neighbourOf(const Tables& tables, const Cause& cause) {
  const Hold* hold = cause.neighbour == 0 ? nullptr : tables.jobs.holder(cause.neighbour);
  return hold == nullptr ? std::string() : titleOf(*hold);
}

std::string reasonOf(const ViolationCase& violation) {
  const Violation& reported = *violation.degraded.violation;
  std::string text =
      "performs at " + std::to_string(std::lround(100 * partOfExpected(reported))) + "% of what is expected";
  if (!reported.causes.empty()) {
    const Cause& likeliest = reported.causes.front();
    text += "; likely cause: " + textOf(likeliest, neighbourOf(violation.tables, likeliest));
  }
  return text;
}

}  // namespace tarcil::master
