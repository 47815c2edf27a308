#include "sim/ground_truth/fitted_profiles.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace tarcil::sim {
namespace {

// Resources that are given a meaning. More of them explain the pairs better and foretell triples no better.
constexpr size_t kUsed = 4;
constexpr int kBeginnings = 8;
constexpr int kRounds = 30;
constexpr int kStep = 3;  // between values that are tried

class Fit {
 public:
  Fit(const std::vector<double>& losses, size_t count) : losses_(losses), count_(count), profiles_(count) {}

  double from(Rng& rng) {
    for (Profile& profile : profiles_) {
      for (size_t r = 0; r < kUsed; ++r) {
        profile.caused[r] = static_cast<uint8_t>(rng.below(60));
        profile.tolerated[r] = static_cast<uint8_t>(20 + rng.below(80));
      }
    }
    double error = std::numeric_limits<double>::infinity();
    for (int round = 0; round < kRounds; ++round) {
      for (size_t program = 0; program < count_; ++program) {
        for (size_t r = 0; r < kUsed; ++r) {
          settle(profiles_[program].caused[r], [this, program]() { return errorOfColumn(program); });
          settle(profiles_[program].tolerated[r], [this, program]() { return errorOfRow(program); });
        }
      }
      double now = 0;
      for (size_t program = 0; program < count_; ++program) now += errorOfRow(program);
      if (now > error - 1e-6) break;
      error = now;
    }
    return error;
  }

  const std::vector<Profile>& profiles() const { return profiles_; }

 private:
  template <typename ErrorOf>
  static void settle(uint8_t& entry, const ErrorOf& errorOf) {
    uint8_t best = entry;
    double least = errorOf();
    for (int value = 0; value <= kMaxPressure; value += kStep) {
      entry = static_cast<uint8_t>(value);
      if (const double error = errorOf(); error < least) {
        least = error;
        best = entry;
      }
    }
    entry = best;
  }

  double squaredError(size_t program, size_t neighbour) const {
    const double loss = losses_[program * count_ + neighbour];
    if (std::isnan(loss)) return 0;
    int most = 0;
    for (size_t r = 0; r < kUsed; ++r) {
      most = std::max(most, profiles_[neighbour].caused[r] - profiles_[program].tolerated[r]);
    }
    const double off = static_cast<double>(most) / kMaxPressure - loss;
    return off * off;
  }
  double errorOfRow(size_t program) const {
    double sum = 0;
    for (size_t other = 0; other < count_; ++other) sum += squaredError(program, other);
    return sum;
  }
  double errorOfColumn(size_t neighbour) const {
    double sum = 0;
    for (size_t other = 0; other < count_; ++other) sum += squaredError(other, neighbour);
    return sum;
  }

  const std::vector<double>& losses_;
  const size_t count_;
  std::vector<Profile> profiles_;
};

}  // namespace

std::vector<Profile> fittedProfiles(const std::vector<double>& losses, Rng& rng) {
  const auto count = static_cast<size_t>(std::lround(std::sqrt(static_cast<double>(losses.size()))));
  std::vector<Profile> best;
  double least = std::numeric_limits<double>::infinity();
  for (int beginning = 0; beginning < kBeginnings; ++beginning) {
    Fit fit(losses, count);
    if (const double error = fit.from(rng); error < least) {
      least = error;
      best = fit.profiles();
    }
  }
  return best;
}

}  // namespace tarcil::sim
