#include "sim/ground_truth/parametric.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "monitor/logic/overload.h"
#include "sim/chance.h"

namespace tarcil::sim {
namespace {

// Units of the server whose resources count as 1.
constexpr double kReferenceUnits = 16;

// The mean size of a normal deviate of deviation 1.
const double kMeanSize = std::sqrt(2 / std::numbers::pi);

uint8_t asPressure(double fraction) {
  return static_cast<uint8_t>(std::lround(std::clamp(fraction, 0.0, 1.0) * kMaxPressure));
}

}  // namespace

ParametricTruth::ParametricTruth(const ParametricOptions& options, Rng& rng)
    : known_(options.applications), units_(options.unitsOfPlatform), combining_(options.combining) {
  for (uint32_t units : units_) {
    Vector& capacity = capacity_.emplace_back();
    // Larger servers have more of everything, though not in proportion.
    for (double& of : capacity) of = std::pow(units / kReferenceUnits, 0.8) * between(0.85, 1.15, rng);
  }
  for (uint16_t i = 0; i < options.applications; ++i) {
    Application& application = applications_.emplace_back();
    for (size_t r = 0; r < kResources; ++r) {
      // Three resources in ten are what an application leans on; whether it suffers there is
      // another question.
      const bool presses = rng.below(10) < 3, suffers = rng.below(10) < 4;
      application.pressure[r] = presses ? between(0.2, 1, rng) * options.mostPressure : between(0, 0.01, rng);
      application.need[r] = suffers ? between(0.05, 0.25, rng) : between(0, 0.05, rng);
      application.steepness[r] = suffers ? between(0.5, 2.5, rng) : between(0.1, 0.5, rng);
      application.bend[r] = between(0, 1.5, rng);
    }
    double best = 0;
    for (size_t p = 0; p < units_.size(); ++p) {
      application.alone.push_back(1 - options.heterogeneity * between(0, 1, rng));
      best = std::max(best, application.alone.back());
    }
    for (double& speed : application.alone) speed /= best;
  }
  addPhases(options, rng);
}

void ParametricTruth::addPhases(const ParametricOptions& options, Rng& rng) {
  for (uint32_t phase = 1; phase < options.phases; ++phase) {
    for (uint16_t i = 0; i < known_; ++i) {
      Application later = applications_[i];
      for (double& pressure : later.pressure) {
        pressure *= between(1 - options.phaseChange, 1 + options.phaseChange, rng);
      }
      applications_.push_back(std::move(later));
    }
  }
}

double ParametricTruth::alone(ApplicationNumber application, PlatformNumber platform) const {
  return applications_[application].alone[platform];
}

double ParametricTruth::slowdown(const Application& application, const Vector& interference,
                                 const Vector& capacity) {
  double sum = 0;
  for (size_t r = 0; r < kResources; ++r) {
    sum += timeLost(interference[r], application.need[r], capacity[r], application.steepness[r],
                    application.bend[r]);
  }
  return sum;
}

void ParametricTruth::speedsByProduct(PlatformNumber platform, std::span<const ApplicationNumber> tasks,
                                      std::span<double> speeds) const {
  for (size_t i = 0; i < tasks.size(); ++i) {
    const Application& application = applications_[tasks[i]];
    double factor = 1;
    for (size_t other = 0; other < tasks.size(); ++other) {
      if (other == i) continue;
      const Vector& pressure = applications_[tasks[other]].pressure;
      double slowdown = 0;
      for (size_t r = 0; r < kResources; ++r) {
        slowdown += application.steepness[r] * application.need[r] * pressure[r] / capacity_[platform][r];
      }
      factor *= 1 + slowdown;
    }
    speeds[i] = application.alone[platform] / factor;
  }
}

void ParametricTruth::speeds(PlatformNumber platform, std::span<const ApplicationNumber> tasks,
                             std::span<double> speeds) {
  if (combining_ == Combining::kProduct) return speedsByProduct(platform, tasks, speeds);
  Vector all{};
  for (ApplicationNumber task : tasks) {
    const Vector& pressure = applications_[task].pressure;
    for (size_t r = 0; r < kResources; ++r) all[r] += pressure[r];
  }
  const Vector& capacity = capacity_[platform];
  const double others = std::max(1.0, units_[platform] - 1.0);
  const double weight = combining_ == Combining::kSum ? 1 : (kReferenceUnits - 1) / others;
  for (size_t i = 0; i < tasks.size(); ++i) {
    const Application& application = applications_[tasks[i]];
    Vector interference;
    for (size_t r = 0; r < kResources; ++r) {
      interference[r] = std::max(0.0, all[r] - application.pressure[r]) * weight;
    }
    speeds[i] = application.alone[platform] / (1 + slowdown(application, interference, capacity));
  }
}

double ParametricTruth::besideKernel(ApplicationNumber application, size_t resource, double pressure) const {
  const Application& own = applications_[application];
  const double need = own.need[resource], steepness = own.steepness[resource];
  const double slowdown = combining_ == Combining::kProduct
                              ? steepness * need * pressure
                              : timeLost(pressure, need, 1, steepness, own.bend[resource]);
  return 1 / (1 + slowdown);
}

double ParametricTruth::kernelBeside(ApplicationNumber application, size_t resource) const {
  return 1 / (1 + applications_[application].pressure[resource]);
}

double ParametricTruth::borne(const Application& application, size_t resource) const {
  const double lost = kBorneLoss / (1 - kBorneLoss);
  const double s = application.steepness[resource], b = application.bend[resource];
  if (combining_ == Combining::kProduct) return lost / (s * application.need[resource]);
  // Slowed by x * s * (1 + b x) = loss / (1 - loss), solved for x.
  const double above = b < 1e-9 ? lost / s : (std::sqrt(1 + 4 * b * lost / s) - 1) / (2 * b);
  return 1 - application.need[resource] + above;
}

Belief ParametricTruth::belief(double error, Rng& rng) const {
  const double deviation = error / kMeanSize;
  Belief belief;
  for (const Application& application : std::span(applications_).first(known_)) {
    Profile& profile = belief.profiles.emplace_back();
    profile.application = "application-" + std::to_string(belief.profiles.size() - 1);
    for (size_t r = 0; r < kResources; ++r) {
      profile.caused[r] = asPressure(application.pressure[r] * (1 + deviation * normal(rng)));
      profile.tolerated[r] = asPressure(1 - (1 - borne(application, r)) * (1 + deviation * normal(rng)));
    }
    double best = 0;
    std::vector<double> told;
    for (double speed : application.alone) {
      told.push_back(std::max(0.01, speed * (1 + deviation * normal(rng))));
      best = std::max(best, told.back());
    }
    for (size_t p = 0; p < told.size(); ++p) {
      profile.platforms[platformName(static_cast<PlatformNumber>(p))] = told[p] / best;
    }
  }
  for (const Vector& capacity : capacity_) {
    Share& share = belief.shares.emplace_back();
    for (size_t r = 0; r < kResources; ++r) {
      share[r] = static_cast<uint16_t>(std::min(65'535.0, std::round(kShareUnit / capacity[r])));
    }
  }
  return belief;
}

std::string platformName(size_t platform) {
  return "platform-" + std::to_string(platform);
}

}  // namespace tarcil::sim
