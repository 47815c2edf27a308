#include "classifier/assumed_profile.h"

#include <algorithm>
#include <functional>
#include <vector>

namespace tarcil {
namespace {

// The value that a tenth of them comes before, or reaches, when they are sorted by `before`; `none` where
// there are none.
template <typename Before>
uint8_t tenth(std::vector<uint8_t> values, Before before, uint8_t none) {
  if (values.empty()) return none;
  std::ranges::sort(values, before);
  return values[(values.size() - 1) / 10];
}

}  // namespace

Profile assumedProfile(std::span<const PartialProfile> known) {
  Profile profile;
  profile.isAssumed = true;
  profile.origins = ProfileOrigins::all(Origin::kAssumed);
  for (size_t i = 0; i < kResources; ++i) {
    std::vector<uint8_t> caused, tolerated;
    for (const PartialProfile& application : known) {
      if (application.caused[i]) caused.push_back(std::min<uint8_t>(*application.caused[i], kMaxPressure));
      if (application.tolerated[i])
        tolerated.push_back(std::min<uint8_t>(*application.tolerated[i], kMaxPressure));
    }
    profile.caused[i] = tenth(std::move(caused), std::greater<>(), 0);
    const auto otherwise = static_cast<uint8_t>(kMaxPressure - profile.caused[i]);
    profile.tolerated[i] = std::min(tenth(std::move(tolerated), std::less<>(), otherwise), kMaxAssumed);
  }
  return profile;
}

}  // namespace tarcil
