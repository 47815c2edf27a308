#include "sim/replay/profiled_truth.h"

#include <algorithm>

namespace tarcil::sim {
namespace {

// So slow is nobody: a task that is crowded out on all resources still ends.
constexpr double kSlowest = 0.01;

}  // namespace

ProfiledTruth::ProfiledTruth(const Belief& belief, const std::vector<Pressure>& backgrounds)
    : shares_(belief.shares) {
  for (const Profile& profile : belief.profiles) {
    Application& application = applications_.emplace_back();
    application.nature = natureOf(profile.caused, profile.tolerated);
    for (size_t p = 0; p < shares_.size(); ++p) {
      application.alone.push_back(platformFactor(profile, platformName(p)));
    }
    const double best = *std::max_element(application.alone.begin(), application.alone.end());
    for (double& speed : application.alone) speed /= best;
  }
  for (const Pressure& background : backgrounds) {
    Vector& vector = backgrounds_.emplace_back();
    for (size_t r = 0; r < kResources; ++r) vector[r] = static_cast<double>(background[r]) / kMaxPressure;
  }
}

void ProfiledTruth::speeds(PlatformNumber platform, std::span<const ApplicationNumber> tasks,
                           std::span<double> speeds) {
  speedsBeside({}, platform, tasks, speeds);
}

void ProfiledTruth::speedsOn(uint32_t server, PlatformNumber platform,
                             std::span<const ApplicationNumber> tasks, std::span<double> speeds) {
  speedsBeside(backgrounds_[server], platform, tasks, speeds);
}

void ProfiledTruth::speedsBeside(const Vector& background, PlatformNumber platform,
                                 std::span<const ApplicationNumber> tasks, std::span<double> speeds) const {
  const Share& share = shares_[platform];
  Vector all{};
  for (ApplicationNumber task : tasks) {
    const Vector& pressure = applications_[task].nature.pressure;
    for (size_t r = 0; r < kResources; ++r) all[r] += pressure[r];
  }
  for (size_t i = 0; i < tasks.size(); ++i) {
    const Application& application = applications_[tasks[i]];
    Vector interference;
    for (size_t r = 0; r < kResources; ++r) {
      interference[r] = std::max(0.0, all[r] - application.nature.pressure[r]);
      // The background is measured on the server itself, what tasks cause is of a reference server.
      if (share[r] > 0) interference[r] += background[r] * kShareUnit / share[r];
    }
    speeds[i] =
        std::max(kSlowest, application.alone[platform] * speedOf(application.nature, interference, share, 0));
  }
}

}  // namespace tarcil::sim
