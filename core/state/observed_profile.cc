#include "core/state/observed_profile.h"

#include <algorithm>
#include <cmath>

namespace tarcil {
namespace {

uint8_t rounded(double pressure) {
  return static_cast<uint8_t>(std::clamp(std::ceil(pressure), 0.0, static_cast<double>(kMaxPressure)));
}

}  // namespace

// The mean and variance of West (1979), whose weights are those of a moving average once enough runs are
// known.
void Observation::add(double charged) {
  if (runs < UINT32_MAX) ++runs;
  const double weight = 1.0 / std::min(runs, kRunsRemembered), difference = charged - mean;
  mean += weight * difference;
  variance = (1 - weight) * (variance + weight * difference * difference);
}

double Observation::spread() const {
  return std::sqrt(variance);
}

bool ObservedProfile::isBelieved() const {
  return std::ranges::any_of(caused, &Observation::isBelieved);
}

uint32_t ObservedProfile::runs() const {
  return std::ranges::max(caused, {}, &Observation::runs).runs;
}

Profile withObserved(Profile profile, const ObservedProfile& observed) {
  for (size_t i = 0; i < kResources; ++i) {
    const Observation& each = observed.caused[i];
    if (!each.isBelieved()) continue;
    profile.caused[i] = rounded(each.mean);
    profile.origins.caused[i] = {Origin::kObserved, rounded(each.spread())};
  }
  return profile;
}

Profile profileFromObserved(const ObservedProfile& observed) {
  Profile profile;
  profile.application = observed.application;
  profile.origins = ProfileOrigins::all(Origin::kAssumed);
  profile = withObserved(std::move(profile), observed);
  profile.tolerated = toleratedFromCaused(profile.caused);
  return profile;
}

}  // namespace tarcil
