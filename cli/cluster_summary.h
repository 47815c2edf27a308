// The cluster at a glance: what there is of it, and what waits.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "cli/cluster.h"
#include "cli/output/server_details.h"
#include "cli/output/table.h"
#include "core/base/time.h"
#include "formats/json.h"

namespace tarcil {

// How many there are of what, by a word for it.
using Counts = std::map<std::string, size_t>;
// "1 down, 3 up"; `none` where there are none.
std::string countsText(const Counts& counts, const std::string& none);

struct ClusterSummary {
  ServerList servers{};
  Counts states{};                    // of servers
  uint64_t units = 0, freeUnits = 0;  // of servers that are up; free where these take tasks
  Counts agents{};                    // attached, away
  uint32_t waiting = 0;               // jobs of all users
};
ClusterSummary fetchSummary(Cluster& cluster);

// Its keys and its lines, the warning of the servers not among the lines.
Json jsonOf(const ClusterSummary& summary);
Fields fieldsOf(const ClusterSummary& summary);

// That, and the caller's jobs; an operator's: everybody's. Of the newest 10,000.
struct ClusterStatus {
  ClusterSummary summary{};
  Counts unfinished{}, endedBadly{};  // by state; the latter submitted within a day
};
ClusterStatus fetchStatus(Cluster& cluster, WallTime now);

// As `status --json` shows it.
Json jsonOf(const ClusterStatus& status);

}  // namespace tarcil
