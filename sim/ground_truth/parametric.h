// A truth out of random numbers: applications that press on some resources, bear something, and slow down
// above that each in its own way.
//
// Pressures and needs are amounts: 1 is all that a reference machine of 16 units has of a resource. A task
// beside others feels what they cause together (or what each of the server's other units causes on average,
// times their number on a reference machine); of a platform's amount it needs its own, and where those two
// exceed what the platform has by a part x of it, it takes `steepness * x * (1 + bend * x)` more time, added
// up over the resources: convex, unbounded, without clamp and without a worst resource that hides the others.
#pragma once

#include <array>
#include <vector>

#include "core/base/rng.h"
#include "sim/ground_truth/ground_truth.h"

namespace tarcil::sim {

// How neighbours' pressures combine.
enum class Combining : uint8_t { kSum, kMean };

struct ParametricOptions {
  uint16_t applications = 60;
  std::vector<uint32_t> unitsOfPlatform{16};  // by platform
  Combining combining = Combining::kSum;
  // How much slower than the best platform an application may run on another.
  double heterogeneity = 0.25;
  // Largest pressure of one task on a resource that its application leans on, in reference machines.
  double mostPressure = 0.15;
};

class ParametricTruth final : public GroundTruth {
 public:
  ParametricTruth(const ParametricOptions& options, Rng& rng);

  uint16_t applications() const override { return static_cast<uint16_t>(applications_.size()); }
  double alone(ApplicationNumber application, PlatformNumber platform) const override;
  void speeds(PlatformNumber platform, std::span<const ApplicationNumber> tasks,
              std::span<double> speeds) override;

  // What a classifier would tell: pressures as hundredths of the reference machine; as tolerated the pressure
  // on a resource at which an application loses a twentieth of its speed. Each pressure, each demand (what is
  // not tolerated) and each platform's speed is off by a normal deviate whose mean size is `error` of itself.
  Belief belief(double error, Rng& rng) const;

 private:
  using Vector = std::array<double, kResources>;

  struct Application {
    Vector pressure{}, need{}, steepness{}, bend{};
    std::vector<double> alone;  // by platform
  };

  // What an application loses no more than at the pressure that it is said to bear.
  static constexpr double kBorneLoss = 0.05;

  static double slowdown(const Application& application, const Vector& interference, const Vector& capacity);
  static double borne(const Application& application, size_t resource);

  std::vector<Application> applications_;
  std::vector<Vector> capacity_;  // by platform, in reference machines
  std::vector<uint32_t> units_;
  const Combining combining_;
};

}  // namespace tarcil::sim
