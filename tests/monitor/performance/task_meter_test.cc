// The meter of tasks on trees of files that are made here.
#include "monitor/performance/task_meter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/monitor/pressure/fake_machine.h"

namespace tarcil::task_meter_test {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// A machine with one core and a cgroup of version 2 for each task; a second is 100 ticks.
struct WatchedServer {
  WatchedServer() : cache(machine.at("resctrl"), "t-") {
    machine.write("proc/stat", "cpu0 0 0 0 0 0 0 0 0 0 0\n");
    options.networkBytesPerSecond = 1e6;
  }

  TaskMeter meter() { return TaskMeter(1s, options, machine.paths(), {0}, machineTasks(), cache); }
  CgroupDirectories machineTasks() const {
    return {.cpuacct = {}, .memory = {}, .blkio = {}, .unified = machine.at("cgroup")};
  }

  RunningTask& add(AllocationId allocation) {
    const std::string folder = "cgroup/" + std::to_string(allocation);
    RunningTask& task = running.emplace_back();
    task.allocation = allocation;
    task.job.bytes[0] = static_cast<uint8_t>(allocation);
    task.tolerated.fill(kMaxPressure);
    task.cores = {0};
    task.cgroups.unified = machine.at(folder);
    machine.write(folder + "/memory.current", "0\n");
    machine.write(folder + "/memory.max", "1000\n");
    machine.write(folder + "/memory.events", "max 0\noom_kill 0\n");
    machine.write(
        folder + "/memory.stat",
        "inactive_file 0\nactive_file 0\nfile_dirty 0\nfile_writeback 0\npgfault 0\npgmajfault 0\n");
    machine.write(folder + "/io.stat", "");
    for (const char* what : {"memory", "io"}) {
      machine.write(folder + "/" + what + ".pressure", "some total=0\nfull total=0\n");
    }
    use(allocation, 0, 0);
    return task;
  }

  // So many seconds of CPU time more, and of waiting for a core.
  void use(AllocationId allocation, double cpu, double waited) {
    const std::string folder = "cgroup/" + std::to_string(allocation);
    cpuMicros[allocation] += static_cast<uint64_t>(cpu * 1e6);
    waitedMicros[allocation] += static_cast<uint64_t>(waited * 1e6);
    machine.write(folder + "/cpu.stat", "usage_usec " + std::to_string(cpuMicros[allocation]) + "\n");
    machine.write(folder + "/cpu.pressure",
                  "some total=" + std::to_string(waitedMicros[allocation]) + "\nfull total=0\n");
  }

  void secondPasses() {
    now.steady += 1s;
    now.wall += 1s;
    uint64_t all = 0;
    for (const auto& [task, micros] : cpuMicros) all += micros;
    busy += 100;
    machine.write("proc/stat", "cpu0 " + std::to_string(busy) + " 0 0 0 0 0 0 0 0 0\n");
    machine.write("cgroup/cpu.stat", "usage_usec " + std::to_string(all) + "\n");
  }

