// Where the entries of a profile come from, and how far each may be off.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "core/model/resources.h"

namespace tarcil {

enum class Origin : uint8_t {
  kStated,    // whoever wrote the profile says no more of it
  kMeasured,  // by a profiler
  kInferred,  // from applications that are alike (classifier/completion.h)
  // Of what is tolerated: lowered, since tasks performed badly (master/logic/health/learning.h). Of what is
  // caused: measured in runs (core/state/observed_profile.h).
  kObserved,
  kAssumed,  // nothing is known: as in a profile that does not name it
};

// By the value of Origin; what files and JSON say.
inline constexpr std::array<std::string_view, 5> kOriginNames = {"stated", "measured", "inferred", "observed",
                                                                 "assumed"};

constexpr std::string_view nameOf(Origin origin) {
  return kOriginNames[static_cast<size_t>(origin)];
}

struct EntryOrigin {
  Origin origin = Origin::kStated;
  // How far it may be off in the mean; 0: nothing is said. In points of pressure, or, of performance on a
  // platform, in hundredths of that on the best one. At most 99.
  uint8_t error = 0;

  bool operator==(const EntryOrigin&) const = default;
};

struct ProfileOrigins {
  std::array<EntryOrigin, kResources> caused{}, tolerated{};
  // By name of a listed platform. Of one that is not here, whoever wrote the profile says no more of it: an
  // EntryOrigin() is never kept.
  std::map<std::string, EntryOrigin> platforms{};

  bool operator==(const ProfileOrigins&) const = default;

  // Of all pressures.
  static ProfileOrigins all(Origin origin) {
    ProfileOrigins origins;
    origins.caused.fill({origin});
    origins.tolerated.fill({origin});
    return origins;
  }

  EntryOrigin ofPlatform(const std::string& name) const {
    const auto found = platforms.find(name);
    return found == platforms.end() ? EntryOrigin() : found->second;
  }
  void setPlatform(const std::string& name, const EntryOrigin& origin) {
    platforms.erase(name);
    if (origin != EntryOrigin()) platforms[name] = origin;
  }
};

}  // namespace tarcil
