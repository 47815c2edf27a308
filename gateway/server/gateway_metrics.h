// What a gateway counts (docs/metrics.md).
#pragma once

#include "metrics/metric_set.h"

namespace tarcil::gateway {

class GatewayMetrics final {
 private:
  MetricSet set_;

 public:
  std::vector<prometheus::Counter*> requests = set_.counters(
      "tarcil_gateway_requests_total", "Requests that were answered, by the first digit of the status.",
      "status", {"2xx", "3xx", "4xx", "5xx"});
  prometheus::Counter& questions =
      set_.counter("tarcil_gateway_questions_total",
                   "Questions that were put to the cluster: other answers were repeated.");
  prometheus::Histogram& questionSeconds =
      set_.histogram("tarcil_gateway_question_seconds",
                     "From a question to the cluster to its answer as JSON.", timeBounds());
  prometheus::Counter& events =
      set_.counter("tarcil_gateway_events_total", "Events that came from the cluster.");
  prometheus::Gauge& streams =
      set_.gauge("tarcil_gateway_streams", "Streams of events and of output that are open.");
  prometheus::Gauge& connections = set_.gauge("tarcil_gateway_connections", "Connections that are open.");
  prometheus::Counter& turnedAway = set_.counter(
      "tarcil_gateway_turned_away_total", "Connections that were closed at once, since there were too many.");
  prometheus::Gauge& waiting =
      set_.gauge("tarcil_gateway_waiting_questions", "Questions that wait for a thread.");
  prometheus::Gauge& jobs = set_.gauge("tarcil_gateway_jobs", "Jobs of which the gateway has a copy.");
  prometheus::Gauge& cacheBytes =
      set_.gauge("tarcil_gateway_cache_bytes", "Answers that are kept to be repeated.");
  prometheus::Gauge& longestStep = set_.gauge("tarcil_gateway_longest_step_seconds", kLongestStepHelp);

  std::string text() const { return set_.text(); }
};

}  // namespace tarcil::gateway
