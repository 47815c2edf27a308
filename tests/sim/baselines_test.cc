// The policies that others are compared with.
#include <gtest/gtest.h>

#include <utility>

#include "sim/policies/backfill.h"
#include "sim/policies/central.h"
#include "sim/policies/full_scan.h"
#include "sim/policies/scored_choice.h"
#include "sim/policies/server_queues.h"
#include "sim/simulation.h"

namespace tarcil::sim::baselines_test {

using std::chrono::milliseconds;
using std::chrono::seconds;

const CentralOptions kNoCosts{.launch{}, .decision = {.fixed{}, .perSlot{}}};

TEST(Scores, AreThoseOfKubernetes) {
  EXPECT_EQ(mostAllocated({.units = 3, .free = 1}), 66);
  EXPECT_EQ(leastAllocated({.units = 3, .free = 1}), 33);
  EXPECT_EQ(mostAllocated({.units = 8, .free = 0}), 100);
  EXPECT_EQ(leastAllocated({.units = 8, .free = 8}), 100);
}

// The values of Nomad's own tests of ScoreFitBinPack: 18 where nothing is left, 0 where all is.
TEST(Scores, AreThoseOfNomad) {
  EXPECT_DOUBLE_EQ(bestFit({.units = 8, .free = 0}), 1);
  EXPECT_DOUBLE_EQ(bestFit({.units = 8, .free = 8}), 0);
  EXPECT_NEAR(bestFit({.units = 8, .free = 4}), 13.675 / 18, 1e-4);
  EXPECT_DOUBLE_EQ(bestFit({.units = 8, .free = 0, .ofJob = 1, .jobTasks = 4}), (1 - 2.0 / 4) / 2)
      << "with a task of the same job: the mean with the anti-affinity";
}

// Where the tasks of a job, started at once, are by server.
std::vector<size_t> placesBy(Score score, const std::vector<SimServer>& servers, uint32_t tasks) {
  Workload workload;
  workload.add({}, tasks, seconds(1));
  World world(servers, workload, nullptr);
  CentralPolicy policy(world, highestScore(world, score, Rng(1)), kNoCosts);
  policy.jobArrived(0);
  std::vector<size_t> places;
  for (ServerNumber server = 0; server < servers.size(); ++server) {
    places.push_back(servers[server].units - static_cast<size_t>(world.freeUnits(server)));
  }
  return places;
}

TEST(Scores, FillServersOrSpreadTasks) {
  const std::vector<SimServer> servers{{.units = 4}, {.units = 4}, {.units = 2}};
  EXPECT_EQ(placesBy(mostAllocated, servers, 2), (std::vector<size_t>{0, 0, 2}));
  EXPECT_EQ(placesBy(leastAllocated, servers, 2), (std::vector<size_t>{1, 1, 0}));
  EXPECT_EQ(placesBy(bestFit, servers, 3), (std::vector<size_t>{1, 1, 1})) << "tasks of a job keep apart";
}

// A job alone on a cluster that is as good everywhere.
double delayOfOneJob(PolicyName policy) {
  Scenario scenario;
  scenario.platforms = {{.units = 4, .servers = 10}};
  scenario.jobs = 1;
  scenario.tasks = 1;
  scenario.warmUp = 0;
  scenario.truth = TruthKind::kNone;
  return simulate(scenario, policy, 1).delayMs.mean;
}

TEST(Baselines, StartTasksAtTheSameCostsAsQuality) {
  const double ours = delayOfOneJob(PolicyName::kQuality);
  EXPECT_NEAR(ours, 1.8, 0.02) << "four messages and a disk, less what the end needs not wait for";
  for (const PolicyName policy :
       {PolicyName::kGreedy, PolicyName::kGreedyLeastLoaded, PolicyName::kMostAllocated,
        PolicyName::kLeastAllocated, PolicyName::kBestFit, PolicyName::kBackfill, PolicyName::kLeastLoaded,
        PolicyName::kRandomRetry}) {
    EXPECT_NEAR(delayOfOneJob(policy), ours, 0.02) << name(policy);
  }
}

// When jobs of these tasks and durations, which come one after the other, end on a server of four units.
std::vector<SimTime> endsUnderBackfill(const std::vector<std::pair<uint32_t, Duration>>& jobs) {
  const std::vector<SimServer> servers{{.units = 4}};
  Workload workload;
  for (size_t i = 0; i < jobs.size(); ++i) {
    workload.add({.arrival = milliseconds(i)}, jobs[i].first, jobs[i].second);
  }
  World world(servers, workload, nullptr);
  Backfill policy(world, kNoCosts);
  world.run(policy);
  EXPECT_EQ(world.violations(), 0u);
  std::vector<SimTime> ends;
  for (const JobOutcome& outcome : world.outcomes()) ends.push_back(outcome.ended);
  return ends;
}

TEST(Backfill, LetsThoseByWhoDoNotDelayTheFirst) {
  // Three units are taken for 10 s, and the second job needs all four.
  const auto ends = endsUnderBackfill({{3, seconds(10)}, {4, seconds(5)}, {1, seconds(9)}});
  EXPECT_EQ(ends[1], seconds(15));
  EXPECT_EQ(ends[2], seconds(9) + milliseconds(2)) << "it ends in time";
}

TEST(Backfill, MakesThoseWaitWhoWouldDelayTheFirst) {
  const auto ends = endsUnderBackfill({{3, seconds(10)}, {4, seconds(5)}, {1, seconds(11)}});
  EXPECT_EQ(ends[1], seconds(15));
  EXPECT_EQ(ends[2], seconds(26));
}

TEST(Backfill, LetsThoseByWhoUseWhatTheFirstLeaves) {
  const auto ends = endsUnderBackfill({{3, seconds(10)}, {3, seconds(5)}, {1, seconds(60)}});
  EXPECT_EQ(ends[1], seconds(15));
  EXPECT_EQ(ends[2], seconds(60) + milliseconds(2));
}

TEST(Backfill, RunsJobsThatAreLargerThanTheClusterInParts) {
  EXPECT_EQ(endsUnderBackfill({{6, seconds(10)}})[0], seconds(20));
}

TEST(RandomRetry, FindsTheServerWithRoom) {
  std::vector<SimServer> servers(2, {.units = 1});
  Workload workload;
  workload.add({}, 1, seconds(100));
  for (int i = 1; i < 8; ++i) workload.add({.arrival = seconds(i)}, 1, milliseconds(100));
  const auto waited = [&](Sampling sampling) {
    World world(servers, workload, nullptr);
    ServerQueues policy(world, {.sampling = sampling}, Rng(1));
    world.run(policy);
    Duration sum{};
    for (const JobOutcome& outcome : world.outcomes()) sum += outcome.waited;
    return sum;
  };
  EXPECT_GT(waited(Sampling::kRandom), seconds(50)) << "behind the long one";
  EXPECT_LT(waited(Sampling::kRandomRetry), milliseconds(100));
}

TEST(RandomRetry, QueuesAtItsBound) {
  const std::vector<SimServer> servers{{.units = 1}};
  Workload workload;
  workload.add({}, 1, seconds(100));
  workload.add({.arrival = seconds(1)}, 1, seconds(1));
  World world(servers, workload, nullptr);
  ServerQueues policy(world, {.sampling = Sampling::kRandomRetry}, Rng(1));
  world.run(policy);
  EXPECT_EQ(world.outcomes()[1].ended, world.outcomes()[0].ended + seconds(1));
}

// Two kinds: one presses on a resource of which the other bears nothing.
class FullScanTest : public testing::Test {
 protected:
  static constexpr ApplicationNumber kLoud = 0, kTender = 1;

