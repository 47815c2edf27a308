#include "core/model/performance.h"

#include <array>

namespace tarcil {

std::string_view name(Metric metric) {
  constexpr std::array<std::string_view, 3> kNames = {"instructions", "reported", "cpu"};
  return kNames[static_cast<size_t>(metric)];
}

std::string_view name(Cause::Kind kind) {
  constexpr std::array<std::string_view, 8> kNames = {"unknown",      "neighbour",  "background", "cores",
                                                      "memory_limit", "hypervisor", "disk",       "network"};
  return kNames[static_cast<size_t>(kind)];
}

}  // namespace tarcil
