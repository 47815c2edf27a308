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
void Observation::add(double value) {
  if (runs < UINT32_MAX) ++runs;
  const double weight = 1.0 / std::min(runs, kRunsRemembered), difference = value - mean;
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

void ObservedProfile::addPerformance(const std::string& platform, Metric metric, uint32_t rus, double reached,
                                     WallTime now) {
  auto found = std::ranges::find_if(performances, [&](const ObservedPerformance& each) {
    return each.platform == platform && each.metric == metric && each.rus == rus;
  });
  if (found == performances.end()) {
    if (performances.size() >= kMaxObservedPerformances) {
      performances.erase(std::ranges::min_element(performances, {}, &ObservedPerformance::last));
    }
    performances.push_back({.platform = platform, .metric = metric, .rus = rus});
    found = performances.end() - 1;
  }
  found->reached.add(reached);
  found->last = now;
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

Profile knownProfile(const StoredProfile* stored, const ObservedProfile* observed) {
  if (stored == nullptr) return profileFromObserved(*observed);
  return observed == nullptr ? stored->profile : withObserved(stored->profile, *observed);
}

std::map<std::string, double> expectedAfter(const ObservedProfile& observed, const PerformanceGoal& goal,
                                            uint32_t rus) {
  std::map<std::string, double> expected;
  for (const ObservedPerformance& each : observed.performances) {
    if (each.metric != goal.metric || each.rus != rus || !each.reached.isBelieved()) continue;
    const double mean = each.reached.mean, least = mean - 2 * each.reached.spread();
    // A task is degraded below (1 - deviation) of what is expected.
    const double value = std::min(mean, least / (1 - goal.deviation));
    if (value > 0) expected[each.platform] = value;
  }
  return expected;
}

}  // namespace tarcil
