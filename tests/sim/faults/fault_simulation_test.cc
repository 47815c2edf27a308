// A short fault simulation, in every run of the tests; the long ones are commands (tarcil sim --faults).
#include "sim/faults/fault_simulation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>

namespace tarcil::sim::fault_simulation_test {

using testing::IsEmpty;
using testing::Not;

constexpr uint64_t kSeeds = 30;
constexpr uint64_t kEvents = 10'000;

// TARCIL_FAULT_SEEDS=500 simulates that many histories (tests/guards/check_fault_simulation.py sets it).
uint64_t seedsToTry() {
  const char* wanted = std::getenv("TARCIL_FAULT_SEEDS");
  return wanted == nullptr ? kSeeds : std::strtoull(wanted, nullptr, 10);
}

TEST(FaultSimulation, FindsNothing) {
  uint64_t events = 0;
  for (uint64_t seed = 1; seed <= seedsToTry() && !HasFailure(); ++seed) {
    const FaultSimulationResult result = simulation({.seed = seed, .events = kEvents});
    events += result.events;
    EXPECT_THAT(result.violations, IsEmpty())
        << "seed " << seed << ", " << events
        << " events in all; to see it again: tarcil sim --faults --seeds " << seed << " --events " << kEvents;
  }
}

TEST(FaultSimulation, FindsNothingWithSeveralMasters) {
  for (uint64_t seed = 1; seed <= kSeeds / 2 && !HasFailure(); ++seed) {
    const FaultSimulationResult result = simulation({.seed = seed, .events = kEvents, .mastersOnEtcd = 3});
    EXPECT_THAT(result.violations, IsEmpty())
        << "to see it again: tarcil sim --faults --masters 3 --seeds " << seed << " --events " << kEvents;
  }
}

// Mistakes that the rules of docs/masters.md keep out.
class PlantedInTheWayToEtcd : public testing::TestWithParam<EtcdBug> {};

TEST_P(PlantedInTheWayToEtcd, IsFound) {
  bool isFound = false;
  for (uint64_t seed = 1; seed <= 40 && !isFound; ++seed) {
    const FaultSimulationResult result =
        simulation({.seed = seed, .events = 2 * kEvents, .mastersOnEtcd = 3, .etcdBug = GetParam()});
    isFound = !result.violations.empty();
  }
  EXPECT_TRUE(isFound);
}

INSTANTIATE_TEST_SUITE_P(Bug, PlantedInTheWayToEtcd,
                         testing::Values(EtcdBug::kNoFencing, EtcdBug::kGateBeforePut,
                                         EtcdBug::kLeaseFromAnswer, EtcdBug::kStaleStandby,
                                         EtcdBug::kOutcomeGuessed));

TEST(FaultSimulation, GivesTheSameHistoryForTheSameSeedWhetherItIsWrittenDownOrNot) {
  const FaultSimulationOptions written{.seed = 7, .events = kEvents, .log = Log::kKept};
  const FaultSimulationResult first = simulation(written), second = simulation(written);
  EXPECT_THAT(first.log, Not(IsEmpty()));
  EXPECT_EQ(first.log, second.log);
  const FaultSimulationResult unwritten = simulation({.seed = 7, .events = kEvents});
  EXPECT_THAT(unwritten.log, IsEmpty());
  EXPECT_EQ(unwritten.events, first.events);
  EXPECT_EQ(unwritten.faults, first.faults);
  EXPECT_EQ(unwritten.virtualTime, first.virtualTime);
}

TEST(FaultSimulation, BreaksSomethingOfEachKind) {
  std::array<uint64_t, kFaults> faults{};
  uint64_t events = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const FaultSimulationResult result = simulation({.seed = seed, .events = kEvents});
    for (size_t i = 0; i < kFaults; ++i) faults[i] += result.faults[i];
    events += result.events;
  }
  for (size_t i = 0; i < kFaults; ++i) EXPECT_GT(faults[i], 0u) << name(static_cast<Fault>(i));
  EXPECT_GT(std::accumulate(faults.begin(), faults.end(), uint64_t{0}), events / 1'000);
}

}  // namespace tarcil::sim::fault_simulation_test
