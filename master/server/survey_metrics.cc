#include "master/server/survey_metrics.h"

#include <limits>

#include "env/loop_step.h"
#include "metrics/series_text.h"
#include "rpc/turns.h"

namespace tarcil {
namespace {

std::string textOfServers(const ClusterSurvey& survey) {
  SeriesText contention("tarcil_master_server_contention",
                        "Contention, 0 to 99, of the server's most contended resource.");
  SeriesText slack("tarcil_master_server_least_slack",
                   "Least pressure, -99 to 99, that the server's tasks tolerate beyond what there is, of its "
                   "resources; absent where none of them can be disturbed.");
  for (const ClusterSurvey::ListedServer& server : survey.servers()) {
    contention.add({{"server", server.name}}, server.contention);
    if (server.slack) slack.add({{"server", server.name}}, *server.slack);
  }
  return contention.text() + slack.text();
}

std::string textOfApplications(const ClusterSurvey& survey) {
  SeriesText tasks(
      "tarcil_master_application_tasks",
      "Tasks on servers, by application; those without one, and of applications beyond the bound, "
      "have an empty name.");
  SeriesText degraded("tarcil_master_application_degraded_tasks",
                      "Of them, those that perform below what is expected.");
  SeriesText pressure("tarcil_master_application_pressure",
                      "Pressure, 0 to 99, that a task of the application causes in the mean: as its profile "
                      "declares, and as measured; NaN where that is of none.");
  const auto mean = [](uint64_t sum, uint64_t count) {
    return count == 0 ? std::numeric_limits<double>::quiet_NaN()
                      : static_cast<double>(sum) / static_cast<double>(count);
  };
  for (const ClusterSurvey::OfApplication& application : survey.applications()) {
    tasks.add({{"application", application.name}}, static_cast<double>(application.tasks));
    degraded.add({{"application", application.name}}, static_cast<double>(application.degraded));
    for (size_t i = 0; i < kResources; ++i) {
      const auto add = [&](std::string_view kind, double value) {
        pressure.add({{"application", application.name}, {"resource", kResourceNames[i]}, {"kind", kind}},
                     value);
      };
      add("declared", mean(application.declared[i], application.tasks));
      add("measured", mean(application.measured[i], application.measuredTasks[i]));
    }
  }
  return tasks.text() + degraded.text() + pressure.text();
}

}  // namespace

std::string textOf(const ClusterSurvey& survey) {
  return textOfServers(survey) + textOfApplications(survey);
}

kj::Promise<void> SurveyMetrics::refresh() {
  if (!isSurveying_) {
    const MonotonicTime now = clock_.now().steady;
    if (ended_ && now < *ended_ + kInterval) return kj::READY_NOW;
    survey_ = ClusterSurvey(named_);
    began_ = now;
    isSurveying_ = true;
    surveying_ = nextTurn(timer_)
                     .then([this]() { return goOn(); })
                     .attach(kj::defer([this]() { isSurveying_ = false; }))
                     .fork();
  }
  return surveying_.addBranch();
}

kj::Promise<void> SurveyMetrics::goOn() {
  {
    const LoopStep step("a part of the master's survey for metrics");
    if (logic_.goOn(survey_, kSeenAtOnce)) {
      show();
      return kj::READY_NOW;
    }
  }
  return nextTurn(timer_).then([this]() { return goOn(); });
}

void SurveyMetrics::show() {
  ended_ = clock_.now().steady;
  metrics_.show(survey_, *ended_ - began_);
  text_ = textOf(survey_);
  survey_ = ClusterSurvey(named_);
}

}  // namespace tarcil
