// Whole late binding under faults: what is promised of tasks holds whatever is lost, repeated, late, stopped
// or dead.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/latebinding/late_world.h"

namespace tarcil::late::faults_test {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Some jobs of two clients while everything goes wrong, then time to become idle.
class FaultyRun {
 public:
  FaultyRun(uint64_t seed, OnFailure onFailure) : world_(options(seed)), onFailure_(onFailure) {}

  void run() {
    for (int i = 0; i < 60; ++i) {
      misfortune();
      if (i % 3 == 0) submit();
      world_.run(milliseconds(world_.rng().below(40)));
    }
    world_.run(seconds(20));
  }

  LateWorld& world() { return world_; }
  const std::vector<TaskKey>& tasks() const { return tasks_; }

 private:
  static WorldOptions options(uint64_t seed) {
    WorldOptions options{.servers = 5, .slots = 2, .agents = 3, .clients = 2};
    options.leastDelay = std::chrono::microseconds(100);
    options.mostDelay = milliseconds(30);
    options.loss = 0.1;
    options.repeat = 0.1;
    options.scheduler.mostRepeat = seconds(2);
    options.seed = seed;
    return options;
  }

  void submit() {
    const auto client = static_cast<uint32_t>(world_.rng().below(2));
    const auto tasks = static_cast<uint32_t>(1 + world_.rng().below(8));
    const Duration duration = milliseconds(1 + world_.rng().below(60));
    const ClientJob job =
        world_.submitByClient(client, tasks, onFailure_, [duration](TaskIndex) { return duration; });
    for (TaskIndex task = 0; task < tasks; ++task) tasks_.push_back({client, job, task});
  }

  void misfortune() {
    Rng& rng = world_.rng();
    const Duration away = milliseconds(rng.below(200));
    const auto agent = static_cast<uint32_t>(rng.below(3));
    const auto server = static_cast<ServerId>(rng.below(5));
    switch (rng.below(8)) {
      case 0:
        return world_.killServer(server, away);
      case 1:
        return world_.killAgent(agent, away);
      case 2:
        return world_.stopAgent(agent, 10 * away);
      case 3:
      case 4:
        return world_.cutLink(agent, server, away);
      default:
        return;
    }
  }

