#include "sim/scenario.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iterator>

#include "sim/scenario_check.h"
#include "sim/simulation.h"

namespace tarcil::sim::scenario_test {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

// Small enough for every policy, and interference in it.
Scenario small() {
  Scenario scenario;
  scenario.platforms = {
      {.units = 4, .servers = 15}, {.units = 8, .servers = 10}, {.units = 16, .servers = 5}};
  scenario.jobs = 400;
  scenario.tasks = 5;
  scenario.load = 0.6;
  scenario.mostPressure = 0.3;
  scenario.warmUp = 0;
  return scenario;
}

class EveryPolicy : public testing::TestWithParam<PolicyName> {};

TEST_P(EveryPolicy, GivesTheSameForASeedAndOtherForAnother) {
  const auto run = [](uint64_t seed) {
    Scenario scenario = small();
    scenario.classificationError = 0.1;
    const Summary summary = simulate(scenario, GetParam(), seed);
    return std::tuple(summary.performances, summary.events, summary.conflicts, summary.responseMs.mean,
                      summary.decisionUs.p99);
  };
  EXPECT_EQ(run(1), run(1));
  EXPECT_NE(run(1), run(2));
}

TEST_P(EveryPolicy, RunsEveryTaskOnceOnUnitsOfItsOwn) {
  for (const double load : {0.3, 0.9, 2.0}) {
    Scenario scenario = small();
    scenario.load = load;
    const Summary summary = simulate(scenario, GetParam(), 3);
    EXPECT_EQ(summary.violations, 0u) << "load " << load;
    EXPECT_EQ(summary.unfinished, 0u) << "load " << load;
    EXPECT_EQ(summary.jobs, 400u);
  }
}

TEST_P(EveryPolicy, IsNeverFasterThanTheIdeal) {
  const Summary summary = simulate(small(), GetParam(), 4);
  EXPECT_LE(summary.performances.back(), 1.0001);
  EXPECT_GE(summary.delayMs.p50, 0);
}

TEST_P(EveryPolicy, LeavesResidentsTheirUnits) {
  Scenario scenario = small();
  scenario.residents = {.part = 0.5, .rus = 2};
  scenario.load = 0.3;
  const Summary summary = simulate(scenario, GetParam(), 5);
  EXPECT_EQ(summary.violations, 0u);
  EXPECT_EQ(summary.unfinished, 0u);
  EXPECT_LT(summary.residentQuality.mean, 1) << "they feel the tasks";
  EXPECT_GT(summary.residentQuality.mean, 0.2);
}

TEST_P(EveryPolicy, RunsStreamsAndTellsThemApart) {
  Scenario scenario = small();
  scenario.workload = WorkloadKind::kStreams;
  scenario.span = std::chrono::seconds(5);
  scenario.streams = {{.name = "short", .load = 0.3}, {.name = "long", .load = 0.2, .tasks = 3}};
  scenario.streams[1].mean = std::chrono::seconds(1);
  scenario.moments = 9;
  const Summary summary = simulate(scenario, GetParam(), 6);
  EXPECT_EQ(summary.unfinished, 0u);
  ASSERT_EQ(summary.streams.size(), 2u);
  EXPECT_EQ(summary.streams[0].jobs + summary.streams[1].jobs, summary.jobs);
  EXPECT_EQ(summary.streams[1].name, "long");
  EXPECT_GE(summary.streams[1].responseMs.p5, 999);
  EXPECT_EQ(summary.moments.size(), 9u);
}

INSTANTIATE_TEST_SUITE_P(Scenario, EveryPolicy,
                         testing::Values(PolicyName::kQuality, PolicyName::kGreedy, PolicyName::kAgentBatch,
                                         PolicyName::kAgentPerTask, PolicyName::kAgentRandom,
                                         PolicyName::kLateBinding, PolicyName::kLateBindingAware,
                                         PolicyName::kLateBindingAdaptive, PolicyName::kBatch,
                                         PolicyName::kPerTask, PolicyName::kRandom, PolicyName::kLeastLoaded,
                                         PolicyName::kOmniscient, PolicyName::kIdeal,
                                         PolicyName::kGreedyLeastLoaded, PolicyName::kRandomRetry,
                                         PolicyName::kMostAllocated, PolicyName::kLeastAllocated,
                                         PolicyName::kBestFit, PolicyName::kBackfill),
                         [](const auto& named) {
                           std::string text(name(named.param));
                           std::erase(text, '-');
                           return text;
                         });

TEST(Scenario, QualityPlacesTasksWhereTheyRunFaster) {
  Scenario scenario = small();
  scenario.mean = std::chrono::seconds(10);
  const auto quality = [&scenario](PolicyName policy) { return simulate(scenario, policy, 1).quality.mean; };
  const double ours = quality(PolicyName::kQuality);
  EXPECT_GT(ours, quality(PolicyName::kBatch) + 0.02);
  EXPECT_GT(ours, quality(PolicyName::kRandom) + 0.02);
}

TEST(Scenario, RunsTasksThatAreSlowerThanAnybodyKnows) {
  Scenario scenario = small();
  const double exact = simulate(scenario, PolicyName::kLeastLoaded, 1).quality.mean;
  scenario.noise = 0.4;
  const double noisy = simulate(scenario, PolicyName::kLeastLoaded, 1).quality.mean;
  EXPECT_LT(noisy / exact, 0.82) << "by a fifth on average, and more as they are longer beside others";
  EXPECT_GT(noisy / exact, 0.7);
}

TEST(Scenario, HasTheLoadItWasAskedFor) {
  for (const uint64_t seed : {1, 2, 3}) {
    EXPECT_NEAR(simulate(small(), PolicyName::kRandom, seed).load, 0.6, 1e-4);
  }
}

// More than the cluster can do, and of high priority more than a fair share.
TEST(Scenario, HighPriorityPassesTheOthers) {
  Scenario scenario = small();
  scenario.truth = TruthKind::kNone;
  scenario.workload = WorkloadKind::kStreams;
  scenario.span = std::chrono::seconds(10);
  scenario.streams = {{.name = "high", .load = 0.6, .priority = 80}, {.name = "low", .load = 1.2}};
  scenario.agents = 1;  // several race for what comes free, whatever the priority
  for (const PolicyName policy : {PolicyName::kLateBinding, PolicyName::kQuality}) {
    const Summary summary = simulate(scenario, policy, 1);
    EXPECT_LT(summary.streams[0].responseMs.p50, 300) << name(policy);
    EXPECT_GT(summary.streams[1].responseMs.p50, 1'000) << name(policy);
  }
}

// Of two users who ask for more than there is, each gets slots by their shares.
TEST(Scenario, LateBindingGivesSlotsByShares) {
  Scenario scenario = small();
  scenario.truth = TruthKind::kNone;
  scenario.workload = WorkloadKind::kStreams;
  scenario.span = std::chrono::seconds(10);
  scenario.streams = {{.name = "a", .load = 1.5, .shares = 3}, {.name = "b", .load = 1.5}};
  scenario.moments = 19;
  const Summary summary = simulate(scenario, PolicyName::kLateBinding, 1);
  double held[2] = {};
  for (size_t i = 9; i < summary.moments.size(); ++i) {
    for (int stream : {0, 1}) held[stream] += static_cast<double>(summary.moments[i].heldByStream[stream]);
  }
  EXPECT_NEAR(held[0] / (held[0] + held[1]), 0.75, 0.03);
}

// The queue of the master is weighted max-min fair between users, too.
TEST(Scenario, QualityGivesUnitsByShares) {
  Scenario scenario = small();
  scenario.truth = TruthKind::kNone;
  scenario.workload = WorkloadKind::kStreams;
  scenario.span = std::chrono::seconds(40);
  scenario.agents = 1;
  scenario.streams = {{.name = "a", .load = 1.5, .shares = 3}, {.name = "b", .load = 1.5}};
  for (Stream& stream : scenario.streams) stream.mean = std::chrono::seconds(1);
  scenario.moments = 19;
  const Summary summary = simulate(scenario, PolicyName::kQuality, 1);
  double held[2] = {};
  for (size_t i = 9; i < summary.moments.size(); ++i) {
    for (int stream : {0, 1}) held[stream] += static_cast<double>(summary.moments[i].heldByStream[stream]);
  }
  EXPECT_NEAR(held[0] / (held[0] + held[1]), 0.75, 0.05);
}

// A job that is too large for what residents leave waits for ever; the run ends all the same.
TEST(Scenario, EndsWhereAJobNeverFits) {
  Scenario scenario = small();
  scenario.platforms = {{.units = 4, .servers = 2}};
  scenario.residents = {.part = 0.5, .rus = 2};
  scenario.workload = WorkloadKind::kTrace;
  auto trace = std::make_shared<Trace>();
  for (const uint32_t rus : {1U, 4U}) {
    TraceJob& job = trace->jobs.emplace_back();
    job.rus = rus;
    job.each = std::chrono::seconds(1);
  }
  scenario.trace = trace;
  EXPECT_EQ(simulate(scenario, PolicyName::kQuality, 1).unfinished, 1u);
}

// 220 units turn over 2,200 tasks a second; this scheduler gets a thousand sent.
TEST(Scenario, DispatchOneAfterTheOtherBoundsWhatACentralSchedulerDoes) {
  Scenario scenario = small();
  scenario.truth = TruthKind::kNone;
  scenario.durations = Durations::kConstant;
  scenario.load = 0.8;
  EXPECT_LT(simulate(scenario, PolicyName::kOmniscient, 1).responseMs.p95, 150);
  scenario.dispatch = std::chrono::milliseconds(1);
  EXPECT_GT(simulate(scenario, PolicyName::kOmniscient, 1).responseMs.p95, 300);
}

TEST(Scenario, WithoutCancellationSlotsAskInVain) {
  Scenario scenario = small();
  scenario.truth = TruthKind::kNone;
  scenario.load = 0.9;
  scenario.jobs = 4'000;
  const double cancelled = simulate(scenario, PolicyName::kLateBinding, 1).delayMs.mean;
  scenario.cancel = false;
  EXPECT_GT(simulate(scenario, PolicyName::kLateBinding, 1).delayMs.mean, 1.02 * cancelled);
}

TEST(Scenario, WrongProfilesCostQuality) {
  Scenario scenario = small();
  scenario.mean = std::chrono::seconds(10);
  const double right = simulate(scenario, PolicyName::kQuality, 1).quality.mean;
  scenario.classificationError = 0.3;
  EXPECT_LT(simulate(scenario, PolicyName::kQuality, 1).quality.mean, right - 0.01);
}

TEST(Scenario, ClassifiedProfilesCostQualityAndAreWorthIt) {
  Scenario scenario = small();
  scenario.mean = std::chrono::seconds(10);
  const auto quality = [&scenario](PolicyName policy) { return simulate(scenario, policy, 1).quality.mean; };
  const double right = quality(PolicyName::kQuality);
  scenario.profiles = ProfileSource::kClassified;
  scenario.probes = 3;
  const double ours = quality(PolicyName::kQuality);
  EXPECT_LT(ours, right - 0.005);
  EXPECT_GT(ours, quality(PolicyName::kRandom) + 0.01);
}

TEST(Scenario, MovesArrivalsToReachALoad) {
  Scenario scenario = small();
  scenario.workload = WorkloadKind::kMixed;
  scenario.load = 0.4;
  EXPECT_NEAR(simulate(scenario, PolicyName::kRandom, 1).load, 0.4, 1e-6);
}

TEST(Scenario, LeavesOutTheWarmUpAndRunsIt) {
  Scenario scenario = small();
  scenario.warmUp = 0.25;
  const Summary summary = simulate(scenario, PolicyName::kBatch, 1);
  EXPECT_EQ(summary.jobs, 300u);
  EXPECT_EQ(summary.performances.size(), 300u);
}

TEST(ScenarioProblems, AreNamedWithARemedy) {
  EXPECT_THAT(problems(Scenario{}), IsEmpty());
  Scenario scenario;
  scenario.platforms = {{.units = 4'096, .servers = 1'000}};
  scenario.load = 0;
  scenario.warmUp = 1;
  scenario.probeRatio = 0.5;
  scenario.settings.target = 2;
  const auto found = problems(scenario);
  EXPECT_THAT(found, Contains("resource units: is 4096000; write a number from 1 to 1000000"));
  EXPECT_THAT(found, Contains("load: is 0; write a number from 0.001 to 10"));
  EXPECT_THAT(found, Contains(HasSubstr("warm_up: is 1; write")));
  EXPECT_THAT(found, Contains("probe_ratio: is 0.5; write a number from 1 to 100"));
  EXPECT_THAT(found, Contains(HasSubstr("target")));
  Scenario large;
  large.jobs = 1;
  large.tasks = 200'000;
  EXPECT_THAT(problems(large), Contains(HasSubstr("at most 100000 tasks in one job")));
  large.policies = {PolicyName::kBatch};
  EXPECT_THAT(problems(large), IsEmpty());
}

TEST(ScenarioProblems, TellWhatDoesNotGoTogether) {
  Scenario scenario;
  scenario.truth = TruthKind::kMeasured;
  scenario.platforms = {{}, {}};
  EXPECT_THAT(problems(scenario), Contains(HasSubstr("co-runs were measured on one platform")));
  Scenario classified;
  classified.profiles = ProfileSource::kClassified;
  EXPECT_THAT(problems(classified), IsEmpty());
  classified.classificationError = 0.1;
  EXPECT_THAT(problems(classified), Contains(HasSubstr("classification_error: stands beside profiles")));
  classified.truth = TruthKind::kNone;
  EXPECT_THAT(problems(classified),
              Contains(HasSubstr("nothing to classify without a truth that is probed")));
  Scenario wide;
  Trace trace;
  trace.jobs = {{.rus = 2, .each = Duration(1), .application = "a"}};
  wide.trace = std::make_shared<const Trace>(trace);
  wide.policies = {PolicyName::kLateBinding};
  EXPECT_THAT(problems(wide), Contains(HasSubstr("late-binding places tasks of one unit")));
}

TEST(PolicyNames, AreReadAsTheyAreWritten) {
  for (std::string_view text : kPolicyNames) EXPECT_EQ(name(*policyNamed(text)), text);
  EXPECT_FALSE(policyNamed("best"));
}

}  // namespace tarcil::sim::scenario_test
