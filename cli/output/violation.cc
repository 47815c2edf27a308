#include "cli/output/violation.h"

#include <cmath>

#include "core/base/text.h"

namespace tarcil {
namespace {

constexpr double kPercent = 100;

std::string withEvidence(const Cause& cause, const std::string& neighbour) {
  return textOf(cause, neighbour) + (cause.evidence.empty() ? "" : ": " + cause.evidence);
}

Json jsonOf(const Cause& cause, const std::string& neighbour) {
  return {{"kind", name(cause.kind)},
          {"resource", cause.resource ? Json(kResourceNames[static_cast<size_t>(*cause.resource)]) : Json()},
          {"neighbour", neighbour.empty() ? Json() : Json(neighbour)},
          {"weight", cause.weight},
          {"evidence", cause.evidence}};
}

}  // namespace

Json jsonOf(const TaskViolation& violation) {
  Json causes = Json::array();
  for (size_t i = 0; i < violation.violation.causes.size(); ++i) {
    causes.push_back(jsonOf(violation.violation.causes[i], violation.neighbours[i]));
  }
  return {{"job", toString(violation.job)},
          {"number", jsonNumber(violation.number)},
          {"task", violation.task},
          {"server", violation.server},
          {"metric", name(violation.violation.metric)},
          {"expected", violation.violation.expected},
          {"measured", violation.violation.measured},
          {"since", jsonTime(violation.violation.since)},
          {"causes", std::move(causes)}};
}

Json jsonOf(const AdjustingStep& step) {
  return {{"at", jsonTime(step.at)}, {"task", step.task}, {"step", step.text}};
}

std::string textOf(const std::vector<TaskViolation>& violations, const Style& style) {
  std::string text;
  for (const TaskViolation& violation : violations) {
    const Violation& what = violation.violation;
    text += "  " + style.task(violation.number, violation.job, violation.task) + " on " + violation.server +
            ": " + std::to_string(std::lround(kPercent * partOfExpected(what))) + "% of what is expected (" +
            std::string(name(what.metric)) + "), since " + style.time(what.since) + "\n";
    for (size_t i = 0; i < what.causes.size(); ++i) {
      text += "    " + withEvidence(what.causes[i], violation.neighbours[i]) + "\n";
    }
  }
  return text;
}

std::string textOf(const std::vector<AdjustingStep>& steps, const Style& style) {
  std::string text;
  for (const AdjustingStep& step : steps) {
    text += "  " + style.time(step.at) + "  task " + std::to_string(step.task) + " " + step.text + "\n";
  }
  return text;
}

}  // namespace tarcil