  LateWorld world_;
  const OnFailure onFailure_;
  std::vector<TaskKey> tasks_;
};

RC_GTEST_PROP(Faults, NoTaskRunsTwiceWhereItRunsAtMostOnce, ()) {
  FaultyRun faulty(*rc::gen::arbitrary<uint64_t>(), OnFailure::kAtMostOnce);
  faulty.run();
  for (const auto& [task, starts] : faulty.world().starts()) RC_ASSERT(starts == 1u);
  // And its owner hears of every one, once.
  for (const TaskKey& task : faulty.tasks()) {
    RC_ASSERT(faulty.world().over().contains(task));
    RC_ASSERT(faulty.world().over().at(task).times == 1u);
    const bool isDone = faulty.world().over().at(task).outcome == Outcome::kDone;
    RC_ASSERT(!isDone || faulty.world().starts().contains(task));
  }
}

RC_GTEST_PROP(Faults, NoTaskIsLostWhereItIsRelaunched, ()) {
  FaultyRun faulty(*rc::gen::arbitrary<uint64_t>(), OnFailure::kRelaunch);
  faulty.run();
  for (const TaskKey& task : faulty.tasks()) {
    RC_ASSERT(faulty.world().over().contains(task));
    RC_ASSERT(faulty.world().over().at(task).times == 1u);
    RC_ASSERT(faulty.world().over().at(task).outcome == Outcome::kDone);
    RC_ASSERT(faulty.world().starts().contains(task));
  }
  // And all slots are free in the end.
  for (ServerId server = 0; server < 5; ++server) {
    RC_ASSERT(faulty.world().server(server).busy() == 0u);
    RC_ASSERT(faulty.world().server(server).queued() == 0u);
  }
}

// The same seed gives the same history: what a failure above prints can be run again.
TEST(Faults, AreTheSameWithTheSameSeed) {
  FaultyRun one(7, OnFailure::kRelaunch), other(7, OnFailure::kRelaunch);
  one.run();
  other.run();
  EXPECT_EQ(one.world().starts(), other.world().starts());
  for (const auto& [task, over] : one.world().over()) EXPECT_EQ(over.at, other.world().over().at(task).at);
}

LateJob ofTasks(uint32_t tasks, bool atMostOnce = false) {
  LateJob job;
  job.tasks = tasks;
  job.atMostOnce = atMostOnce;
  return job;
}

LateWorld::Durations lasting(Duration duration) {
  return [duration](TaskIndex) { return duration; };
}

TEST(Faults, ServerThatDiesWithReservationsIsMadeGood) {
  LateWorld world({.servers = 2, .slots = 1, .agents = 1});
  world.submit(0, ofTasks(2), lasting(seconds(1)));  // keeps both busy
  const JobNumber job = world.submit(0, ofTasks(4), lasting(milliseconds(10)));
  world.run(milliseconds(100));
  world.killServer(0, seconds(1));
  world.run(seconds(10));
  for (TaskIndex task = 0; task < 4; ++task) EXPECT_EQ(world.starts().at({0, job, task}), 1u);
}

TEST(Faults, TasksOfADeadServerRunAgainElsewhereOrAreLost) {
  for (const bool atMostOnce : {false, true}) {
    LateWorld world({.servers = 2, .slots = 4, .agents = 1});
    LateJob spec = ofTasks(4, atMostOnce);
    spec.probeRatio = 1;  // two tasks for each
    const JobNumber job = world.submit(0, spec, lasting(milliseconds(100)));
    world.run(milliseconds(50));
    world.killServer(0, seconds(1));
    world.run(seconds(10));
    uint32_t twice = 0, lost = 0;
    for (TaskIndex task = 0; task < 4; ++task) {
      twice += world.starts().at({0, job, task}) == 2 ? 1 : 0;
      lost += world.over().at({0, job, task}).outcome == Outcome::kLost ? 1 : 0;
    }
    EXPECT_EQ(twice, atMostOnce ? 0u : 2u);
    EXPECT_EQ(lost, atMostOnce ? 2u : 0u);
  }
}

RC_GTEST_PROP(Faults, CancelledJobsEndSoonWhateverIsLost, ()) {
  WorldOptions options{.servers = 4, .slots = 2, .agents = 1};
  options.mostDelay = milliseconds(30);
  options.loss = 0.2;
  options.repeat = 0.2;
  options.scheduler.mostRepeat = seconds(1);
  options.seed = *rc::gen::arbitrary<uint64_t>();
  LateWorld world(options);
  const JobNumber job = world.submit(0, ofTasks(12), lasting(seconds(3600)));
  world.run(milliseconds(world.rng().below(500)));
  world.cancel(0, job);
  world.run(seconds(30));
  RC_ASSERT(world.jobsOver().contains({0, job}));
  for (TaskIndex task = 0; task < 12; ++task)
    RC_ASSERT(world.over().at({0, job, task}).outcome == Outcome::kCancelled);
  for (ServerId server = 0; server < 4; ++server) RC_ASSERT(world.server(server).busy() == 0u);
}

TEST(Faults, AgentThatStopsHoldsNoSlots) {
  LateWorld world({.servers = 1, .slots = 1, .agents = 2});
  world.submit(0, ofTasks(1), lasting(milliseconds(1)));
  world.stopAgent(0, seconds(60));
  const JobNumber job = world.submit(1, ofTasks(1), lasting(milliseconds(1)));
  world.run(QueueOptions{}.patience + milliseconds(10));
  EXPECT_EQ(world.starts().at({1, job, 0}), 1u);
}

// An agent under load is silenced at fifty moments; the client's next task starts elsewhere.
TEST(Faults, ClientOfASilentAgentGoesOnWithin120Ms) {
  std::vector<Duration> took;
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    LateWorld world({.servers = 10, .slots = 4, .agents = 2, .clients = 1, .seed = seed});
    for (int i = 0; i < 20; ++i) {
      world.submitByClient(0, 4, OnFailure::kRelaunch, lasting(milliseconds(30)));
      world.run(milliseconds(10));
    }
    world.run(Duration(world.rng().below(30'000)));
    const MonotonicTime silenced = world.now();
    world.stopAgent(0, seconds(600));
    const ClientJob job = world.submitByClient(0, 4, OnFailure::kRelaunch, lasting(milliseconds(30)));
    world.run(seconds(1));
    ASSERT_EQ(world.failures().size(), 1u);
    took.push_back(world.startedAt({0, job, 0}) - silenced);
  }
  std::sort(took.begin(), took.end());
  EXPECT_LE(took[47], milliseconds(120));
}

}  // namespace tarcil::late::faults_test
