// Question: how well are the missing entries of an application's row completed from one, two or four known
// ones, how well do pairs tell what becomes of three programs at once, and how long does it take?
//
//   completion [--pairs FILE] [--triples FILE] [--kernels FILE] [--subsets N] [--applications N] [--seed S]
//
// The applications that came with tarcil are always there.
// Each program in turn is held out: its row and, among the pairs, its column are in no matrix, and no
// parameter is chosen with it.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "bench/corun_data.h"
#include "bench/report.h"
#include "classifier/completer.h"
#include "classifier/corun.h"
#include "cli/known_applications.h"
#include "core/base/rng.h"

namespace tarcil::bench {
namespace {

constexpr size_t kKnown[] = {1, 2, 4};

struct Flags {
  std::string pairs, triples, kernels;
  size_t subsets = 91;  // all there are of two out of 14
  size_t applications = 1'000;
  uint64_t seed = 1;
};

constexpr struct {
  const char* name;
  Method method;
} kMethods[] = {{"column mean", Method::kColumnMean},
                {"rank 1", Method::kRankOne},
                {"nearest neighbour", Method::kNearestNeighbour},
                {"factorisation, SGD", Method::kFactorisation},
                {"normal rows", Method::kNormalRows}};

class Errors {
 public:
  void add(double predicted, double seen) { errors_.push_back(std::abs(predicted - seen)); }

  double mean() const {
    return std::accumulate(errors_.begin(), errors_.end(), 0.0) / static_cast<double>(errors_.size());
  }
  // Nearest rank.
  double p90() {
    std::sort(errors_.begin(), errors_.end());
    return errors_[static_cast<size_t>(std::ceil(0.9 * static_cast<double>(errors_.size()))) - 1];
  }

