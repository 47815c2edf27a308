#include "core/model/profile.h"

namespace tarcil {

Pressure toleratedFromCaused(const Pressure& caused) {
  return demandOf(caused);
}

Pressure demandOf(const Pressure& tolerated) {
  Pressure demand{};
  for (size_t i = 0; i < demand.size(); ++i) demand[i] = static_cast<uint8_t>(kMaxPressure - tolerated[i]);
  return demand;
}

double platformFactor(const Profile& profile, const std::string& platform) {
  if (profile.platforms.empty()) return 1.0;
  if (auto it = profile.platforms.find(platform); it != profile.platforms.end()) return it->second;
  double sum = 0;
  for (const auto& [name, factor] : profile.platforms) sum += factor;
  return sum / static_cast<double>(profile.platforms.size());
}

}  // namespace tarcil