  FullScanTest() {
    belief_.shares = {fullShare()};
    belief_.profiles.resize(2);
    belief_.profiles[kLoud].caused.fill(60);
    belief_.profiles[kLoud].tolerated.fill(kMaxPressure);
    belief_.profiles[kTender].tolerated.fill(20);
  }

  // The servers of tasks of these applications that come at once, each of one job; kNoServer where it waits.
  std::vector<ServerNumber> placed(const std::vector<ApplicationNumber>& applications) {
    const std::vector<SimServer> servers(2, {.units = 4});
    Workload workload;
    for (const ApplicationNumber application : applications) {
      workload.add({.application = application, .maxWait = seconds(1)}, 1, seconds(10));
    }
    World world(servers, workload, nullptr);
    const auto choice = fullScan(world, belief_, {}, seconds(30), Rng(1));
    for (ServerNumber server = 0; server < 2; ++server) choice->hasFree(server, 4);
    std::vector<ServerNumber> found;
    for (TaskNumber task = 0; task < applications.size(); ++task) {
      found.push_back(choice->choose(task).server);
      if (found.back() != kNoServer) choice->taken(task, found.back());
    }
    return found;
  }

  Belief belief_;
};

TEST_F(FullScanTest, KeepsApartWhoDoNotBearEachOther) {
  const auto found = placed({kLoud, kTender, kTender, kTender});
  EXPECT_EQ(found[1], 1 - found[0]);
  EXPECT_EQ(found[2], found[1]) << "not on the emptier server";
  EXPECT_EQ(found[3], found[1]);
}

TEST_F(FullScanTest, TakesTheEmptierOfServersThatAreAsGood) {
  const auto found = placed({kTender, kTender, kTender, kTender});
  EXPECT_NE(found[1], found[0]);
  EXPECT_NE(found[3], found[2]);
}

TEST_F(FullScanTest, WaitsForAnAcceptableSlot) {
  const auto found = placed({kTender, kTender, kLoud});
  EXPECT_EQ(found[2], kNoServer) << "it would break a neighbour wherever it goes";
}

}  // namespace tarcil::sim::baselines_test
