// Question: what does each choice in the model of quality bring, and what does it cost? One cluster for each
// option, all offered the same jobs from the same seed.
//
//   model_options [--servers N] [--tasks M] [--load X] [--seed S]
//
// Each cluster is filled to the load and then used for as many placements again, tasks ending at random. E of
// each task is judged by one model for all rows, whatever placed it: componentwise, contention as a sum, no
// margin. It is the default's own model: rows say what its simplifications would cost if it were true, not
// that it is (docs/evaluation.md).
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/paper_choice.h"
#include "bench/report.h"
#include "tests/support/generated_cluster.h"

namespace tarcil::bench {
namespace {

constexpr int kMaxFailures = 50;  // jobs in a row of which no task found a place: the cluster is full

struct Flags {
  GeneratedOptions cluster;
  uint32_t tasks = 8;
  double load = 0.6;
};

using Settings = QualitySettings;
using Choose = std::function<Decision(const ClusterState&, const JobSpec&, const Settings&, uint64_t seed)>;

struct Option {
  std::string name;
  Settings settings{};
  Choose choose;
};

Choose byPolicy(Policy policy, Standard standard = Standard::kAcceptable) {
  return [policy, standard, chooser = std::make_shared<Chooser>()](const ClusterState& state, JobSpec spec,
                                                                   const Settings& settings, uint64_t seed) {
    spec.policy = policy;
    PlacementRequest request{.spec = spec, .tasks = {}, .placedOn = {}, .standard = standard};
    for (TaskIndex task = 0; task < spec.tasks; ++task) request.tasks.push_back({task, 0});
    return chooser->choose(state, request, settings, seed);
  };
}

Choose byQ(Eq5 formula) {
  return [formula](const ClusterState& state, const JobSpec& spec, const Settings&, uint64_t seed) {
    return chooseByQ(state, spec, formula, 32, seed);
  };
}

Option changed(std::string name, const std::function<void(Settings&)>& change) {
  Option option{std::move(name), {}, byPolicy(Policy::kQuality)};
  change(option.settings);
  return option;
}

std::vector<Option> options() {
  const auto same = [](Settings&) {};
  const auto mean = [](Settings& s) { s.contention = ContentionModel::kMean; };
  std::vector<Option> all = {
      changed("default", same),
      changed("model encoded", [](Settings& s) { s.model = QualityModel::kEncoded; }),
      changed("contention mean", mean),
      changed("encoded and mean",
              [](Settings& s) {
                s.model = QualityModel::kEncoded;
                s.contention = ContentionModel::kMean;
              }),
      changed("margin 0", [](Settings& s) { s.margin = 0; }),
      changed("margin 5", [](Settings& s) { s.margin = 5; }),
      changed("noise floor 0", [](Settings& s) { s.noiseFloor = 0; }),
      changed("noise floor 5", [](Settings& s) { s.noiseFloor = 5; }),
      changed("neighbours not protected", [](Settings& s) { s.protectNeighbours = false; }),
  };
  for (uint32_t ratio : {8, 16, 32}) {
    all.push_back(changed("ratio " + std::to_string(ratio), [ratio](Settings& s) { s.ratio = ratio; }));
  }
  all.push_back({"best there is", {}, byPolicy(Policy::kQuality, Standard::kBestThereIs)});
  all.push_back({"policy greedy", {}, byPolicy(Policy::kGreedy)});
  all.push_back({"policy random", {}, byPolicy(Policy::kRandom)});
  all.push_back({"policy per-task", {}, byPolicy(Policy::kPerTask)});
  all.push_back({"policy batch", {}, byPolicy(Policy::kBatch)});
  all.push_back({"Q alone, sum, corrected", {}, byQ(Eq5::kCorrected)});
  all.push_back({"Q alone, sum, as printed", {}, byQ(Eq5::kPrinted)});
  for (Eq5 formula : {Eq5::kCorrected, Eq5::kPrinted}) {
    Option paper =
        changed(formula == Eq5::kPrinted ? "Q alone, mean, as printed" : "Q alone, mean, corrected", mean);
    paper.choose = byQ(formula);
    all.push_back(paper);
  }
  return all;
}

// One cluster, placed on by one option.
class Run {
 public:
  Run(const Flags& flags, const Option& option)
      : flags_(flags),
        option_(option),
        cluster_(withSettings(flags.cluster, option.settings)),
        seeds_(flags.cluster.seed) {}