  FakeMachine machine;
  PressureOptions options;
  CacheMonitor cache;
  std::vector<RunningTask> running;
  std::map<AllocationId, uint64_t> cpuMicros, waitedMicros;
  uint64_t busy = 0;
  Now now{MonotonicTime(10s), WallTime(1'700'000'000s)};
};

PerformanceGoal byCpu() {
  return {.metric = Metric::kCpuTime, .target = 1, .deviation = 0.2, .window = 5s};
}

TEST(TaskMeter, NamesTheNeighbourThatTakesTurnsOnTheCore) {
  WatchedServer server;
  server.add(1).goal = byCpu();
  server.add(2);
  server.add(3);
  TaskMeter meter = server.meter();
  std::vector<Violation> told;
  for (int i = 0; i < 30; ++i) {
    const bool disturbed = i >= 15;
    server.secondPasses();
    server.use(1, disturbed ? 0.5 : 1, disturbed ? 0.5 : 0);
    server.use(2, disturbed ? 0.45 : 0, 0);
    server.use(3, disturbed ? 0.05 : 0, 0);
    for (Violation& violation : meter.measure(server.running, server.now))
      told.push_back(std::move(violation));
  }
  ASSERT_THAT(told, SizeIs(1));
  EXPECT_EQ(told[0].allocation, 1u);
  EXPECT_EQ(told[0].metric, Metric::kCpuTime);
  EXPECT_NEAR(told[0].measured, 0.5, 0.01);
  ASSERT_FALSE(told[0].causes.empty());
  EXPECT_EQ(told[0].causes[0].kind, Cause::Kind::kNeighbour);
  EXPECT_EQ(told[0].causes[0].neighbour, 2u);
  EXPECT_THAT(told[0].causes[0].evidence, HasSubstr("core with 45 of 99 (measured)"));
  EXPECT_EQ(meter.load().isDegraded, 1u);
}

TEST(TaskMeter, OthersAreNotReadAsLongAsAllIsWell) {
  WatchedServer server;
  server.add(1).goal = byCpu();
  server.add(2).cgroups.unified = server.machine.at("cgroup/nowhere");
  TaskMeter meter = server.meter();
  for (int i = 0; i < 20; ++i) {
    server.secondPasses();
    server.use(1, 1, 0);
    EXPECT_THAT(meter.measure(server.running, server.now), IsEmpty());
  }
  EXPECT_EQ(meter.load().watched, 1u);
}

TEST(TaskMeter, TasksWithoutAGoalAreNotWatched) {
  WatchedServer server;
  server.add(1);
  TaskMeter meter = server.meter();
  for (int i = 0; i < 20; ++i) {
    server.secondPasses();
    EXPECT_THAT(meter.measure(server.running, server.now), IsEmpty());
  }
  EXPECT_EQ(meter.load().watched, 0u);
}

TEST(TaskMeter, SaysThatAMemoryLimitIsReached) {
  WatchedServer server;
  server.add(1).goal = byCpu();
  TaskMeter meter = server.meter();
  std::vector<Violation> told;
  for (int i = 0; i < 30; ++i) {
    server.secondPasses();
    server.use(1, i < 10 ? 1 : 0.3, 0);
    if (i >= 10) {
      server.machine.write("cgroup/1/memory.current", "990\n");
      server.machine.write("cgroup/1/memory.events", "max " + std::to_string(i) + "\noom_kill 0\n");
    }
    for (Violation& violation : meter.measure(server.running, server.now))
      told.push_back(std::move(violation));
  }
  ASSERT_FALSE(told.empty());
  EXPECT_EQ(told.back().causes.at(0).kind, Cause::Kind::kMemoryLimit);
}

TEST(TaskMeter, AKillAtItsMemoryLimitCountsForAMinuteWhateverElsePresses) {
  WatchedServer server;
  server.add(1).goal = byCpu();
  TaskMeter meter = server.meter();
  std::vector<Cause::Kind> told;
  for (int i = 0; i < 120; ++i) {
    server.secondPasses();
    server.use(1, i < 10 ? 1 : 0.02, i < 10 ? 0 : 0.98);
    if (i == 13) server.machine.write("cgroup/1/memory.events", "max 1\noom_kill 1\n");
    for (const Violation& violation : meter.measure(server.running, server.now)) {
      told.push_back(violation.causes.at(0).kind);
    }
  }
  EXPECT_THAT(told, testing::ElementsAre(Cause::Kind::kMemoryLimit, Cause::Kind::kBackground));
}

TEST(TaskMeter, WithoutHardwareCountersInstructionsGiveWayToCpuTime) {
  WatchedServer server;
  RunningTask& task = server.add(1);
  task.goal = byCpu();
  task.goal->metric = Metric::kInstructions;
  task.goal->target = 1e9;
  TaskMeter meter = server.meter();
  std::vector<Violation> told;
  for (int i = 0; i < 60; ++i) {
    server.secondPasses();
    server.use(1, i < 40 ? 0.8 : 0.4, 0);
    for (Violation& violation : meter.measure(server.running, server.now))
      told.push_back(std::move(violation));
  }
  ASSERT_THAT(told, SizeIs(1));
  EXPECT_EQ(told[0].metric, Metric::kCpuTime);
  EXPECT_NEAR(told[0].expected, 0.8, 0.01);  // its own past
  EXPECT_THAT(meter.problems(), testing::ElementsAre(HasSubstr("task 1 is watched by its CPU time: ")));
}

TEST(TaskMeter, WatchesWhatATaskReportsItself) {
  WatchedServer server;
  RunningTask& task = server.add(1);
  task.goal = byCpu();
  task.goal->metric = Metric::kReported;
  task.goal->target = 100;
  const std::string work = server.machine.at("cgroup/1");
  const auto inbox = MetricInbox::open(work, server.machine.at("cgroup"));
  ASSERT_TRUE(inbox.ok());
  task.inbox = inbox->get();
  TaskMeter meter = server.meter();
  std::vector<Violation> told;
  for (int i = 0; i < 20; ++i) {
    server.secondPasses();
    const std::string file = std::string("cgroup/1/") + kMetricFileName;
    server.machine.write(file, i < 10 ? "100\n" : "50\n");
    std::filesystem::last_write_time(server.machine.at(file),
                                     std::filesystem::file_time_type(std::chrono::seconds(1'000'000 + i)));
    for (Violation& violation : meter.measure(server.running, server.now))
      told.push_back(std::move(violation));
  }
  ASSERT_THAT(told, SizeIs(1));
  EXPECT_EQ(told[0].measured, 50);
}

TEST(TaskMeter, ATaskThatIsGoneIsForgotten) {
  WatchedServer server;
  server.add(1).goal = byCpu();
  TaskMeter meter = server.meter();
  for (int i = 0; i < 20; ++i) {
    server.secondPasses();
    if (i == 10) server.running.clear();
    server.use(1, i < 5 ? 1 : 0.1, 0);
    const auto told = meter.measure(server.running, server.now);
    if (i >= 10) {
      EXPECT_THAT(told, IsEmpty());
    }
  }
  EXPECT_EQ(meter.load().watched, 0u);
}

TEST(TaskMeter, FilesOfATaskThatAreBrokenOrMissingHarmNothing) {
  WatchedServer server;
  server.add(1).goal = byCpu();
  server.add(2).goal = byCpu();
  TaskMeter meter = server.meter();
  std::vector<Violation> told;
  for (int i = 0; i < 20; ++i) {
    server.secondPasses();
    server.use(1, 0.3, 0);
    server.machine.write("cgroup/2/cpu.stat", "nonsense\n");
    server.machine.remove("cgroup/1/memory.events");
    server.machine.write("cgroup/1/cpu.pressure", "some\n");
    for (Violation& violation : meter.measure(server.running, server.now))
      told.push_back(std::move(violation));
  }
  ASSERT_THAT(told, SizeIs(1));
  EXPECT_EQ(told[0].allocation, 1u);
  EXPECT_EQ(told[0].causes.at(0).kind, Cause::Kind::kUnknown);
}

}  // namespace tarcil::task_meter_test
