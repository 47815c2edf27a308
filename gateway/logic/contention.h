// Servers by resources: how much more pressure their residents tolerate. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/resources.h"
#include "core/state/server_pressure.h"

namespace tarcil::gateway {

// What is there of one server.
struct ServerPressures {
  std::string name, platform, rack;
  std::string bucket{};  // its number; empty where it takes no tasks
  std::string state;     // in a word
  uint32_t units = 0, freeUnits = 0;
  PressureSum slack{};  // of its residents; kNoResident or nearly that where none bounds it
  Pressure contention{};
  ResourceSet absent{};  // resources that cannot be measured there
};

enum class RowsBy : uint8_t { kServer, kPlatform, kRack, kBucket };

// One server, or all that are alike.
struct ContentionRow {
  std::string name;
  std::string platform, rack, bucket;  // of a server; of others what they are alike in
  uint32_t servers = 0;
  std::map<std::string, uint32_t> states{};
  uint64_t units = 0, freeUnits = 0;
  std::array<std::optional<int32_t>, kResources>
      slack{};                                     // the least, from -99 to 99; none where nobody can be hurt
  std::array<std::string, kResources> at{};        // the server that has it; empty where there is none
  Pressure contention{};                           // the greatest
  std::array<uint32_t, kResources> notMeasured{};  // servers that cannot measure it
};

// By name, ascending, with servers that are in no bucket in no row of buckets. O(n log n).
std::vector<ContentionRow> contentionRows(const std::vector<ServerPressures>& servers, RowsBy by);

}  // namespace tarcil::gateway
