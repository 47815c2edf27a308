// Question: does the best of R sampled slots lie where Eq. 6 of Tarcil says, with the CDF x^R (Figures 3 and
// 4 there)? The real sampler and chooser, at a fixed ratio R, one task a decision.
//
//   sampling_cdf [--samples N] [--seed S] [FOLDER]
//
// A slot's quality is its rank among the free slots, from 0 for the worst to 1 for the best. Figure 3: a
// cluster in which no two slots are alike, so that the rank is known without the chooser. Figure 4: clusters
// that the scheduler itself has filled with mixed jobs, ranked as docs/design.md says, written once more.
// Writes a CSV for each cluster into FOLDER, if given. Exits with 1 where quality is worse than x^R by more
// than so many samples can be off by chance.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "bench/figures/slot_ranks.h"
#include "bench/report.h"
#include "core/decide/chooser.h"
#include "tests/support/generated_cluster.h"

namespace tarcil::bench {
namespace {

constexpr std::array<uint32_t, 4> kRatios = {8, 16, 32, 64};
constexpr int kGrid = 200;  // points of a curve in the CSV
// Probability that chance alone takes a curve beyond the bound.
constexpr double kAlpha = 0.001;

struct Flags {
  uint64_t samples = 100'000;
  uint64_t seed = 1;
  std::string folder;
};

// Where the best of R slots lay in each of the decisions, sorted.
using Sample = std::vector<double>;
// Draws one such place at this ratio.
using Draw = std::function<double(uint32_t ratio, uint64_t seed)>;

// How far the measured CDF lies above the law and below it, at most: above is worse than promised.
struct Deviation {
  double above = 0, below = 0;
};

Deviation deviation(const Sample& sample, uint32_t ratio) {
  Deviation most;
  const auto n = static_cast<double>(sample.size());
  for (size_t i = 0; i < sample.size(); ++i) {
    const double law = std::pow(sample[i], ratio);
    most.above = std::max(most.above, static_cast<double>(i + 1) / n - law);
    most.below = std::max(most.below, law - static_cast<double>(i) / n);
  }
  return most;
}

double measured(const Sample& sample, double x) {
  const auto below = std::upper_bound(sample.begin(), sample.end(), x) - sample.begin();
  return static_cast<double>(below) / static_cast<double>(sample.size());
}

void writeCsv(const std::string& path, const std::array<Sample, kRatios.size()>& samples) {
  std::ofstream csv(path);
  csv << "x";
  for (uint32_t ratio : kRatios) csv << ",law_" << ratio << ",measured_" << ratio;
  csv << "\n";
  for (int point = 0; point <= kGrid; ++point) {
    const double x = static_cast<double>(point) / kGrid;
    csv << x;
    for (size_t r = 0; r < kRatios.size(); ++r) {
      csv << "," << std::pow(x, kRatios[r]) << "," << measured(samples[r], x);
    }
    csv << "\n";
  }
  csv.close();
  if (!csv) throw std::runtime_error("cannot write " + path);
}

// One figure or one part of one; false where a curve is worse than the law by more than chance explains.
bool report(const Flags& flags, const std::string& name, const std::string& what, const Draw& draw) {
  const double bound = std::sqrt(std::log(2 / kAlpha) / 2 / static_cast<double>(flags.samples));
  std::printf("\n%s: %s\n", name.c_str(), what.c_str());
  std::printf("%4s %23s %23s %38s\n", "", "Pr[Q < 0.8]", "Pr[Q < 0.92]", "largest deviation of the CDF");
  std::printf("%4s %11s %11s %11s %11s %12s %12s %12s\n", "R", "paper says", "we measure", "paper says",
              "we measure", "to worse", "to better", "by chance");
  std::array<Sample, kRatios.size()> samples;
  bool sound = true;
  for (size_t r = 0; r < kRatios.size(); ++r) {
    const uint32_t ratio = kRatios[r];
    for (uint64_t i = 0; i < flags.samples; ++i) samples[r].push_back(draw(ratio, flags.seed + i));
    std::sort(samples[r].begin(), samples[r].end());
    const Deviation most = deviation(samples[r], ratio);
    sound = sound && most.above <= bound;
    std::printf("%4u %11.2g %11.2g %11.2g %11.2g %12.4f %12.4f %12.4f%s\n", ratio, std::pow(0.8, ratio),
                measured(samples[r], 0.8), std::pow(0.92, ratio), measured(samples[r], 0.92), most.above,
                most.below, bound, most.above > bound ? "  WORSE" : "");
  }
  if (!flags.folder.empty()) writeCsv(flags.folder + "/" + name + ".csv", samples);
  return sound;
}

Decision decide(Chooser& chooser, const ClusterState& state, const JobSpec& spec, QualitySettings settings,
                uint32_t ratio, uint64_t seed) {
  settings.ratio = ratio;
  settings.ranking = RankBy::kQuality;  // as in the paper
  return chooser.choose(state, {.spec = spec, .tasks = {{0, 0}}, .placedOn = {}}, settings, seed);
}

// A job that bears everything ranks slots by the contention of the first resource, then by that of the
// second, the loudest first: Q = 1 - U. One slot for each pair of pressures.
bool figure3(const Flags& flags) {
  constexpr uint32_t kSteps = kMaxPressure + 1;
  ClusterState state;
  for (ServerId id = 0; id < kSteps * kSteps; ++id) {
    ServerFacts facts;
    facts.name = "server-" + std::to_string(id);
    facts.platform = "any";
    facts.rus = facts.cores = 1;
    ServerStatus status;
    status.version = 1;
    status.up = true;
    status.free = RuSet::all(1);
    status.background[0] = static_cast<uint8_t>(id / kSteps);
    status.background[1] = static_cast<uint8_t>(id % kSteps);
    state.apply({id, facts, status});
  }
  JobSpec spec;
  spec.profile.tolerated = Profile::filled(kMaxPressure);
  // With nothing in it, it would be of a job of which nothing is known.
  spec.profile.caused[kResources - 1] = 1;
  QualitySettings settings;
  settings.margin = 0;  // it would make the loudest alike
  Chooser chooser;
  Rng rng(flags.seed);
  return report(flags, "uniform", "10,000 slots, no two alike", [&](uint32_t ratio, uint64_t seed) {
    const ServerId best = decide(chooser, state, spec, settings, ratio, seed).explanation.best.front().server;
    return (best + rng.unit()) / (kSteps * kSteps);
  });
}

bool figure4(const Flags& flags, uint32_t servers, uint32_t rus, int percent) {
  GeneratedOptions options;
  options.servers = servers;
  options.rus = rus;
  options.seed = flags.seed;
  GeneratedCluster cluster(options);
  const double load = cluster.fillTo(percent / 100.0);
  std::vector<JobSpec> jobs;
  for (const Profile& kind : cluster.kinds()) jobs.emplace_back().profile = kind;
  std::vector<SlotRanks> ranks;
  ranks.reserve(jobs.size());
  for (const JobSpec& job : jobs) ranks.emplace_back(cluster.state(), job, options.settings);
  Chooser chooser;
  Rng rng(flags.seed);
  char what[120];
  std::snprintf(what, sizeof what, "%u servers of %u units, %.0f %% taken, %llu slots free", servers, rus,
                100 * load, static_cast<unsigned long long>(cluster.state().freeUnits()));
  const std::string name = "servers-" + std::to_string(servers) + "-load-" + std::to_string(percent);
  return report(flags, name, what, [&](uint32_t ratio, uint64_t seed) {
    const size_t kind = rng.below(jobs.size());
    const Decision decision = decide(chooser, cluster.state(), jobs[kind], options.settings, ratio, seed);
    return ranks[kind].place(decision.explanation.best.front().server, ratio, rng);
  });
}

int run(const Flags& flags) {
  printConditions();
  std::printf("seed %llu, %llu decisions a curve; chance: bound of Dvoretzky, Kiefer and Wolfowitz at %g\n",
              static_cast<unsigned long long>(flags.seed), static_cast<unsigned long long>(flags.samples),
              kAlpha);
  bool sound = figure3(flags);
  for (int percent : {30, 60, 80, 90}) sound = figure4(flags, 10'000, 10, percent) && sound;
  // The size and the load of the paper's own measurement. Of so few slots 64 drawn without replacement are
  // more than 64 independent draws.
  sound = figure4(flags, 100, 8, 72) && sound;
  return sound ? 0 : 1;
}

}  // namespace
}  // namespace tarcil::bench

int main(int argc, char** argv) {
  tarcil::bench::Flags flags;
  CLI::App app("Compares the quality of the best of R sampled slots with x^R.");
  app.add_option("--samples", flags.samples, "Decisions for each curve.")
      ->check(CLI::Range(100, 10'000'000))
      ->capture_default_str();
  app.add_option("--seed", flags.seed, "Of clusters and decisions.")->capture_default_str();
  app.add_option("folder", flags.folder, "Where to write the CSV files.")->check(CLI::ExistingDirectory);
  CLI11_PARSE(app, argc, argv);
  try {
    return tarcil::bench::run(flags);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "sampling_cdf: %s\n", failure.what());
    return 1;
  }
}
