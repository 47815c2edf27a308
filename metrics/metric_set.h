// The metrics of one role: made once at its start, changed where things happen, written as text where
// somebody asks.
#pragma once

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/time.h"

namespace tarcil {

// A gauge for each of some names that come and go, such as those of agents.
class GaugeByName final {
 public:
  GaugeByName(prometheus::Family<prometheus::Gauge>& family, std::string label)
      : family_(family), label_(std::move(label)) {}

  // These and no others are there from now on.
  void set(const std::map<std::string, double>& values);

 private:
  prometheus::Family<prometheus::Gauge>& family_;
  const std::string label_;
  std::map<std::string, prometheus::Gauge*> gauges_;
};

// What a metric is called, and was called in an earlier version: it is served by both names for one version,
// so that dashboards and alerts can be changed meanwhile.
struct MetricName {
  // NOLINTNEXTLINE(google-explicit-constructor): a plain name is one without earlier ones
  MetricName(const char* name, std::initializer_list<const char*> earlierNames = {})
      : now(name), earlier(earlierNames.begin(), earlierNames.end()) {}

  std::string now;
  std::vector<std::string> earlier;
};

// References into a set hold as long as the set. Changing a metric allocates nothing and takes tens of
// nanoseconds; it may be done on any thread.
//
// Each metric has a name with its unit at the end (seconds, bytes; counters end in _total), and a help of one
// sentence, which stands in docs/metrics.md too. Earlier names stand in no document.
class MetricSet final {
 public:
  prometheus::Counter& counter(const MetricName& name, const std::string& help);
  prometheus::Gauge& gauge(const MetricName& name, const std::string& help);
  // `bounds` rise; each is the largest value of its bucket.
  prometheus::Histogram& histogram(const MetricName& name, const std::string& help,
                                   const std::vector<double>& bounds);

  // One for each value of a label, in the order of the values.
  std::vector<prometheus::Counter*> counters(const MetricName& name, const std::string& help,
                                             const std::string& label,
                                             const std::vector<std::string_view>& values);
  std::vector<prometheus::Gauge*> gauges(const MetricName& name, const std::string& help,
                                         const std::string& label,
                                         const std::vector<std::string_view>& values);
  GaugeByName gaugeByName(const MetricName& name, const std::string& help, const std::string& label);

  // In Prometheus' text format: each metric by its name, and with the same values by its earlier ones.
  std::string text() const;

 private:
  // Takes what Prometheus' builders make of the name.
  template <typename Builder>
  auto& add(Builder builder, const MetricName& name, const std::string& help);

  std::map<std::string, std::vector<std::string>> earlier_;  // names, by the one now
  prometheus::Registry registry_;
};

// Bounds for times in seconds, from 10 microseconds to 100 seconds; for numbers of things, from 1 to 10,000;
// for shares, from 0 to 1.
const std::vector<double>& timeBounds();
const std::vector<double>& numberBounds();
const std::vector<double>& shareBounds();

// Of a gauge that every role has (env/loop_step.h).
inline constexpr const char* kLongestStepHelp =
    "Longest step of the event loop since the start, in processor time.";

inline double seconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

// For a count that is kept elsewhere: brings the counter up to it.
inline void raiseTo(prometheus::Counter& counter, uint64_t count) {
  counter.Increment(static_cast<double>(count) - counter.Value());
}

}  // namespace tarcil
