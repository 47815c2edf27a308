// What tasks say of their performance, and roles of themselves.
#include <cmath>

#include "formats/metrics_text.h"
#include "monitor/logic/performance/metric_text.h"
#include "tests/fuzz/text_errors.h"
#include "tests/fuzz/text_mutation.h"

namespace tarcil::fuzz {
namespace {

void check(const Bytes& input) {
  const std::string text = textOf(input);
  if (const auto value = metricIn(text); !value) {
    requireBegins(value.error(), text.size() > kMaxMetricBytes ? "longer than" : "line ");
  } else if (*value) {
    require(std::isfinite(**value) && **value >= 0, "a metric is no number from 0 on");
  }
  for (const MetricSample& sample : parseMetrics(text)) require(!sample.name.empty(), "a metric has no name");
  describedMetrics(text);
}

}  // namespace

const Target kMetric = {"metric", check, noSeeds, mutatedText<mutatedLines>};

}  // namespace tarcil::fuzz
