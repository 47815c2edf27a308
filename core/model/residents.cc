#include "core/model/residents.h"

#include <algorithm>

#include "core/model/contention.h"

namespace tarcil {

PressureSum residentBound(const JobView& resident) {
  PressureSum bound = resident.caused;
  for (size_t i = 0; i < bound.size(); ++i) {
    bound[i] = resident.tolerated[i] == kMaxPressure ? kNoResident : bound[i] + resident.tolerated[i];
  }
  return bound;
}

PressureSum noResidents() {
  PressureSum bound{};
  bound.fill(kNoResident);
  return bound;
}

void tightenBound(PressureSum& bound, const PressureSum& resident) {
  for (size_t i = 0; i < bound.size(); ++i) bound[i] = std::min(bound[i], resident[i]);
}

PressureSum slackOf(const PressureSum& bound, const PressureSum& sum, const Share& share,
                    const Pressure& background) {
  PressureSum slack{};
  for (size_t i = 0; i < slack.size(); ++i) slack[i] = bound[i] - scaled(sum[i], share[i]) - background[i];
  return slack;
}

std::optional<int32_t> boundedSlack(int32_t slack) {
  if (slack >= kNoResident / 2) return std::nullopt;
  return std::clamp(slack, -kMaxPressure, kMaxPressure);
}

int brokenResource(const PressureSum& caused, const PressureSum& slack, int noiseFloor) {
  for (int i = 0; i < kResources; ++i) {
    const auto at = static_cast<size_t>(i);
    const int32_t borne = caused[at] > noiseFloor ? std::max(0, slack[at]) : slack[at] + noiseFloor;
    if (caused[at] > 0 && caused[at] > borne) return i;
  }
  return -1;
}

}  // namespace tarcil
