#include "metrics/metric_set.h"

#include <prometheus/text_serializer.h>

#include <algorithm>
#include <iterator>

namespace tarcil {

void GaugeByName::set(const std::map<std::string, double>& values) {
  for (auto it = gauges_.begin(); it != gauges_.end();) {
    if (!values.contains(it->first)) {
      family_.Remove(it->second);
      it = gauges_.erase(it);
    } else {
      ++it;
    }
  }
  for (const auto& [name, value] : values) {
    prometheus::Gauge*& gauge = gauges_[name];
    if (gauge == nullptr) gauge = &family_.Add({{label_, name}});
    gauge->Set(value);
  }
}

template <typename Builder>
auto& MetricSet::add(Builder builder, const MetricName& name, const std::string& help) {
  if (!name.earlier.empty()) earlier_.emplace(name.now, name.earlier);
  return builder.Name(name.now).Help(help).Register(registry_);
}

prometheus::Counter& MetricSet::counter(const MetricName& name, const std::string& help) {
  return add(prometheus::BuildCounter(), name, help).Add({});
}

prometheus::Gauge& MetricSet::gauge(const MetricName& name, const std::string& help) {
  return add(prometheus::BuildGauge(), name, help).Add({});
}

prometheus::Histogram& MetricSet::histogram(const MetricName& name, const std::string& help,
                                            const std::vector<double>& bounds) {
  return add(prometheus::BuildHistogram(), name, help).Add({}, bounds);
}

std::vector<prometheus::Counter*> MetricSet::counters(const MetricName& name, const std::string& help,
                                                      const std::string& label,
                                                      const std::vector<std::string_view>& values) {
  auto& family = add(prometheus::BuildCounter(), name, help);
  std::vector<prometheus::Counter*> all;
  for (std::string_view value : values) all.push_back(&family.Add({{label, std::string(value)}}));
  return all;
}

std::vector<prometheus::Gauge*> MetricSet::gauges(const MetricName& name, const std::string& help,
                                                  const std::string& label,
                                                  const std::vector<std::string_view>& values) {
  auto& family = add(prometheus::BuildGauge(), name, help);
  std::vector<prometheus::Gauge*> all;
  for (std::string_view value : values) all.push_back(&family.Add({{label, std::string(value)}}));
  return all;
}

GaugeByName MetricSet::gaugeByName(const MetricName& name, const std::string& help,
                                   const std::string& label) {
  return {add(prometheus::BuildGauge(), name, help), label};
}

std::string MetricSet::text() const {
  std::vector<prometheus::MetricFamily> families = registry_.Collect();
  std::vector<prometheus::MetricFamily> aliases;
  for (const prometheus::MetricFamily& family : families) {
    const auto found = earlier_.find(family.name);
    if (found == earlier_.end()) continue;
    for (const std::string& earlier : found->second) {
      prometheus::MetricFamily& alias = aliases.emplace_back(family);
      alias.name = earlier;
      alias.help = "Earlier name of " + family.name + ".";
    }
  }
  std::move(aliases.begin(), aliases.end(), std::back_inserter(families));
  return prometheus::TextSerializer().Serialize(families);
}

const std::vector<double>& timeBounds() {
  static const std::vector<double> kBounds = {1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3,
                                              5e-3, 0.01, 0.02, 0.05, 0.1,  0.2,  0.5,  1,
                                              2,    5,    10,   20,   50,   100};
  return kBounds;
}

const std::vector<double>& numberBounds() {
  static const std::vector<double> kBounds = {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10'000};
  return kBounds;
}

const std::vector<double>& shareBounds() {
  static const std::vector<double> kBounds = {0.01, 0.02, 0.05, 0.1,  0.2,   0.5,
                                              0.8,  0.9,  0.95, 0.99, 0.999, 1};
  return kBounds;
}

}  // namespace tarcil
