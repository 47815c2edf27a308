// The files of resctrl (the kernel's file system for cache and memory-bandwidth monitoring). Pure,
// as machine_files.h.
#pragma once

#include <vector>

#include "monitor/logic/pressure/counters.h"
#include "monitor/logic/pressure/kernel_text.h"

namespace tarcil {

// mon_data/mon_L3_<domain>/llc_occupancy or mbm_total_bytes. kNotFound where the kernel says "Unavailable" or
// "Error", which it does for a moment after a group has been made.
Result<uint64_t> parseCacheNumber(const KernelFile& file);

// info/L3_MON/mon_features: what is counted at all. kNotFound unless both occupancy and bandwidth are.
Status parseCacheFeatures(const KernelFile& file);

// The threads in a cgroup's file of them: cgroup.threads of version 2, `tasks` of version 1.
Result<std::vector<uint64_t>> parseThreads(const KernelFile& file);

}  // namespace tarcil
