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
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/rng.h"
#include "sim/ground_truth/ground_truth.h"

namespace tarcil::sim {

// How neighbours combine.
enum class Combining : uint8_t {
  kSum,   // of their pressures
  kMean,  // the same over the server's other units
  // Each makes the task slower by a factor of its own, 1 and its pressure times what the task needs times
  // steepness over what the platform has, added up over the resources; the factors are multiplied.
  kProduct,
};

// What files and tables call them, in the order of the enumeration.
inline constexpr std::array<std::string_view, 3> kCombiningNames = {"sum", "mean", "product"};

struct ParametricOptions {
  uint16_t applications = 60;
  std::vector<uint32_t> unitsOfPlatform{16};  // by platform
  Combining combining = Combining::kSum;
  // How much slower than the best platform an application may run on another.
  double heterogeneity = 0.25;
  // Largest pressure of one task on a resource that its application leans on, in reference machines.
  double mostPressure = 0.15;
  // Phases of a task, 1 to 10, and by which part the pressures of its application are higher or lower, by
  // chance, in each but the first.
  uint32_t phases = 1;
  double phaseChange = 0;
};

class ParametricTruth final : public GroundTruth {
 public:
  ParametricTruth(const ParametricOptions& options, Rng& rng);

  uint16_t applications() const override { return known_; }
  double alone(ApplicationNumber application, PlatformNumber platform) const override;
  void speeds(PlatformNumber platform, std::span<const ApplicationNumber> tasks,
              std::span<double> speeds) override;
  uint32_t phases() const override { return static_cast<uint32_t>(applications_.size() / known_); }
  ApplicationNumber inPhase(ApplicationNumber application, uint32_t phase) const override {
    return static_cast<ApplicationNumber>(application + phase * known_);
  }

  // How fast a task runs in its first phase, of its speed alone, on a reference machine that it has to itself
  // but for a kernel that presses so hard on one resource; and, of its own, the kernel of a resource that
  // takes all of it, beside the task. Kernels press on nothing else (classifier/kernels/kernel.h).
  double besideKernel(ApplicationNumber application, size_t resource, double pressure) const;
  double kernelBeside(ApplicationNumber application, size_t resource) const;

  // What a classifier that errs so much would tell of the first phase: pressures as hundredths of the
  // reference machine; as tolerated the pressure on a resource at which an application loses a twentieth of
  // its speed. Each pressure, each demand (what is not tolerated) and each platform's speed is off by a
  // normal deviate whose mean size is `error` of itself.
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
  double borne(const Application& application, size_t resource) const;
  void addPhases(const ParametricOptions& options, Rng& rng);
  void speedsByProduct(PlatformNumber platform, std::span<const ApplicationNumber> tasks,
                       std::span<double> speeds) const;

  const uint16_t known_;                   // applications
  std::vector<Application> applications_;  // those of the first phase, of the second and so on
  std::vector<Vector> capacity_;           // by platform, in reference machines
  std::vector<uint32_t> units_;
  const Combining combining_;
};

}  // namespace tarcil::sim
