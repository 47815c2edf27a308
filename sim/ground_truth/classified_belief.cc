#include "sim/ground_truth/classified_belief.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "classifier/completer.h"
#include "classifier/completion.h"
#include "classifier/tolerance_search.h"
#include "sim/chance.h"

namespace tarcil::sim {
namespace {

constexpr int kRuns = 3;

// Whoever runs programs to find out how fast they are.
class Measurer {
 public:
  Measurer(double noise, Rng& rng) : noise_(noise), rng_(rng) {}

  double speed(double speed) {
    double best = 0;
    for (int run = 0; run < kRuns; ++run) best = std::max(best, speed * between(1 - noise_, 1, rng_));
    return best;
  }
  // A speed beside others, of that alone.
  double performance(double performance) { return speed(performance) / speed(1); }

 private:
  const double noise_;
  Rng& rng_;
};

void probe(const ParametricTruth& truth, ApplicationNumber application, size_t resource, Measurer& measurer,
           PartialProfile& profile) {
  ToleranceSearch search{ToleranceOptions()};
  while (const auto intensity = search.next()) {
    const double pressure = static_cast<double>(*intensity) / kMaxPressure;
    const double performance = truth.besideKernel(application, resource, pressure);
    search.saw(*intensity, *intensity, measurer.performance(performance));
  }
  profile.tolerated[resource] = static_cast<uint8_t>(search.result().tolerated);
  // A kernel that takes all of a resource takes so much longer for its work as others press on it.
  const double pressure = 1 / measurer.performance(truth.kernelBeside(application, resource)) - 1;
  const auto points = std::lround(std::clamp(pressure, 0.0, 1.0) * kMaxPressure);
  profile.caused[resource] = static_cast<uint8_t>(points);
}

std::vector<ApplicationNumber> knownOf(uint16_t applications) {
  std::vector<ApplicationNumber> known;
  for (ApplicationNumber application = 0; application < applications; ++application) {
    if (isKnown(application)) known.push_back(application);
  }
  return known;
}

// Performances beside each known program, then theirs beside the program, of a square matrix of losses; all
// of them, or those in `probed`.
Entries besideKnown(const std::vector<double>& losses, const std::vector<ApplicationNumber>& known,
                    std::span<const size_t> probed, ApplicationNumber program, Measurer& measurer) {
  const auto count = static_cast<size_t>(std::lround(std::sqrt(static_cast<double>(losses.size()))));
  Entries row(2 * known.size());
  for (const size_t i : probed) {
    row[i] = measurer.performance(1 - losses[program * count + known[i]]);
    row[known.size() + i] = measurer.performance(1 - losses[known[i] * count + program]);
  }
  return row;
}

}  // namespace

Belief classifiedBelief(const ParametricTruth& truth, const Classification& classification, Rng& rng) {
  Measurer measurer(classification.noise, rng);
  Belief belief = truth.belief(0, rng);
  std::vector<PartialProfile> known;
  for (const ApplicationNumber application : knownOf(truth.applications())) {
    PartialProfile& profile = known.emplace_back();
    for (size_t resource = 0; resource < kResources; ++resource) {
      probe(truth, application, resource, measurer, profile);
    }
    for (size_t index = 0; index < belief.shares.size(); ++index) {
      const auto platform = static_cast<PlatformNumber>(index);
      profile.platforms[platformName(platform)] = measurer.speed(truth.alone(application, platform));
    }
  }
  const ProfileCompleter completer(known, {.seed = rng()});
  const std::vector<Resource> probed = completer.mostTelling(classification.probes);
  for (ApplicationNumber application = 0; application < truth.applications(); ++application) {
    PartialProfile few;
    if (!isKnown(application)) {
      for (const Resource resource : probed) {
        probe(truth, application, static_cast<size_t>(resource), measurer, few);
      }
      // Only ratios between platforms count, and of one there is none.
      few.platforms[completer.referencePlatform()] = 1;
    }
    Profile& profile = belief.profiles[application];
    const std::string name = profile.application;
    profile = completer.complete(isKnown(application) ? known[application / 2] : few).profile;
    profile.application = name;
  }
  return belief;
}

Belief classifiedBelief(const MeasuredTruth& truth, const Classification& classification, Rng& rng) {
  Measurer measurer(classification.noise, rng);
  const std::vector<double> losses = truth.losses();
  const std::vector<ApplicationNumber> known = knownOf(truth.applications());
  std::vector<size_t> all(known.size());
  std::iota(all.begin(), all.end(), size_t{0});
  std::vector<Entries> rows;
  ApplicationMatrix matrix(2 * known.size(), {0, 1});
  for (const ApplicationNumber program : known) {
    matrix.add(rows.emplace_back(besideKnown(losses, known, all, program, measurer)));
  }
  const Completer completer(matrix, {.seed = rng()});
  std::vector<std::vector<size_t>> runs;
  for (const size_t i : all) runs.push_back({i, known.size() + i});
  const std::vector<size_t> probed = completer.mostTelling(runs, classification.probes);

  const size_t count = truth.applications();
  std::vector<double> told(losses.size(), std::numeric_limits<double>::quiet_NaN());
  for (ApplicationNumber program = 0; program < count; ++program) {
    const Entries measured =
        isKnown(program) ? rows[program / 2] : besideKnown(losses, known, probed, program, measurer);
    const std::vector<CompletedEntry> row = completer.complete(measured);
    for (const size_t i : all) {
      told[program * count + known[i]] = 1 - row[i].value;
      told[known[i] * count + program] = 1 - row[known.size() + i].value;
    }
  }
  return truth.beliefFrom(told, 0, rng);
}

}  // namespace tarcil::sim
