#include "sim/ground_truth/measured.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>

#include "sim/chance.h"
#include "sim/ground_truth/fitted_profiles.h"
#include "sim/workload/trace_text.h"

namespace tarcil::sim {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
constexpr size_t kMaxPrograms = 200;
// Of what a program does alone; beyond them it is a slip, and nobody would run on, or backwards.
constexpr NumberRange kPerformances = {.least = 0.001, .most = 1'000};

// A program is said to bear what costs it a twentieth of its speed, in points of the scale.
constexpr int kBorneLoss = 5;

// Programs run faster beside some others than alone; the sum over many must not turn time back.
constexpr double kLeastSlowdown = -0.5;

double speedAt(double slowdown) {
  return 1 / (1 + std::max(kLeastSlowdown, slowdown));
}

class Reader {
 public:
  explicit Reader(AboveOne aboveOne) : aboveOne_(aboveOne) {}

  Status readPairs(std::string_view text, const std::string& file) {
    struct Pair {
      size_t a, b;
      double ofA, ofB;
    };
    TraceText lines(text, file, Separator::kComma);
    std::vector<Pair> pairs;
    lines.next();  // the header
    while (lines.next()) {
      if (!hasFields(lines, 4)) continue;
      const auto a = lines.number(2, "performance_1", kPerformances),
                 b = lines.number(3, "performance_2", kPerformances);
      if (!a || !b) continue;
      pairs.push_back({numberOf(lines.field(0)), numberOf(lines.field(1)), slowdownOf(*a), slowdownOf(*b)});
    }
    if (Status status = lines.verdict(); !status) return status;
    const size_t count = runs_.programs.size();
    if (count < 2 || count > kMaxPrograms) {
      return invalid(file + ":1:1: file: has " + std::to_string(count) + " programs; write pairs of 2 to " +
                     std::to_string(kMaxPrograms));
    }
    runs_.pairs.assign(count * count, kUnknown);
    for (const Pair& pair : pairs) {
      runs_.pairs[pair.a * count + pair.b] = pair.ofA;
      runs_.pairs[pair.b * count + pair.a] = pair.ofB;
    }
    return fillDiagonal(file);
  }

  Status readTriples(std::string_view text, const std::string& file) {
    TraceText lines(text, file, Separator::kComma);
    const size_t count = runs_.programs.size();
    runs_.triples.assign(count * count * count, kUnknown);
    lines.next();  // the header
    while (lines.next()) {
      if (!hasFields(lines, 6)) continue;
      size_t programs[3];
      std::optional<double> performances[3];
      bool good = true;
      for (size_t i = 0; i < 3; ++i) {
        const auto known = numbers_.find(std::string(lines.field(i)));
        if (known == numbers_.end()) {
          lines.problem(i, "program_" + std::to_string(i + 1),
                        "is " + inQuotes(lines.field(i)) + ", which no pair has; mend it or add its pairs");
        }
        programs[i] = known == numbers_.end() ? 0 : known->second;
        performances[i] = lines.number(3 + i, "performance_" + std::to_string(i + 1), kPerformances);
        good = good && known != numbers_.end() && performances[i];
      }
      for (size_t i = 0; good && i < 3; ++i) {
        const size_t one = programs[(i + 1) % 3], other = programs[(i + 2) % 3];
        at(programs[i], one, other) = at(programs[i], other, one) = slowdownOf(*performances[i]);
      }
    }
    return lines.verdict();
  }

  CoRuns finish() {
    const size_t count = runs_.programs.size();
    if (runs_.triples.empty()) runs_.triples.assign(count * count * count, kUnknown);
    for (size_t a = 0; a < count; ++a) {
      for (size_t b = 0; b < count; ++b) {
        for (size_t c = 0; c < count; ++c) {
          if (std::isnan(at(a, b, c))) at(a, b, c) = runs_.beside(a, b) + runs_.beside(a, c);
        }
      }
    }
    return std::move(runs_);
  }

 private:
  static bool hasFields(TraceText& lines, size_t least) {
    if (lines.fields() >= least) return true;
    return lines.require(least);
  }

  double slowdownOf(double performance) const {
    return 1 / (aboveOne_ == AboveOne::kAsOne ? std::min(1.0, performance) : performance) - 1;
  }

  double& at(size_t a, size_t b, size_t c) {
    return runs_.triples[(a * runs_.programs.size() + b) * runs_.programs.size() + c];
  }

  size_t numberOf(std::string_view program) {
    const auto [known, isNew] = numbers_.try_emplace(std::string(program), runs_.programs.size());
    if (isNew) runs_.programs.emplace_back(program);
    return known->second;
  }

  Status fillDiagonal(const std::string& file) {
    const size_t count = runs_.programs.size();
    for (size_t a = 0; a < count; ++a) {
      double suffered = 0, done = 0;
      for (size_t b = 0; b < count; ++b) {
        if (a == b) continue;
        if (std::isnan(runs_.beside(a, b))) {
          return invalid(file + ":1:1: file: has no pair of " + inQuotes(runs_.programs[a]) + " and " +
                         inQuotes(runs_.programs[b]) + "; add it");
        }
        suffered += runs_.beside(a, b);
        done += runs_.beside(b, a);
      }
      double& own = runs_.pairs[a * count + a];
      if (std::isnan(own)) own = (suffered + done) / 2 / static_cast<double>(count - 1);
    }
    return {};
  }

  const AboveOne aboveOne_;
  CoRuns runs_;
  std::map<std::string, size_t, std::less<>> numbers_;
};

}  // namespace

Result<CoRuns> readCoRuns(std::string_view pairs, const std::string& pairsFile, std::string_view triples,
                          const std::string& triplesFile, AboveOne aboveOne) {
  Reader reader(aboveOne);
  if (const Status status = reader.readPairs(pairs, pairsFile); !status) return status.error();
  if (!triples.empty()) {
    if (const Status status = reader.readTriples(triples, triplesFile); !status) return status.error();
  }
  return reader.finish();
}

double MeasuredTruth::slowdown(ApplicationNumber program, std::span<const ApplicationNumber> others) const {
  if (others.empty()) return 0;
  if (others.size() == 1) return coRuns_.beside(program, others[0]);
  double sum = 0;
  for (size_t i = 0; i < others.size(); ++i) {
    for (size_t k = i + 1; k < others.size(); ++k) sum += coRuns_.beside(program, others[i], others[k]);
  }
  return sum / static_cast<double>(others.size() - 1);
}

void MeasuredTruth::speeds(PlatformNumber, std::span<const ApplicationNumber> tasks,
                           std::span<double> speeds) {
  for (size_t i = 0; i < tasks.size(); ++i) {
    others_.assign(tasks.begin(), tasks.end());
    others_.erase(others_.begin() + static_cast<std::ptrdiff_t>(i));
    speeds[i] = speedAt(slowdown(tasks[i], others_));
  }
}

double MeasuredTruth::fastest(ApplicationNumber program, PlatformNumber, uint32_t tasks) const {
  const size_t count = coRuns_.programs.size();
  const auto least = [](const std::vector<double>& slowdowns, size_t row, size_t columns) {
    const auto first = slowdowns.begin() + static_cast<std::ptrdiff_t>(row * columns);
    return *std::min_element(first, first + static_cast<std::ptrdiff_t>(columns));
  };
  double slowdown = 0;
  if (tasks >= 2) slowdown = std::min(slowdown, least(coRuns_.pairs, program, count));
  if (tasks < 3) return speedAt(slowdown);
  // Beside k others it is k / 2 times the mean over its triples.
  const double ofTriples = least(coRuns_.triples, program, count * count);
  return speedAt(std::min({slowdown, ofTriples, ofTriples * (tasks - 1) / 2}));
}

std::vector<double> MeasuredTruth::losses() const {
  std::vector<double> losses;
  for (const double slowdown : coRuns_.pairs) losses.push_back(std::max(0.0, 1 - 1 / (1 + slowdown)));
  return losses;
}

Belief MeasuredTruth::beliefFrom(const std::vector<double>& losses, double error, Rng& rng) const {
  const size_t count = coRuns_.programs.size();
  Belief belief;
  belief.profiles = fittedProfiles(losses, rng);
  belief.shares.push_back(fullShare());
  const double deviation = error / std::sqrt(2 / std::numbers::pi);
  for (size_t i = 0; i < count; ++i) {
    Profile& profile = belief.profiles[i];
    profile.application = coRuns_.programs[i];
    for (uint8_t& entry : profile.tolerated) {
      entry = static_cast<uint8_t>(std::min<int>(entry + kBorneLoss, kMaxPressure));
    }
    const auto off = [deviation, &rng](int points) {
      const double moved = points * (1 + deviation * normal(rng));
      return static_cast<uint8_t>(std::lround(std::clamp(moved, 0.0, double{kMaxPressure})));
    };
    for (uint8_t& entry : profile.caused) entry = off(entry);
    for (uint8_t& entry : profile.tolerated) {
      entry = static_cast<uint8_t>(kMaxPressure - off(kMaxPressure - entry));
    }
  }
  return belief;
}

}  // namespace tarcil::sim
