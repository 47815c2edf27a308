// A truth without a model: how fast real programs were measured to run beside one or two others.
//
// With s = 1 / performance - 1 of a program: beside one or two others it is what was measured. Beyond that it
// is interpolated: beside k >= 3 others, the sum of s over all triples of the program and two of them, over k
// - 1, so that each neighbour counts by the triples in which it was measured. What no file has (a program
// beside a copy of itself, triples where only pairs were given) is put together from pairs: two neighbours
// add up, and a program does to its copy the mean of what it does to others and what they do to it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/base/rng.h"
#include "sim/ground_truth/ground_truth.h"

namespace tarcil::sim {

// Slowdowns beside one and beside two others.
struct CoRuns {
  std::vector<std::string> programs;
  // s of the first beside the second, by row: programs x programs, the diagonal filled in as above.
  std::vector<double> pairs;
  // s of the first beside the two others: programs x programs x programs; filled in where not measured.
  std::vector<double> triples;

  double beside(size_t program, size_t other) const { return pairs[program * programs.size() + other]; }
  double beside(size_t program, size_t one, size_t other) const {
    return triples[(program * programs.size() + one) * programs.size() + other];
  }
};

// What is taken of a performance above 1, which says that a program ran faster beside others than alone.
enum class AboveOne : uint8_t { kAsMeasured, kAsOne };

// From the text of a CSV of pairs (program_1, program_2, performance_1, performance_2, ...) and, where not
// empty, of one of triples (three programs, three performances, ...); further columns are not looked at.
// Error: kInvalid with "file:line:column: field: problem; remedy"; all pairs have to be there.
Result<CoRuns> readCoRuns(std::string_view pairs, const std::string& pairsFile, std::string_view triples,
                          const std::string& triplesFile, AboveOne aboveOne = AboveOne::kAsMeasured);

// Programs are the applications; there is one platform.
class MeasuredTruth final : public GroundTruth {
 public:
  explicit MeasuredTruth(CoRuns coRuns) : coRuns_(std::move(coRuns)) {}

  uint16_t applications() const override { return static_cast<uint16_t>(coRuns_.programs.size()); }
  double alone(ApplicationNumber, PlatformNumber) const override { return 1; }
  double fastest(ApplicationNumber program, PlatformNumber platform, uint32_t tasks) const override;
  void speeds(PlatformNumber platform, std::span<const ApplicationNumber> tasks,
              std::span<double> speeds) override;

  // Profiles that explain the measured pairs (triples are not looked at): of each pair the loss 1 -
  // performance is to be the most by which what the one causes exceeds, on some resource, what the other
  // tolerates. Found by changing one entry after the other while that helps. As tolerated is told what costs
  // a twentieth of the speed. Then each pressure and each demand (99 - tolerated) is off by a normal deviate
  // whose mean size is `error` of itself.
  Belief belief(double error, Rng& rng) const { return beliefFrom(losses(), error, rng); }
  // The same from these losses of each program beside each other one, as in fittedProfiles().
  Belief beliefFrom(const std::vector<double>& losses, double error, Rng& rng) const;
  // 1 - performance of each program beside each other one and a copy of itself, at least 0; by row.
  std::vector<double> losses() const;

 private:
  double slowdown(ApplicationNumber program, std::span<const ApplicationNumber> others) const;

  const CoRuns coRuns_;
  std::vector<ApplicationNumber> others_;  // of one task, while speeds() goes through them
};

}  // namespace tarcil::sim