 private:
  std::vector<double> errors_;
};

// One program held out, and what the others say.
struct HeldOut {
  size_t program;
  std::vector<size_t> columns;  // neighbours that are left
  Entries row;                  // of the program, by those columns
  ApplicationMatrix others;
};

HeldOut holdOut(const CoRuns& runs, size_t program, ValueRange range) {
  std::vector<size_t> columns;
  for (size_t n = 0; n < runs.neighbours.size(); ++n) {
    if (runs.neighbours[n] != runs.programs[program]) columns.push_back(n);
  }
  const auto restricted = [&](const Entries& row) {
    Entries some;
    for (size_t column : columns) {
      some.push_back(row[column]);
      if (some.back()) some.back() = std::clamp(*some.back(), range.low, range.high);
    }
    return some;
  };
  HeldOut held{program, columns, restricted(runs.performance[program]), {columns.size(), range}};
  for (size_t p = 0; p < runs.programs.size(); ++p) {
    if (p != program) held.others.add(restricted(runs.performance[p]));
  }
  return held;
}

// Different sets of `size` of the columns; all there are, or `most` of them by chance.
std::vector<std::vector<size_t>> subsetsOf(size_t columns, size_t size, size_t most, uint64_t seed) {
  double all = 1;
  for (size_t i = 0; i < size; ++i) all *= static_cast<double>(columns - i) / static_cast<double>(i + 1);
  Rng rng(seed);
  std::set<std::vector<size_t>> subsets;
  while (static_cast<double>(subsets.size()) < std::min(std::round(all), static_cast<double>(most))) {
    std::set<size_t> subset;
    while (subset.size() < size) subset.insert(rng.below(columns));
    subsets.emplace(subset.begin(), subset.end());
  }
  return {subsets.begin(), subsets.end()};
}

bool hasAll(const Entries& row, const std::vector<size_t>& columns) {
  return std::ranges::all_of(columns, [&row](size_t c) { return row[c].has_value(); });
}

Entries knowing(const Entries& row, const std::vector<size_t>& columns) {
  Entries some(row.size());
  for (size_t c : columns) some[c] = row[c];
  return some;
}

// Nothing where not all of `known` were measured.
void addErrors(const Completer& completer, const Entries& row, const std::vector<size_t>& known,
               Errors& errors, Errors& expected) {
  if (!hasAll(row, known)) return;
  const std::vector<CompletedEntry> completed = completer.complete(knowing(row, known));
  for (size_t c = 0; c < row.size(); ++c) {
    if (completed[c].origin != Origin::kInferred || !row[c]) continue;
    errors.add(completed[c].value, *row[c]);
    expected.add(completed[c].expectedError, 0);
  }
}

std::string describe(const MethodChoice& choice) {
  char text[100];
  if (choice.method == Method::kNormalRows) {
    constexpr const char* kScales[] = {"linear", "log from below", "log from above"};
    std::snprintf(text, sizeof text, "%s, prior of %g rows",
                  kScales[static_cast<size_t>(choice.normalRows.scale)], choice.normalRows.priorRows);
  } else {
    std::snprintf(text, sizeof text, "rank %d, regularisation %g, learning rate %g",
                  choice.factorisation.rank, choice.factorisation.regularisation,
                  choice.factorisation.learningRate);
  }
  return text;
}

// Errors of one method by number of known entries: of any, and of those that the others say tell most.
void printMethod(const CoRuns& runs, ValueRange range, const char* name, Method method, const Flags& flags) {
  std::vector<Errors> any(std::size(kKnown)), anyExpected = any, telling = any, tellingExpected = any;
  std::map<std::string, int> choices;
  for (size_t program = 0; program < runs.programs.size(); ++program) {
    const HeldOut held = holdOut(runs, program, range);
    const Completer completer(held.others, {method, flags.seed});
    ++choices[describe(completer.choice())];
    std::vector<std::vector<size_t>> single;
    for (size_t c = 0; c < held.columns.size(); ++c) single.push_back({c});
    const std::vector<size_t> best = completer.mostTelling(single, kKnown[std::size(kKnown) - 1]);
    for (size_t k = 0; k < std::size(kKnown); ++k) {
      for (const auto& known : subsetsOf(held.columns.size(), kKnown[k], flags.subsets, flags.seed)) {
        addErrors(completer, held.row, known, any[k], anyExpected[k]);
      }
      const std::vector<size_t> known(best.begin(), best.begin() + static_cast<std::ptrdiff_t>(kKnown[k]));
      addErrors(completer, held.row, known, telling[k], tellingExpected[k]);
    }
  }
  std::printf("%-20s", name);
  for (size_t k = 0; k < std::size(kKnown); ++k)
    std::printf("  %.3f %.3f (%.3f)", any[k].mean(), any[k].p90(), anyExpected[k].mean());
  std::printf("  |");
  for (size_t k = 0; k < std::size(kKnown); ++k)
    std::printf("  %.3f %.3f", telling[k].mean(), telling[k].p90());
  std::printf("\n");
  if (method != Method::kNormalRows && method != Method::kFactorisation) return;
  for (const auto& [choice, times] : choices) std::printf("    chosen for %d: %s\n", times, choice.c_str());
}

void printCompletion(const std::string& title, const CoRuns& runs, ValueRange range, const Flags& flags) {
  std::printf("\n%s: %zu programs, %zu columns\n", title.c_str(), runs.programs.size(),
              runs.neighbours.size());
  std::printf("absolute error from 1, 2, 4 known entries: mean, p90 (mean that was expected)\n");
  std::printf("%-20s  %-59s  |  the most telling ones: mean, p90\n", "", "any known entries");
  for (const auto& [name, method] : kMethods) printMethod(runs, range, name, method, flags);
}

CoRuns without(const CoRuns& runs, const std::string& name) {
  CoRuns some;
  for (size_t p = 0; p < runs.programs.size(); ++p) {
    if (runs.programs[p] == name) continue;
    some.programs.push_back(runs.programs[p]);
    Entries row;
    for (size_t n = 0; n < runs.neighbours.size(); ++n) {
      if (runs.neighbours[n] != name) row.push_back(runs.performance[p][n]);
    }
    some.performance.push_back(std::move(row));
  }
  some.neighbours = some.programs;
  return some;
}

double greatest(const CoRuns& runs) {
  double most = 1;
  for (const Entries& row : runs.performance) {
    for (const auto& entry : row) most = std::max(most, entry.value_or(0));
  }
  return most;
}

// Pressures that the applications which came with tarcil tolerate and cause, where enough of them are known
// to be completed from.
CoRuns shippedPressures() {
  constexpr size_t kMin = 10;
  const auto applications = parseApplications(shippedApplications(), "known applications");
  CoRuns table;
  for (const PartialProfile& application : *applications) {
    table.programs.push_back(application.application);
    table.performance.emplace_back();
  }
  const auto add = [&](const std::string& kind, auto PartialProfile::*entries) {
    for (size_t i = 0; i < kResources; ++i) {
      const auto isKnown = [&](const PartialProfile& one) { return (one.*entries)[i].has_value(); };
      if (static_cast<size_t>(std::ranges::count_if(*applications, isKnown)) < kMin) continue;
      table.neighbours.push_back(kind + " " + std::string(kResourceNames[i]));
      for (size_t a = 0; a < applications->size(); ++a) {
        table.performance[a].push_back(((*applications)[a].*entries)[i]);
      }
    }
  };
  add("tolerated", &PartialProfile::tolerated);
  add("caused", &PartialProfile::caused);
  return table;
}

// Area under the curve: how probably a case that fell is given a lower prediction than one that did not.
double areaUnderCurve(std::vector<std::pair<double, bool>> predictions) {
  std::sort(predictions.begin(), predictions.end());
  double fallen = 0, stood = 0, before = 0;
  for (size_t begin = 0; begin < predictions.size();) {
    size_t end = begin;
    double fallenHere = 0, stoodHere = 0;
    for (; end < predictions.size() && predictions[end].first == predictions[begin].first; ++end) {
      ++(predictions[end].second ? fallenHere : stoodHere);
    }
    before += stoodHere * (fallen + fallenHere / 2);
    fallen += fallenHere;
    stood += stoodHere;
    begin = end;
  }
  return fallen > 0 && stood > 0 ? before / (fallen * stood) : 0.5;
}

// What predictions of the performance of one program in a triple miss, as measured and with at most 1.
class TripleScore {
 public:
  void add(double predicted, double seen) {
    raw_.add(predicted, seen);
    capped_.add(std::min(1.0, predicted), std::min(1.0, seen));
    predictions_.emplace_back(predicted, seen < 0.95);
  }
  void print(const char* name) {
    std::printf("%-58s %8.4f %8.3f %8.4f %8.3f\n", name, raw_.mean(), raw_.p90(), capped_.mean(),
                areaUnderCurve(predictions_));
  }

