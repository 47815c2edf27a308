#include "metrics/metric_set.h"

#include <prometheus/text_serializer.h>

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

prometheus::Counter& MetricSet::counter(const std::string& name, const std::string& help) {
  return prometheus::BuildCounter().Name(name).Help(help).Register(registry_).Add({});
}

prometheus::Gauge& MetricSet::gauge(const std::string& name, const std::string& help) {
  return prometheus::BuildGauge().Name(name).Help(help).Register(registry_).Add({});
}

prometheus::Histogram& MetricSet::histogram(const std::string& name, const std::string& help,
                                            const std::vector<double>& bounds) {
  return prometheus::BuildHistogram().Name(name).Help(help).Register(registry_).Add({}, bounds);
}

std::vector<prometheus::Counter*> MetricSet::counters(const std::string& name, const std::string& help,
                                                      const std::string& label,
                                                      const std::vector<std::string_view>& values) {
  auto& family = prometheus::BuildCounter().Name(name).Help(help).Register(registry_);
  std::vector<prometheus::Counter*> all;
  for (std::string_view value : values) all.push_back(&family.Add({{label, std::string(value)}}));
  return all;
}

std::vector<prometheus::Gauge*> MetricSet::gauges(const std::string& name, const std::string& help,
                                                  const std::string& label,
                                                  const std::vector<std::string_view>& values) {
  auto& family = prometheus::BuildGauge().Name(name).Help(help).Register(registry_);
  std::vector<prometheus::Gauge*> all;
  for (std::string_view value : values) all.push_back(&family.Add({{label, std::string(value)}}));
  return all;
}

GaugeByName MetricSet::gaugeByName(const std::string& name, const std::string& help,
                                   const std::string& label) {
  return {prometheus::BuildGauge().Name(name).Help(help).Register(registry_), label};
}

std::string MetricSet::text() const {
  return prometheus::TextSerializer().Serialize(registry_.Collect());
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
