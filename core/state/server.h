// One server as the shared state knows it: facts that its monitor registered, and the status that changes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/model/byte_resources.h"
#include "core/model/job.h"
#include "core/model/residents.h"
#include "core/model/resources.h"
#include "core/state/extras.h"
#include "core/state/ru_set.h"

namespace tarcil {

// A server's number in the shared state: dense from 0, given by the master at the first registration, kept
// for ever.
using ServerId = uint32_t;

// Of a cluster, also those that are gone: tables have a place for each number.
inline constexpr uint32_t kMaxServers = 200'000;

// That servers of a cluster are of, or have shares, since the master's start: agents number them.
inline constexpr size_t kMaxPlatforms = 1'000;

inline constexpr uint32_t kMaxServerRus = 4'096;

// What all tasks of a server can cause together, of each resource.
inline constexpr int32_t kMaxServerCaused = kMaxPressure * static_cast<int32_t>(kMaxServerRus);

// What a monitor registers.
struct ServerFacts {
  std::string name;  // unique in the cluster
  std::string platform;
  std::string rack;
  std::map<std::string, std::string> attributes;  // besides platform, rack and server
  uint32_t rus = 0;
  Extras extras{};                   // countable things, numbered from 0 within each kind
  uint32_t cores = 0;                // fewer than rus where units share cores (for trying things out)
  uint64_t memoryBytes = 0;          // of all resource units together; 0: not counted
  uint32_t memoryOvercommit = 100;   // how much of it tasks may claim together, in percent
  uint64_t diskBytes = 0;            // for work folders, of all units together; 0: not counted
  std::string address;               // where agents reach its monitor
  bool emulated = false;             // its tasks are timers
  std::vector<std::string> missing;  // what the machine cannot limit or measure, e.g. "perf", "resctrl"

  bool operator==(const ServerFacts&) const = default;
};

// The attributes that constraints see: the server's own, and "platform", "rack" and "server".
std::map<std::string, std::string> constraintAttributes(const ServerFacts& facts);

// At most kMaxMemoryOvercommit times what there is.
inline constexpr uint32_t kMaxMemoryOvercommit = 10'000;  // percent

ByteSupply byteSupplyOf(const ServerFacts& facts);

// Whether the server meets all of them.
bool meets(const ServerFacts& facts, const std::vector<Constraint>& constraints);

// The attribute's value as constraints see it; nullopt where the server does not have it. Valid as long as
// the facts.
std::optional<std::string_view> attributeOf(const ServerFacts& facts, std::string_view name);

// Tasks of one server that cause and tolerate the same, and are protected alike.
struct ResidentGroup {
  Pressure caused{};  // each of them, unscaled
  Pressure tolerated{};
  uint16_t count = 1;     // at most kMaxServerRus
  bool isStrict = false;  // JobSpec::isStrict()

  bool operator==(const ResidentGroup&) const = default;
};

// The absolute state of a server at a version.
struct ServerStatus {
  uint64_t version = 0;  // rises with each change of this server
  bool up = false;       // its monitor is attached
  bool cordoned = false;
  bool quarantined = false;  // cordoned by the master, as tasks could not be started there: for a while
  bool removed = false;      // down for good as far as anybody knows: no job counts on it
  RuSet free;
  FreeExtras freeExtras{};            // of the kinds in the facts
  ByteResources allocated{};          // that its tasks claim together
  PressureSum sum{};                  // caused pressures of all its tasks, unscaled, unclamped
  PressureSum bound = noResidents();  // G of docs/design.md, as it arrives on the platform
  Pressure background{};              // pressure that no managed task explains
  // Its tasks but the late-bound, whose pressure is in the sum alone; ascending by what they cause, then by
  // what they tolerate, those that are strict last.
  std::vector<ResidentGroup> residents{};

  bool operator==(const ServerStatus&) const = default;
};

// What travels to agents. Facts only when the receiver may not have them.
struct ServerUpdate {
  ServerId id = 0;
  std::optional<ServerFacts> facts;
  ServerStatus status;

  bool operator==(const ServerUpdate&) const = default;
};

}  // namespace tarcil
