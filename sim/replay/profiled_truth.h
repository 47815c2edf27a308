// The truth about a recorded cluster, as far as there is one: nobody measured how its jobs bear one another,
// so they are taken to be as their profiles say, and to slow one another down as on emulated servers
// (monitor/logic/emulated_truth.h; no formula of the scheduler is in it).
#pragma once

#include <vector>

#include "monitor/logic/emulated_truth.h"
#include "sim/ground_truth/ground_truth.h"

namespace tarcil::sim {

class ProfiledTruth final : public GroundTruth {
 public:
  // Of applications and platforms by their numbers, and of servers by theirs the pressure that no
  // job explains.
  ProfiledTruth(const Belief& belief, const std::vector<Pressure>& backgrounds);

  uint16_t applications() const override { return static_cast<uint16_t>(applications_.size()); }
  double alone(ApplicationNumber application, PlatformNumber platform) const override {
    return applications_[application].alone[platform];
  }
  void speeds(PlatformNumber platform, std::span<const ApplicationNumber> tasks,
              std::span<double> speeds) override;
  void speedsOn(uint32_t server, PlatformNumber platform, std::span<const ApplicationNumber> tasks,
                std::span<double> speeds) override;

 private:
  using Vector = std::array<double, kResources>;

  struct Application {
    TrueNature nature;
    std::vector<double> alone;  // by platform
  };

  void speedsBeside(const Vector& background, PlatformNumber platform,
                    std::span<const ApplicationNumber> tasks, std::span<double> speeds) const;

  std::vector<Application> applications_;
  std::vector<Share> shares_;
  std::vector<Vector> backgrounds_;  // by server, as they arrive there
};

}  // namespace tarcil::sim
