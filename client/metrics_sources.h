// Where the processes of a cluster on this machine serve their metrics: what `tarcil up` leaves for
// `tarcil metrics`.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"

namespace tarcil {

struct MetricsSource {
  std::string role;     // "master", "agent", "monitor"
  std::string name;     // "master", "agent-1", "server-1"
  std::string address;  // as in rpc/address.h

  bool operator==(const MetricsSource&) const = default;
};

// <folder>/run/metrics.json: [{"role": text, "name": text, "address": address}, ...]. Unavailable where there
// is none, Invalid where it is malformed.
Result<std::vector<MetricsSource>> readMetricsSources(const std::string& folder);
Status writeMetricsSources(const std::string& folder, const std::vector<MetricsSource>& sources);

}  // namespace tarcil
