// Question: how far off is what is expected of a program beside two others, judged by profiles?
//
//   neighbours PAIRS.csv TRIPLES.csv [--seeds N]
//
// Profiles are fitted to the pairs (sim/ground_truth/fitted_profiles.h), the triples are what is foretold.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "bench/corun_data.h"
#include "bench/report.h"
#include "core/model/contention.h"
#include "core/model/quality.h"
#include "core/model/slowdown.h"
#include "sim/ground_truth/measured.h"

namespace tarcil::bench {
namespace {

struct Flags {
  std::string pairs, triples;
  uint64_t seeds = 8;
};

// S of the program beside both others.
using Expect = double (*)(const Profile& program, const Profile& one, const Profile& other);

double byPressures(ContentionModel model, const Profile& program, const Profile& one, const Profile& other) {
  constexpr int kPrograms = 3;
  PressureSum sum{};
  for (size_t i = 0; i < sum.size(); ++i) sum[i] = one.caused[i] + other.caused[i];
  const Pressure together = contention(model, sum, fullShare(), {}, kPrograms);
  return judge(viewOn(program, fullShare(), 1), together, QualityModel::kComponentwise, 0).satisfaction;
}

double bySlowdowns(const Pressure& onsets, const Profile& one, const Profile& other) {
  Slowdowns all;
  all.add(slowdownBeside(one.caused, onsets));
  all.add(slowdownBeside(other.caused, onsets));
  return satisfaction(all.together());
}

constexpr struct {
  const char* name;
  Expect expect;
} kWays[] = {
    {"pressures: sum",
     [](const Profile& program, const Profile& one, const Profile& other) {
       return byPressures(ContentionModel::kSum, program, one, other);
     }},
    {"pressures: mean",
     [](const Profile& program, const Profile& one, const Profile& other) {
       return byPressures(ContentionModel::kMean, program, one, other);
     }},
    {"slowdowns, felt from what is tolerated on",
     [](const Profile& program, const Profile& one, const Profile& other) {
       return bySlowdowns(program.tolerated, one, other);
     }},
    {"slowdowns, felt from their onset on",
     [](const Profile& program, const Profile& one, const Profile& other) {
       return bySlowdowns(onsetsOf(program.tolerated), one, other);
     }},
    {"the least of that and two thirds of the excess of the sum",
     [](const Profile& program, const Profile& one, const Profile& other) {
       return std::min(bySlowdowns(onsetsOf(program.tolerated), one, other),
                       (1 + 2 * byPressures(ContentionModel::kSum, program, one, other)) / 3);
     }},
};

class Misses {
 public:
  void add(double expected, double seen) {
    off_.push_back(std::abs(expected - seen));
    tooHigh_ += expected - seen;
    if (seen >= 0.95) {
      ++good_;
      refused_ += expected < 0.95 ? 1 : 0;
    }
    if (expected >= 0.95) {
      ++accepted_;
      poor_ += seen < 0.9 ? 1 : 0;
    }
  }

  void print(const char* name) {
    double sum = 0;
    for (double off : off_) sum += off;
    const auto count = static_cast<double>(off_.size());
    const auto p90 = off_.begin() + static_cast<std::ptrdiff_t>(9 * off_.size() / 10);
    std::nth_element(off_.begin(), p90, off_.end());
    std::printf("%-54s %7.4f %7.3f %+8.3f %9.0f %% %9.0f %%\n", name, sum / count, *p90, tooHigh_ / count,
                percent(refused_, good_), percent(poor_, accepted_));
  }

 private:
  static double percent(size_t part, size_t all) {
    return all == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(all);
  }

  std::vector<double> off_;
  double tooHigh_ = 0;
  size_t good_ = 0, refused_ = 0, accepted_ = 0, poor_ = 0;
};

std::string textOf(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

int refused(const Error& error) {
  std::fprintf(stderr, "neighbours: %s\n", error.message.c_str());
  return 2;
}

int run(const Flags& flags) {
  const auto pairs = readPairs(flags.pairs);
  if (!pairs) return refused(pairs.error());
  const auto triples = readTriples(flags.triples, *pairs);
  if (!triples) return refused(triples.error());
  const auto known = sim::readCoRuns(textOf(flags.pairs), flags.pairs, {}, {}, sim::AboveOne::kAsOne);
  if (!known) return refused(known.error());
  const sim::MeasuredTruth truth(*known);
  printConditions();
  std::printf("%zu triples, each of their programs; profiles fitted to pairs, seeds 1 to %llu\n",
              triples->size(), static_cast<unsigned long long>(flags.seeds));
  std::printf("%-54s %7s %7s %8s %11s %11s\n", "expected by", "error", "p90", "too high", "refused", "poor");
  std::vector<Misses> misses(std::size(kWays));
  for (uint64_t seed = 1; seed <= flags.seeds; ++seed) {
    Rng rng(seed);
    const sim::Belief belief = truth.belief(0, rng);
    for (const Triple& triple : *triples) {
      for (size_t i = 0; i < triple.programs.size(); ++i) {
        const auto& profile = [&](size_t k) -> const Profile& {
          return belief.profiles[triple.programs[(i + k) % 3]];
        };
        const double seen = std::min(1.0, triple.performance[i]);
        for (size_t way = 0; way < misses.size(); ++way) {
          misses[way].add(kWays[way].expect(profile(0), profile(1), profile(2)), seen);
        }
      }
    }
  }
  for (size_t way = 0; way < misses.size(); ++way) misses[way].print(kWays[way].name);
  std::printf(
      "refused: of those at 0.95 or better; poor: below 0.9, of those that are expected at 0.95 or better\n");
  return 0;
}

}  // namespace
}  // namespace tarcil::bench

int main(int argc, char** argv) {
  tarcil::bench::Flags flags;
  CLI::App app("How far off is what is expected of a program beside two others, judged by profiles?");
  app.add_option("PAIRS", flags.pairs, "CSV: program_1,program_2,performance_1,performance_2.")->required();
  app.add_option("TRIPLES", flags.triples, "CSV: three programs, then the performance of each.")->required();
  app.add_option("--seeds", flags.seeds, "Fits of the profiles.")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  return tarcil::bench::run(flags);
}
