// How much of the cluster users have used.
#pragma once

#include <vector>

#include "cli/cluster.h"
#include "core/state/usage.h"
#include "formats/json.h"

namespace tarcil {

// The caller's own; an operator's: everybody's, by name.
std::vector<Usage> fetchUsages(Cluster& cluster);

inline double ruSeconds(const Usage& usage) {
  return static_cast<double>(usage.ruMicroseconds) / 1e6;
}

// As `usage --json` lists them.
Json jsonOf(const std::vector<Usage>& usages);

}  // namespace tarcil
