// From a few measured entries to a whole profile, by what other applications are like (Tarcil section 2;
// Quasar section 3.2). This is what the rest of tarcil calls.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "classifier/platform_completion.h"
#include "core/model/profile.h"

namespace tarcil {

// As much as was measured of an application. Pressures above 99 count as 99.
struct PartialProfile {
  std::string application;
  std::array<std::optional<uint8_t>, kResources> tolerated{};
  std::array<std::optional<uint8_t>, kResources> caused{};
  PlatformSpeeds platforms;  // empty: on none

  bool operator==(const PartialProfile&) const = default;
};

// The entries of a profile that its origins say were measured; what was inferred is never known. Performance
// on platforms is relative to the best of all that the profile lists: ratios are what counts.
PartialProfile measuredOf(const Profile& profile);

// Where an entry comes from and how far it may be off.
struct Confidence {
  Origin origin = Origin::kAssumed;
  // Mean absolute error to expect, in points of pressure; 0 where measured, 99 where nothing tells.
  double expectedError = kMaxPressure;
};

struct CompletedProfile {
  // Every pressure in [0, 99]. What is unknown is as in a profile that does not say it: nothing caused, and
  // 99 - caused tolerated.
  Profile profile;
  std::array<Confidence, kResources> tolerated{};
  std::array<Confidence, kResources> caused{};
  std::map<std::string, CompletedPlatform> platforms;
  // How many known applications this was inferred from. 0: only what was measured is more than a guess.
  size_t knownApplications = 0;
};

// Made when the known applications change, asked for each new one. Constant after construction: safe to call
// from any thread. Requires of all profiles: performances on platforms are above 0 and finite.
class ProfileCompleter {
 public:
  // For 1,000 applications within a second. One that is asked for later and is also among the known ones
  // counts as known: leave it out to have its new measurements stand alone.
  explicit ProfileCompleter(std::span<const PartialProfile> known, const CompleterOptions& options = {});

  // Milliseconds. Measured entries stay as they are.
  CompletedProfile complete(const PartialProfile& measured) const;

  // The resources to measure of a new application first, the most telling one first; each is taken to
  // give both what is tolerated and what is caused. In the order of resources where nothing is known that
  // would tell.
  std::vector<Resource> mostTelling(size_t count) const;

  // How pressures are completed, and how far that is off.
  const MethodChoice& choice() const { return pressures_.choice(); }
  // Where a new application's performance is to be measured first; empty where none is known.
  const std::string& referencePlatform() const { return platforms_.reference(); }

 private:
  Completer pressures_;
  PlatformCompleter platforms_;
};

}  // namespace tarcil
