// What a monitor measures of its server as a whole.
#pragma once

#include <bitset>
#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/model/resources.h"

namespace tarcil {

// A resource whose pressure cannot be measured on this machine, and why, for people.
struct AbsentPressure {
  Resource resource{};
  std::string reason;

  std::string_view resourceName() const { return kResourceNames[static_cast<size_t>(resource)]; }

  bool operator==(const AbsentPressure&) const = default;
};

using ResourceSet = std::bitset<kResources>;

// What one task puts on its server, as it arrives there.
struct TaskPressure {
  AllocationId allocation = 0;
  Pressure caused{};  // 0 where it was not measured
  ResourceSet measured{};

  bool operator==(const TaskPressure&) const = default;
};

// What placement takes a task to cause: what its profile says, and in its place what was measured, on a
// server of the reference platform.
struct TaskCharge {
  TaskIndex task = 0;
  Pressure caused{};
  ResourceSet measured{};

  bool operator==(const TaskCharge&) const = default;
};

struct ServerPressure {
  std::string server;
  Pressure background{};               // pressure that no managed task explains; 0 where it is absent
  std::vector<AbsentPressure> absent;  // in the order of the resources
  std::vector<TaskPressure> tasks{};   // of those measured for long enough, by allocation

  bool operator==(const ServerPressure&) const = default;
};

}  // namespace tarcil
