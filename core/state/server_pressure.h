// What a monitor measures of its server as a whole.
#pragma once

#include <string>
#include <vector>

#include "core/model/resources.h"

namespace tarcil {

// A resource whose pressure cannot be measured on this machine, and why, for people.
struct AbsentPressure {
  Resource resource{};
  std::string reason;

  std::string_view resourceName() const { return kResourceNames[static_cast<size_t>(resource)]; }

  bool operator==(const AbsentPressure&) const = default;
};

struct ServerPressure {
  std::string server;
  Pressure background{};               // pressure that no managed task explains; 0 where it is absent
  std::vector<AbsentPressure> absent;  // in the order of the resources

  bool operator==(const ServerPressure&) const = default;
};

}  // namespace tarcil
