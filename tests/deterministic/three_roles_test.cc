// Master, agents and monitors together on a virtual clock, without RPC: jobs come to their end whatever
// breaks, and one seed gives one history, byte for byte.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/builders.h"
#include "tests/support/fake_cluster.h"

namespace tarcil {
namespace {

using namespace std::chrono_literals;
using testing::IsEmpty;

constexpr Duration kPatience = 10min;
constexpr uint64_t kSeeds = 20;

JobSpec sleeping(uint32_t tasks, const std::string& time, Pressures caused = {{Resource::kLlc, 30}}) {
  JobSpec spec = aJob(tasks, causing(caused));
  spec.name = "sleep";
  spec.command = {"sleep", time};
  return spec;
}

FakeClusterOptions withSeed(uint64_t seed) {
  FakeClusterOptions options;
  options.seed = seed;
  return options;
}

// More work than the cluster holds at once, over both agents: several kinds of job, tasks from 10 ms to 2 s.
std::vector<JobId> submitMixedWork(FakeCluster& cluster) {
  std::vector<JobId> jobs;
  for (uint32_t i = 0; i < 12; ++i) {
    JobSpec spec =
        sleeping(1 + i % 5,
                 i % 3 == 0   ? "2"
                 : i % 3 == 1 ? "0.3"
                              : "0.01",
                 {{i % 2 == 0 ? Resource::kLlc : Resource::kMemoryBandwidth, 20 + 5 * static_cast<int>(i)}});
    if (i % 4 == 1) spec.schedule = Schedule::kGang;
    std::vector<InputFile> files;
    if (i % 4 == 2) files = {{"input", 0644, "data"}};
    jobs.push_back(cluster.submit(spec, i % 2, std::move(files)));
    cluster.run(50ms);
  }
  return jobs;
}

// Every job has ended well, every client was told, and no promise was broken.
void expectAllWell(FakeCluster& cluster) {
  EXPECT_TRUE(cluster.runToRest(kPatience)) << "the cluster did not come to rest";
  EXPECT_TRUE(cluster.allAnswered());
  EXPECT_TRUE(cluster.allDone());
  EXPECT_THAT(cluster.violations(), IsEmpty());
}

std::string historyOf(uint64_t seed) {
  FakeCluster cluster(withSeed(seed));
  submitMixedWork(cluster);
  cluster.killMaster(200ms);
  cluster.run(500ms);
  cluster.killAgent(0, 100ms);
  expectAllWell(cluster);
  return cluster.log();
}

TEST(ThreeRoles, RunJobsToTheirEnd) {
  FakeCluster cluster(withSeed(1));
  const std::vector<JobId> jobs = submitMixedWork(cluster);
  expectAllWell(cluster);
  for (const JobId& job : jobs) {
    for (const TaskRecord& task : cluster.tasksOf(job))
      EXPECT_EQ(task.attempt, 0u) << "task ran more than once";
  }
}

TEST(ThreeRoles, GiveTheSameHistoryForTheSameSeed) {
  const std::string first = historyOf(7);
  EXPECT_EQ(first, historyOf(7));
  EXPECT_NE(first, historyOf(8));
}

TEST(ThreeRoles, ReportAFailedTask) {
  FakeCluster cluster(withSeed(1));
  JobSpec spec = aJob(1);
  spec.command = {"false"};
  spec.restart.attempts = 2;
  spec.restart.backoff = 100ms;
  const JobId job = cluster.submit(spec);
  ASSERT_TRUE(cluster.runToRest(kPatience));
  EXPECT_EQ(cluster.stateOf(job), RunState::kFailed);
  EXPECT_EQ(cluster.tasksOf(job)[0].failures, 3u);
  EXPECT_EQ(cluster.tasksOf(job)[0].end.exitCode, 1);
}

TEST(ThreeRoles, EndATaskAtItsTimeout) {
  FakeCluster cluster(withSeed(1));
  JobSpec spec = sleeping(1, "60m");
  spec.timeout = 5s;
  const JobId job = cluster.submit(spec);
  ASSERT_TRUE(cluster.runToRest(kPatience));
  EXPECT_EQ(cluster.stateOf(job), RunState::kFailed);
  EXPECT_EQ(cluster.tasksOf(job)[0].end.cause, EndCause::kTimedOut);
}

TEST(ThreeRoles, CancelAJobWhereverItsTasksAre) {
  for (Duration after : {0us, 3'000us, 6'000us, 9'000us, 12'000us, 15'000us, 1'000'000us}) {
    SCOPED_TRACE(after.count());
    FakeCluster cluster(withSeed(3));
    cluster.run(100ms);
    const JobId job = cluster.submit(sleeping(8, "60m"));
    cluster.run(after);
    cluster.cancel(job);
    cluster.run(20ms);
    cluster.cancel(job);  // the first one may have come before the job did
    ASSERT_TRUE(cluster.runToRest(kPatience));
    EXPECT_EQ(cluster.stateOf(job), RunState::kCancelled);
    EXPECT_THAT(cluster.violations(), IsEmpty());
  }
}

// Something breaks at a random moment while the work is done; a second of each length of absence is tried.
template <typename Break>
void expectSurvives(Break breakSomething) {
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    FakeCluster cluster(withSeed(seed));
    submitMixedWork(cluster);
    for (int times = 0; times < 3; ++times) {
      breakSomething(cluster);
      cluster.run(Duration(static_cast<int64_t>(cluster.rng().below(2'000'000))));
    }
    expectAllWell(cluster);
    if (testing::Test::HasFailure()) break;
  }
}

Duration upTo(Duration most, FakeCluster& cluster) {
  return Duration(static_cast<int64_t>(cluster.rng().below(static_cast<uint64_t>(most.count()))));
}

TEST(ThreeRoles, SurviveTheDeathOfTheMaster) {
  expectSurvives([](FakeCluster& cluster) { cluster.killMaster(upTo(1s, cluster)); });
}

}  // namespace
}  // namespace tarcil
