#include "cli/output/trouble.h"

#include <cmath>

#include "formats/text.h"

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

Json jsonOf(const TaskTrouble& trouble) {
  Json causes = Json::array();
  for (size_t i = 0; i < trouble.trouble.causes.size(); ++i) {
    causes.push_back(jsonOf(trouble.trouble.causes[i], trouble.neighbours[i]));
  }
  return {{"job", toString(trouble.job)},
          {"task", trouble.task},
          {"server", trouble.server},
          {"metric", name(trouble.trouble.metric)},
          {"expected", trouble.trouble.expected},
          {"measured", trouble.trouble.measured},
          {"since", jsonTime(trouble.trouble.since)},
          {"causes", std::move(causes)}};
}

Json jsonOf(const AdjustingStep& step) {
  return {{"at", jsonTime(step.at)}, {"task", step.task}, {"step", step.text}};
}

std::string textOf(const std::vector<TaskTrouble>& troubles, const Style& style) {
  std::string text;
  for (const TaskTrouble& trouble : troubles) {
    const Trouble& what = trouble.trouble;
    text += "  " + style.id(trouble.job) + "/" + std::to_string(trouble.task) + " on " + trouble.server +
            ": " + std::to_string(std::lround(kPercent * partOfExpected(what))) + "% of what is expected (" +
            std::string(name(what.metric)) + "), since " + style.time(what.since) + "\n";
    for (size_t i = 0; i < what.causes.size(); ++i) {
      text += "    " + withEvidence(what.causes[i], trouble.neighbours[i]) + "\n";
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
