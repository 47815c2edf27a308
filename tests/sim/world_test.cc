#include "sim/world.h"

#include <gtest/gtest.h>

#include <functional>

#include "sim/moment.h"

namespace tarcil::sim::world_test {

using std::chrono::milliseconds;

// Does what a test says.
class Scripted final : public Scheduler {
 public:
  std::function<void(JobNumber)> onJob = [](JobNumber) {};
  std::function<void(TaskNumber, ServerNumber)> onEnd = [](TaskNumber, ServerNumber) {};
  std::function<void(const Message&)> onMessage = [](const Message&) {};

  void jobArrived(JobNumber job) override { onJob(job); }
  void taskEnded(TaskNumber task, ServerNumber server) override { onEnd(task, server); }
  void received(const Message& message) override { onMessage(message); }
};

// Tasks run at full speed alone, at half beside one other, and so on.
class Halving final : public GroundTruth {
 public:
  uint16_t applications() const override { return 1; }
  double alone(ApplicationNumber, PlatformNumber) const override { return 1; }
  void speeds(PlatformNumber, std::span<const ApplicationNumber> tasks, std::span<double> speeds) override {
    for (double& speed : speeds) speed = 1 / static_cast<double>(tasks.size());
  }
};

Workload jobsAt(const std::vector<SimTime>& arrivals, uint32_t tasks, Duration each) {
  Workload workload;
  for (SimTime arrival : arrivals) workload.add({.arrival = arrival}, tasks, each);
  return workload;
}

TEST(World, RunsTasksForAsLongAsTheirWork) {
  const std::vector<SimServer> servers{{.units = 2}};
  const Workload workload = jobsAt({milliseconds(5)}, 2, milliseconds(10));
  World world(servers, workload, nullptr);
  Scripted scheduler;
  scheduler.onJob = [&world](JobNumber) {
    world.start(0, 0);
    world.send(milliseconds(3), {.kind = 7, .a = 1});
  };
  scheduler.onMessage = [&world](const Message& message) {
    EXPECT_EQ(message.kind, 7);
    world.start(message.a, 0);
  };
  world.run(scheduler);
  const JobOutcome& outcome = world.outcomes()[0];
  EXPECT_EQ(outcome.ended, milliseconds(18));
  EXPECT_EQ(outcome.waited, Duration(1500));
  EXPECT_EQ(world.jobsDone(), 1u);
  EXPECT_EQ(world.freeUnits(0), 2);
}

TEST(World, SlowsTasksDownOnlyWhileTheyAreTogether) {
  const std::vector<SimServer> servers{{.units = 2}};
  const Workload workload = jobsAt({milliseconds(0), milliseconds(4)}, 1, milliseconds(10));
  Halving truth;
  World world(servers, workload, &truth);
  Scripted scheduler;
  scheduler.onJob = [&world](JobNumber job) { world.start(job, 0); };
  world.run(scheduler);
  // The first has 6 ms of work left when the second comes and needs 12 for them; then that one has 4 left.
  EXPECT_EQ(world.outcomes()[0].ended, milliseconds(16));
  EXPECT_EQ(world.outcomes()[1].ended, milliseconds(20));
  EXPECT_FLOAT_EQ(world.outcomes()[0].quality, 10.0F / 16);
}

TEST(World, LetsResidentsRunToItsEndAndSlowTasksDown) {
  const std::vector<SimServer> servers{{.units = 4, .residents = {{.rus = 3}}}};
  const Workload workload = jobsAt({milliseconds(10)}, 1, milliseconds(10));
  Halving truth;
  World world(servers, workload, &truth);
  EXPECT_EQ(world.freeUnits(0), 1);
  Scripted scheduler;
  scheduler.onJob = [&world](JobNumber job) { world.start(job, 0); };
  world.run(scheduler);
  EXPECT_EQ(world.outcomes()[0].ended, milliseconds(30));
  EXPECT_EQ(world.violations(), 0u);
  // Ten milliseconds at full speed and twenty at half.
  ASSERT_EQ(world.residentQualities().size(), 1u);
  EXPECT_FLOAT_EQ(world.residentQualities()[0], 20.0F / 30);
}

TEST(World, ShowsHowItStandsWhileJobsCome) {
  const std::vector<SimServer> servers{{.units = 4}};
  Workload workload;
  workload.add({.arrival = milliseconds(2), .rus = 2, .stream = 1}, 1, milliseconds(10));
  workload.add({.arrival = milliseconds(25)}, 1, milliseconds(10));
  Halving truth;
  World world(servers, workload, &truth);
  Scripted scheduler;
  scheduler.onJob = [&world](JobNumber job) { world.start(job, 0); };
  std::vector<Moment> moments;
  world.observe(milliseconds(10), [&](SimTime at) { moments.push_back(momentOf(world, at)); });
  world.run(scheduler);
  ASSERT_EQ(moments.size(), 2u) << "at 10 and 20 ms; the last job comes at 25";
  EXPECT_EQ(moments[0].heldByStream, (std::vector<uint64_t>{0, 2}));
  EXPECT_EQ(moments[0].byQuality.back(), 2u) << "alone it runs at full speed";
  EXPECT_EQ(moments[1].heldByStream, (std::vector<uint64_t>{0, 0}));
  EXPECT_DOUBLE_EQ(moments[1].seconds, 0.02);
}

// In the second half of its work a task runs as application 1, four times as fast; nobody feels the others.
class TwoPhases final : public GroundTruth {
 public:
  uint16_t applications() const override { return 1; }
  double alone(ApplicationNumber, PlatformNumber) const override { return 1; }
  uint32_t phases() const override { return 2; }
  ApplicationNumber inPhase(ApplicationNumber, uint32_t phase) const override {
    return static_cast<ApplicationNumber>(phase);
  }
  void speeds(PlatformNumber, std::span<const ApplicationNumber> tasks, std::span<double> speeds) override {
    for (size_t i = 0; i < tasks.size(); ++i) speeds[i] = tasks[i] == 0 ? 0.25 : 1;
  }
};

TEST(World, TakesTasksThroughTheirPhases) {
  const std::vector<SimServer> servers{{.units = 2}};
  const Workload workload = jobsAt({milliseconds(0), milliseconds(10)}, 1, milliseconds(10));
  TwoPhases truth;
  World world(servers, workload, &truth);
  Scripted scheduler;
  scheduler.onJob = [&world](JobNumber job) { world.start(job, 0); };
  world.run(scheduler);
  EXPECT_EQ(world.outcomes()[0].ended, milliseconds(25)) << "half of it at a quarter of the speed";
  EXPECT_EQ(world.outcomes()[1].ended, milliseconds(35));
}

TEST(World, RunsTasksAtTheirPace) {
  const std::vector<SimServer> servers{{.units = 2}};
  Workload workload = jobsAt({milliseconds(0)}, 2, milliseconds(10));
  workload.pace = {1, 0.5};
  Halving truth;
  for (GroundTruth* of : {static_cast<GroundTruth*>(&truth), static_cast<GroundTruth*>(nullptr)}) {
    World world(servers, workload, of);
    Scripted scheduler;
    scheduler.onJob = [&world](JobNumber) {
      world.start(0, 0);
      world.send(milliseconds(10), {.a = 1});
    };
    scheduler.onMessage = [&world](const Message& message) { world.start(message.a, 0); };
    world.run(scheduler);
    EXPECT_EQ(world.outcomes()[0].ended, milliseconds(30));
  }
}

TEST(World, TellsOfEachEndOnceWithItsUnitsFree) {
  const std::vector<SimServer> servers{{.units = 3}};
  const Workload workload = jobsAt({milliseconds(0)}, 3, milliseconds(10));
  Halving truth;
  World world(servers, workload, &truth);
  Scripted scheduler;
  scheduler.onJob = [&world](JobNumber) {
    for (TaskNumber task = 0; task < 3; ++task) world.start(task, 0);
  };
  std::vector<TaskNumber> ended;
  scheduler.onEnd = [&](TaskNumber task, ServerNumber server) {
    EXPECT_EQ(server, 0u);
    EXPECT_EQ(world.freeUnits(0), 3);
    ended.push_back(task);
  };
  world.run(scheduler);
  EXPECT_EQ(ended, (std::vector<TaskNumber>{0, 1, 2}));
}

TEST(World, CountsUnitsWithTwoOwners) {
  const std::vector<SimServer> servers{{.units = 1}};
  const Workload workload = jobsAt({milliseconds(0)}, 2, milliseconds(10));
  World world(servers, workload, nullptr);
  Scripted scheduler;
  scheduler.onJob = [&world](JobNumber) {
    world.start(0, 0);
    world.start(1, 0);
  };
  world.run(scheduler);
  EXPECT_EQ(world.violations(), 1u);
}

TEST(World, CountsTasksStartedTwiceAndRunsThemOnce) {
  const std::vector<SimServer> servers{{.units = 2}};
  const Workload workload = jobsAt({milliseconds(0)}, 1, milliseconds(10));
  World world(servers, workload, nullptr);
  Scripted scheduler;
  scheduler.onJob = [&world](JobNumber) {
    world.start(0, 0);
    world.start(0, 0);
  };
  int ends = 0;
  scheduler.onEnd = [&ends](TaskNumber, ServerNumber) { ++ends; };
  world.run(scheduler);
  EXPECT_EQ(world.violations(), 1u);
  EXPECT_EQ(ends, 1);
}

TEST(World, EndsWhereNothingCanHappenAnyMore) {
  const std::vector<SimServer> servers{{.units = 1}};
  const Workload workload = jobsAt({milliseconds(0)}, 1, milliseconds(10));
  World world(servers, workload, nullptr);
  Scripted scheduler;
  world.run(scheduler);
  EXPECT_EQ(world.jobsDone(), 0u);
  EXPECT_EQ(world.outcomes()[0].unfinished, 1u);
}

TEST(World, MeasuresWhatPartOfTheUnitsIsHeldUntilTheLastArrival) {
  const std::vector<SimServer> servers{{.units = 2}};
  const Workload workload = jobsAt({milliseconds(0), milliseconds(20)}, 1, milliseconds(10));
  World world(servers, workload, nullptr);
  Scripted scheduler;
  scheduler.onJob = [&world](JobNumber job) { world.start(job, 0); };
  world.run(scheduler);
  EXPECT_DOUBLE_EQ(world.utilisation(), 0.25);
}

}  // namespace tarcil::sim::world_test