 private:
  Errors raw_, capped_;
  std::vector<std::pair<double, bool>> predictions_;
};

double slowdown(double performance) {
  return std::max(0.0, 1 / performance - 1);
}

constexpr struct {
  const char* name;
  double (*predict)(double, double);
} kFormulas[] = {
    {"1 / (1 + sum of the slowdowns)",
     [](double a, double b) { return 1 / (1 + slowdown(a) + slowdown(b)); }},
    {"worst neighbour",
     [](double a, double b) {
       return std::min({1.0, a, b});
     }},
    {"product", [](double a, double b) { return std::min(1.0, a) * std::min(1.0, b); }},
    {"mean of the slowdowns", [](double a, double b) { return 1 / (1 + (slowdown(a) + slowdown(b)) / 2); }},
    {"mean of the performances",
     [](double a, double b) { return (std::min(1.0, a) + std::min(1.0, b)) / 2; }},
    {"worst slowdown + all of the others",
     [](double a, double b) {
       const double both[] = {a, b};
       return performanceBeside(both, 1);
     }},
    {"worst slowdown + 0.8 of the others (performanceBeside)",
     [](double a, double b) {
       const double both[] = {a, b};
       return performanceBeside(both);
     }},
};

// Calls with the performance beside each of the two others, and beside both.
template <typename Use>
void forEachInTriples(const std::vector<Triple>& triples, const Use& use) {
  for (const Triple& triple : triples) {
    for (size_t i = 0; i < 3; ++i) {
      use(triple.programs[i], triple.programs[(i + 1) % 3], triple.programs[(i + 2) % 3],
          triple.performance[i]);
    }
  }
}

// performanceBeside with what the other slowdowns count for chosen on the triples that the program is not in.
void printChosenShare(const CoRuns& pairs, const std::vector<Triple>& triples) {
  TripleScore score;
  for (size_t program = 0; program < pairs.programs.size(); ++program) {
    double share = 1, least = std::numeric_limits<double>::infinity();
    for (double tried = 0; tried <= 1.001; tried += 0.05) {
      Errors errors;
      forEachInTriples(triples, [&](size_t who, size_t first, size_t second, double seen) {
        if (who == program || first == program || second == program) return;
        const double both[] = {*pairs.performance[who][first], *pairs.performance[who][second]};
        errors.add(performanceBeside(both, tried), seen);
      });
      if (errors.mean() >= least) continue;
      least = errors.mean();
      share = tried;
    }
    forEachInTriples(triples, [&](size_t who, size_t first, size_t second, double seen) {
      if (who != program) return;
      const double both[] = {*pairs.performance[who][first], *pairs.performance[who][second]};
      score.add(performanceBeside(both, share), seen);
    });
  }
  score.print("the same, 0.8 chosen without the program each time");
}

// The triples of a program of which only two pairs were measured, the others completed.
void printCompletedTriples(const CoRuns& pairs, const std::vector<Triple>& triples, const char* name,
                           Method method, const Flags& flags) {
  TripleScore score;
  for (size_t program = 0; program < pairs.programs.size(); ++program) {
    const HeldOut held = holdOut(pairs, program, {0, 1});
    const Completer completer(held.others, {method, flags.seed});
    for (const auto& known : subsetsOf(held.columns.size(), 2, flags.subsets, flags.seed)) {
      const std::vector<CompletedEntry> row = completer.complete(knowing(held.row, known));
      std::vector<double> beside(pairs.programs.size(), 1);
      for (size_t c = 0; c < row.size(); ++c) beside[held.columns[c]] = std::max(row[c].value, 0.001);
      forEachInTriples(triples, [&](size_t who, size_t first, size_t second, double seen) {
        if (who != program) return;
        const double both[] = {beside[first], beside[second]};
        score.add(performanceBeside(both), seen);
      });
    }
  }
  score.print(name);
}

void printTriples(const CoRuns& pairs, const std::vector<Triple>& triples, const Flags& flags) {
  std::printf("\nPerformance beside two neighbours, from pairs: %zu triples\n", triples.size());
  std::printf("%-58s %8s %8s %8s %8s\n", "", "mean", "p90", "at most 1", "area");
  for (const auto& formula : kFormulas) {
    TripleScore score;
    forEachInTriples(triples, [&](size_t who, size_t first, size_t second, double seen) {
      score.add(formula.predict(*pairs.performance[who][first], *pairs.performance[who][second]), seen);
    });
    score.print(formula.name);
  }
  printChosenShare(pairs, triples);
  std::printf("with two pairs of the program measured and the others completed, by performanceBeside:\n");
  for (const auto& [name, method] : kMethods) printCompletedTriples(pairs, triples, name, method, flags);
}

// Applications of four hidden kinds of need, each entry with a little noise, and so many of ten
// entries missing.
ApplicationMatrix generated(size_t applications, size_t columns, uint64_t missing, uint64_t seed) {
  constexpr size_t kNeeds = 4;
  Rng rng(seed);
  std::vector<double> patterns(kNeeds * columns);
  for (double& weight : patterns) weight = rng.unit();
  ApplicationMatrix matrix(columns, {0, 99});
  for (size_t a = 0; a < applications; ++a) {
    double needs[kNeeds];
    for (double& need : needs) need = rng.unit();
    Entries row(columns);
    for (size_t c = 0; c < columns; ++c) {
      double value = 5 * rng.unit();
      for (size_t n = 0; n < kNeeds; ++n) value += 25 * needs[n] * patterns[n * columns + c];
      if (rng.below(10) >= missing) row[c] = value;
    }
    matrix.add(row);
  }
  return matrix;
}

void printTimes(uint64_t missing, const Flags& flags) {
  constexpr size_t kColumns = 20;
  std::printf("\nProcessor time with %zu applications of %zu columns, %u of ten entries missing\n",
              flags.applications, kColumns, static_cast<unsigned>(missing));
  const ApplicationMatrix matrix = generated(flags.applications, kColumns, missing, flags.seed);
  for (const auto& [name, method] : kMethods) {
    std::optional<Completer> completer;
    double made = std::numeric_limits<double>::infinity();
    for (int run = 0; run < 3; ++run) {
      const double begin = processorNs();
      completer.emplace(matrix, CompleterOptions{method, flags.seed});
      made = std::min(made, (processorNs() - begin) / 1e6);
    }
    std::vector<double> ms;
    for (size_t i = 0; i < 200; ++i) {
      Entries row(kColumns);
      row[i % kColumns] = 40;
      row[(i + 7) % kColumns] = 60;
      const double begin = processorNs();
      completer->complete(row);
      ms.push_back((processorNs() - begin) / 1e6);
    }
    std::printf("%-20s choosing parameters and making the model, least of three: %.0f ms\n", name, made);
    printSpread("  completing one row", std::move(ms));
  }
}

int refused(const Error& error) {
  std::fprintf(stderr, "completion: %s\n", error.message.c_str());
  return 2;
}

int run(const Flags& flags) {
  printConditions();
  printCompletion("Pressures of the applications that came with tarcil", shippedPressures(), {0, 99}, flags);
  if (flags.pairs.empty()) {
    std::printf("no --pairs FILE: completion of measured co-runs is not measured\n");
  } else {
    const auto pairs = readPairs(flags.pairs);
    if (!pairs) return refused(pairs.error());
    printCompletion("Pairs, at most 1", *pairs, {0, 1}, flags);
    const CoRuns some = without(*pairs, "cfd");
    printCompletion("Pairs without cfd, as measured", some, {0, greatest(some)}, flags);
    printCompletion("Pairs, as measured", *pairs, {0, greatest(*pairs)}, flags);
    if (flags.triples.empty()) {
      std::printf("no --triples FILE: three programs at once are not measured\n");
    } else {
      const auto triples = readTriples(flags.triples, *pairs);
      if (!triples) return refused(triples.error());
      printTriples(*pairs, *triples, flags);
    }
  }
  if (flags.kernels.empty()) {
    std::printf("no --kernels FILE: programs beside kernels are not measured\n");
  } else {
    const auto kernels = readKernels(flags.kernels);
    if (!kernels) return refused(kernels.error());
    printCompletion("Programs beside kernels", *kernels, {0, 1}, flags);
  }
  printTimes(1, flags);
  printTimes(8, flags);
  return 0;
}

}  // namespace
}  // namespace tarcil::bench

int main(int argc, char** argv) {
  tarcil::bench::Flags flags;
  CLI::App app("How well are rows of measured applications completed, and how fast?");
  app.add_option("--pairs", flags.pairs, "CSV: program_1,program_2,performance_1,performance_2.");
  app.add_option("--triples", flags.triples,
                 "CSV: three programs, then the performance of each; with --pairs.");
  app.add_option("--kernels", flags.kernels,
                 "CSV: a program, then its slowdown beside each kernel of the header.");
  app.add_option("--subsets", flags.subsets,
                 "Sets of known entries tried for each program and number of entries.")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  app.add_option("--applications", flags.applications, "Generated ones, for the times.")
      ->check(CLI::Range(2, 100'000))
      ->capture_default_str();
  app.add_option("--seed", flags.seed, "Of everything that is by chance.")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  return tarcil::bench::run(flags);
}
