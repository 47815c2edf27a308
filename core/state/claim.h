// What an agent asks of the shared state and what it is told (docs/protocol.md).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/model/contention.h"
#include "core/model/profile.h"
#include "core/model/quality.h"
#include "core/state/server.h"

namespace tarcil {

// How an agent judged the claims of a commit, as the settings that it knew and the job have it: they are
// judged in the same way again where a server has changed meanwhile.
struct Judging {
  QualityModel model = QualityModel::kComponentwise;
  ContentionModel contention = ContentionModel::kSum;
  int margin = 0;
  int noiseFloor = kDefaultNoiseFloor;
  bool protectNeighbours = true;
  double neighbourFloor = kDefaultNeighbourFloor;  // as QualitySettings

  bool operator==(const Judging&) const = default;
};

// A slot for one task: `rus` units of one server.
struct Claim {
  TaskIndex task = 0;
  uint32_t attempt = 0;
  ServerId server = 0;
  uint32_t rus = 1;
  std::vector<RuIndex> preferred;  // the master may give others of the same server: they are equal
  uint64_t versionSeen = 0;        // of the server, when it was judged
  double floor = 0;                // least S at which the claim still holds: the lower of target and S seen
  double q = 0, s = 0;             // as judged by the agent; kept for people

  bool operator==(const Claim&) const = default;
};

enum class Verdict : uint8_t {
  kGranted,
  kUnknownServer,
  kServerDown,
  kCordoned,
  kNotFree,          // fewer free units than asked
  kBelowFloor,       // the server changed and S fell below the floor
  kBreaksNeighbour,  // the server changed and a resident could not bear the claim
  kTaskNotWaiting,   // the task has a slot, has ended, or is at another attempt
  kNotAll,           // gang: another claim of the commit was refused
  kNoExtras,         // fewer countable things free than asked
  kNoMemory,         // less memory left than claimed
  kNoDisk,           // less disk left than claimed
};

const char* name(Verdict verdict);

// The master's word on one claim.
struct Grant {
  Verdict verdict = Verdict::kGranted;
  AllocationId allocation = 0;  // where granted
  std::vector<RuIndex> rus{};   // where granted
  ExtraNumbers extras{};        // where granted

  bool operator==(const Grant&) const = default;
};

}  // namespace tarcil
