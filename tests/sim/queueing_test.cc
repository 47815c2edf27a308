// Simulations held against what theory and Sparrow's own simulators say.
#include <gtest/gtest.h>

#include <cmath>

#include "sim/simulation.h"

namespace tarcil::sim::sim_queueing_test {

// Mean wait of M/M/c over the mean service time (Erlang's C).
double erlangWait(int servers, double load) {
  const double offered = load * servers;
  double term = 1, sum = 1;
  for (int k = 1; k < servers; ++k) sum += term *= offered / k;
  const double last = term * offered / servers / (1 - load);
  return last / (sum + last) / (servers * (1 - load));
}

Scenario queueing() {
  Scenario scenario;
  scenario.truth = TruthKind::kNone;
  scenario.durations = Durations::kExponentialTasks;
  return scenario;
}

TEST(Queueing, WaitsAsErlangSays) {
  for (const double load : {0.7, 0.9}) {
    Scenario scenario = queueing();
    scenario.platforms = {{.units = 8, .servers = 1}};
    scenario.jobs = 400'000;
    scenario.tasks = 1;
    scenario.load = load;
    scenario.roundTrip = Duration::zero();
    const Summary run = simulate(scenario, PolicyName::kOmniscient, 1);
    const double expected = 100 * erlangWait(8, load);
    EXPECT_NEAR(run.waitMs.mean, expected, 0.05 * expected) << "load " << load;
    EXPECT_NEAR(run.utilisation, load, 0.01);
  }
}

// The order of Sparrow's Fig. 3, and roughly its numbers, on a tenth of its servers.
TEST(Queueing, OrdersPoliciesAsSparrowDoes) {
  Scenario scenario;
  scenario.truth = TruthKind::kNone;
  scenario.platforms = {{.units = 4, .servers = 1'000}};
  scenario.jobs = 3'000;
  scenario.tasks = 100;
  scenario.load = 0.8;
  scenario.warmUp = 0.4;
  const auto delay = [&scenario](PolicyName policy) { return simulate(scenario, policy, 1).delayMs.mean; };
  const double random = delay(PolicyName::kRandom), perTask = delay(PolicyName::kPerTask);
  const double batch = delay(PolicyName::kBatch), late = delay(PolicyName::kLateBinding);
  const double omniscient = delay(PolicyName::kOmniscient);
  EXPECT_GT(random, 3 * perTask);
  EXPECT_GT(perTask, 1.5 * batch);
  EXPECT_GT(batch, 3 * late);
  EXPECT_GT(late, omniscient);
  // The dispatch, and what a burst of jobs waits on so few servers.
  EXPECT_GE(omniscient, 0.5);
  EXPECT_LT(omniscient, 3);
}

TEST(Queueing, LargerServersGetTheirShareOfEveryPolicy) {
  for (const PolicyName policy : {PolicyName::kRandom, PolicyName::kBatch, PolicyName::kLateBinding}) {
    Scenario scenario = queueing();
    scenario.platforms = {{.units = 32, .servers = 10}, {.units = 4, .servers = 10}};
    scenario.jobs = 4'000;
    scenario.tasks = 4;
    scenario.load = 0.7;
    // Drawn by the server, the small ones would get half of the work and hold an eighth of the units.
    EXPECT_LT(simulate(scenario, policy, 1).waitMs.mean, 100) << name(policy);
  }
}

}  // namespace tarcil::sim::sim_queueing_test
