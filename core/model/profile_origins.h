// Where the entries of a profile come from, and how far each may be off.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "core/model/resources.h"

namespace tarcil {

enum class Origin : uint8_t {
  kStated,    // whoever wrote the profile says no more of it
  kMeasured,  // by a profiler
  kInferred,  // from applications that are alike (classifier/completion.h)
  kObserved,  // lowered, since tasks performed badly (master/learning.h)
  kAssumed,   // nothing is known: as in a profile that does not name it
};

// By the value of Origin; what files and JSON say.
inline constexpr std::array<std::string_view, 5> kOriginNames = {"stated", "measured", "inferred", "observed",
                                                                 "assumed"};

constexpr std::string_view nameOf(Origin origin) {
  return kOriginNames[static_cast<size_t>(origin)];
}

struct EntryOrigin {
  Origin origin = Origin::kStated;
  uint8_t error = 0;  // how far it may be off in the mean, in points of pressure; 0: nothing is said

  bool operator==(const EntryOrigin&) const = default;
};

struct ProfileOrigins {
  std::array<EntryOrigin, kResources> caused{}, tolerated{};

  bool operator==(const ProfileOrigins&) const = default;

  static constexpr ProfileOrigins all(Origin origin) {
    ProfileOrigins origins;
    origins.caused.fill({origin});
    origins.tolerated.fill({origin});
    return origins;
  }
};

}  // namespace tarcil