  void report() {
    placeUpTo(flags_.load);
    for (uint64_t ends = cluster_.tasks(); ends > 0; --ends) {
      cluster_.endOne();
      failures_ = 0;
      placeUpTo(flags_.load);
    }
    const GeneratedCluster::Wellbeing being = cluster_.wellbeing();
    const double load = cluster_.load(), drawn = static_cast<double>(drawn_) / static_cast<double>(asked_);
    const double away = 1 - static_cast<double>(placed_) / static_cast<double>(asked_);
    const double microseconds = std::chrono::duration<double, std::micro>(deciding_).count();
    const double each = microseconds / static_cast<double>(decisions_);
    failures_ = 0;
    placeUpTo(1);
    const GeneratedCluster::Wellbeing full = cluster_.wellbeing();
    std::printf("%-26s %6.3f %9.3f %8.3f %7.4f %7.4f %8.2f %9.2f %10.3f %9.3f %7.4f\n", option_.name.c_str(),
                load, away, being.acceptable, being.meanE, being.fifthPercentileE, drawn, each,
                cluster_.load(), full.acceptable, full.meanE);
  }

 private:
  static GeneratedOptions withSettings(GeneratedOptions options, const Settings& settings) {
    options.settings = settings;
    return options;
  }

  // Until the load is reached or no job finds a place any more.
  void placeUpTo(double load) {
    while (cluster_.load() < load && failures_ < kMaxFailures) {
      const JobSpec spec = cluster_.job(flags_.tasks);
      const auto begin = Steady::now();
      const Decision decision = option_.choose(cluster_.state(), spec, option_.settings, seeds_());
      deciding_ += Steady::now() - begin;
      cluster_.place(spec, decision);
      failures_ = decision.claims.empty() ? failures_ + 1 : 0;
      ++decisions_;
      asked_ += spec.tasks;
      placed_ += decision.claims.size();
      drawn_ += decision.explanation.drawn;
    }
  }

  const Flags& flags_;
  const Option& option_;
  GeneratedCluster cluster_;
  Rng seeds_;
  Steady::duration deciding_{};
  int failures_ = 0;
  uint64_t decisions_ = 0, asked_ = 0, placed_ = 0, drawn_ = 0;
};

int run(const Flags& flags) {
  printConditions();
  std::printf("seed %llu, %u servers of %u units, jobs of %u tasks of %u kinds, target %g\n",
              static_cast<unsigned long long>(flags.cluster.seed), flags.cluster.servers, flags.cluster.rus,
              flags.tasks, flags.cluster.kinds, QualitySettings{}.target);
  std::printf(
      "E by: componentwise, sum, no margin. Away: share of the tasks offered for which no place was "
      "found.\n\n");
  std::printf("%-26s %6s %9s %8s %7s %7s %8s %9s %10s %9s %7s\n", "option", "load", "away", "E >= .95",
              "mean E", "p5 E", "draws", "us", "load when", "E >= .95", "mean E");
  std::printf("%-26s %6s %9s %8s %7s %7s %8s %9s %10s %9s %7s\n", "", "", "", "", "", "", "per task",
              "per job", "full", "then", "then");
  for (const Option& option : options()) Run(flags, option).report();
  return 0;
}

}  // namespace
}  // namespace tarcil::bench

int main(int argc, char** argv) {
  tarcil::bench::Flags flags;
  flags.cluster.servers = 2'000;
  CLI::App app("Compares the options of the model of quality.");
  app.add_option("--servers", flags.cluster.servers, "Of ten units each.")
      ->check(CLI::Range(10, 1'000'000))
      ->capture_default_str();
  app.add_option("--tasks", flags.tasks, "Of each job.")->check(CLI::Range(1, 1'000))->capture_default_str();
  app.add_option("--load", flags.load, "Share of the units taken at which E is compared.")
      ->check(CLI::Range(0.01, 1.0))
      ->capture_default_str();
  app.add_option("--seed", flags.cluster.seed, "Of clusters, jobs and decisions.")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  return tarcil::bench::run(flags);
}
