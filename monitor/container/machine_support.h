// What this machine lets a monitor measure.
#pragma once

#include <string>

namespace tarcil {

// Instructions, cycles and cache misses can be counted (perf_event_open); virtual machines often cannot.
bool hasHardwareCounters();

// Cache occupancy and memory bandwidth per task can be read; `resctrl`: where that file system is mounted.
bool hasResctrl(const std::string& resctrl);

}  // namespace tarcil
