// Reads Prometheus' text format, as far as the roles write it (metrics/).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tarcil {

struct MetricSample {
  std::string name;
  std::map<std::string, std::string> labels;
  double value = 0;

  bool operator==(const MetricSample&) const = default;
};

// What the lines say that are no comments; lines that say nothing of the kind are left out.
std::vector<MetricSample> parseMetrics(std::string_view text);

// The metrics that the comments describe, by name: "# HELP name help" and "# TYPE name type".
struct MetricDescription {
  std::string type, help;
  bool operator==(const MetricDescription&) const = default;
};
std::map<std::string, MetricDescription> describedMetrics(std::string_view text);

}  // namespace tarcil
