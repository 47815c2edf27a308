// What a survey of the cluster (master/logic/cluster_survey.h) says, as metrics. It is made when somebody
// reads them, in steps between which the event loop does what else there is; whoever comes meanwhile gets the
// same.
#pragma once

#include <kj/async.h>
#include <kj/timer.h>

#include <optional>
#include <string>

#include "env/clock.h"
#include "master/logic/cluster_survey.h"
#include "master/logic/master_logic.h"
#include "master/server/master_metrics.h"

namespace tarcil {

// The series of each server and application that it lists. Requires: it is complete.
std::string textOf(const ClusterSurvey& survey);

class SurveyMetrics final {
 public:
  // No sooner than this after the last one ended another begins, however often metrics are read.
  static constexpr Duration kInterval = std::chrono::seconds(1);
  // Servers and tasks in one step: about a millisecond (docs/benchmarks.md).
  static constexpr size_t kSeenAtOnce = 1'000;

  // All of them outlive this.
  SurveyMetrics(const MasterLogic& logic, kj::Timer& timer, const Clock& clock, MasterMetrics& metrics)
      : logic_(logic), timer_(timer), clock_(clock), metrics_(metrics) {}
  KJ_DISALLOW_COPY(SurveyMetrics);

  // Resolves when text() and `metrics` are of a survey that ended no longer ago than that.
  kj::Promise<void> refresh();

  // textOf() the last survey; holds until the next refresh().
  const std::string& text() const { return text_; }

 private:
  kj::Promise<void> goOn();
  void show();

  const MasterLogic& logic_;
  kj::Timer& timer_;
  const Clock& clock_;
  MasterMetrics& metrics_;
  NamedApplications named_;
  ClusterSurvey survey_{named_};
  MonotonicTime began_{};
  std::optional<MonotonicTime> ended_;  // of the last one
  std::string text_;
  bool isSurveying_ = false;
  kj::ForkedPromise<void> surveying_ = nullptr;  // while that is so
};

}  // namespace tarcil
