// Who moves the output of running tasks, and at whose cost.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <chrono>

#include "tests/monitor/container/container_fixture.h"

namespace tarcil::container_output_test {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

using Nanoseconds = std::chrono::nanoseconds;

class ContainerOutputTest : public testing::Test {
 protected:
  void SetUp() override {
    SKIP_WITHOUT_CONTAINERS();
    ContainerOptions options = optionsIn(folder_.path());
    options.units = {{{0}}};
    containers_.emplace(options);
    ::chmod(folder_.path().c_str(), 0755);
  }

  Containers& containers() { return *containers_; }
  std::string fileOf(const char* name) { return containers().folder() + "/tasks/1/" + name; }

  // All that the task wrote, whatever is left of it.
  uint64_t written() {
    struct stat status {};
    return ::stat(fileOf("stdout").c_str(), &status) == 0 ? static_cast<uint64_t>(status.st_size) : 0;
  }
  void untilWritten(uint64_t bytes) {
    while (written() < bytes) containers().wait(kj::MILLISECONDS);
  }
  void startWriting() {
    containers().start(taskOf(1, {"yes"}));
    containers().untilStarted(1);
    untilWritten(kMuch);
  }
  void kill() {
    containers().executor().signal(1, SIGKILL);
    containers().endOf(1);
  }

  pid_t shim() { return std::stoi(textOf(fileOf("lock"))); }

  // In the task's cgroup of version 2, or where its processor time is counted; the task's, or those that are
  // not.
  std::vector<std::string> processes(bool areTasks) {
    const CgroupDirectories in = containers().executor().counted();
    std::vector<std::string> found;
    std::istringstream all(textOf((in.unified.empty() ? in.cpuacct : in.unified) + "/1/cgroup.procs"));
    for (std::string pid; all >> pid;) {
      std::error_code error;
      const auto space = std::filesystem::read_symlink("/proc/" + pid + "/ns/pid", error);
      if (error) continue;
      if (areTasks == (space != std::filesystem::read_symlink("/proc/self/ns/pid"))) found.push_back(pid);
    }
    return found;
  }
  std::string pump() {
    const auto found = processes(false);
    return found.empty() ? "" : found[0];
  }

  // Where a process's processor time is limited and counted: of version 1 the hierarchies for that, of
  // version 2 the only one.
  static std::string processorCgroups(const std::string& pid) {
    std::istringstream lines(textOf("/proc/" + pid + "/cgroup"));
    std::string found;
    for (std::string line; std::getline(lines, line);) {
      const std::string controllers = line.substr(line.find(':'), line.rfind(':') - line.find(':'));
      if (controllers == ":" || controllers.find(":cpu") == 0) found += line + "\n";
    }
    return found;
  }

  // Processor time of a process.
  static Nanoseconds usedBy(const std::string& pid) {
    return Nanoseconds(std::stoll(textOf("/proc/" + pid + "/schedstat")));
  }
  // Of the task, with all that is in its cgroup.
  Nanoseconds usedByTask() {
    const CgroupDirectories in = containers().executor().counted();
    if (in.unified.empty()) return Nanoseconds(std::stoll(textOf(in.cpuacct + "/1/cpuacct.usage")));
    std::istringstream lines(textOf(in.unified + "/1/cpu.stat"));
    std::string name;
    int64_t micros = 0;
    lines >> name >> micros;
    return std::chrono::microseconds(micros);
  }

  static constexpr uint64_t kMuch = 32 << 20;

  TemporaryFolder folder_;

 private:
  std::optional<Containers> containers_;
};

TEST_F(ContainerOutputTest, TakesNoProcessorTimeBesideTheTasks) {
  startWriting();
  ASSERT_THAT(pump(), Not(IsEmpty()));
  const auto begin = std::chrono::steady_clock::now();
  const Nanoseconds task = usedByTask(), supervisor = usedBy(std::to_string(shim()));
  const Nanoseconds moving = usedBy(pump());
  const uint64_t before = written();
  untilWritten(before + kMuch);
  EXPECT_EQ(usedBy(std::to_string(shim())), supervisor);
  EXPECT_GT(usedBy(pump()), moving);
  EXPECT_GT(usedByTask() - task, usedBy(pump()) - moving) << "what moves it is counted with the task";
  const Nanoseconds used = usedByTask() - task;
  // One unit, one core: with what moves its output.
  EXPECT_LE(used, std::chrono::steady_clock::now() - begin + std::chrono::milliseconds(10));
  EXPECT_THAT(textOf("/proc/" + pump() + "/status"), HasSubstr("Cpus_allowed_list:\t0\n"));
  EXPECT_EQ(processorCgroups(pump()), processorCgroups(processes(true).at(0)));
  kill();
}

TEST_F(ContainerOutputTest, IsMovedWithinTheLimitsOfATaskThatIsThrottled) {
  containers().start(
      script(1, "echo ready; while [ ! -e " + folder_.path() + "/go ]; do sleep 0.01; done; exec yes"));
  containers().untilStarted(1);
  containers().untilOutput(1, "ready");
  const Status throttled = containers().executor().throttle(1, {.cpu = 0.5});
  if (!throttled.ok()) GTEST_SKIP() << throttled.error().message;
  std::ofstream(folder_.path() + "/go") << "\n";
  untilWritten(kMuch);
  EXPECT_EQ(processorCgroups(pump()), processorCgroups(processes(true).at(0)));
  kill();
}

TEST_F(ContainerOutputTest, IsMovedThereAlsoWhereTheTaskHasAllTheProcessesThatItMayHave) {
  LaunchSpec spec = taskOf(1, {"yes"});
  spec.limits.pids = 1;
  containers().start(spec);
  containers().untilStarted(1);
  untilWritten(kMuch);
  EXPECT_EQ(processorCgroups(pump()), processorCgroups(processes(true).at(0)));
  kill();
}

TEST_F(ContainerOutputTest, OfFewWordsTakesNoProcess) {
  containers().start(script(1, "for i in 1 2 3 4 5; do echo $i; done; exec sleep 1000"));
  containers().untilOutput(1, "5\n");
  EXPECT_EQ(pump(), "");
  kill();
}

TEST_F(ContainerOutputTest, IsWholeAndInOrder) {
  const TaskEnd end = containers().run(script(1, "seq 3000000; seq 3000000 >&2; exit 4"));
  EXPECT_EQ(end.exitCode, 4);
  EXPECT_EQ(end.problem, "");
  for (const char* name : {"stdout", "stderr"}) {
    std::ifstream in(fileOf(name));
    int expected = 1;
    for (int line = 0; in >> line; ++expected) ASSERT_EQ(line, expected) << name;
    EXPECT_EQ(expected, 3'000'001) << name;
  }
}

// Version 1 kills who writes faster than the disk.
TEST_F(ContainerOutputTest, DoesNotTakeATaskBeyondItsMemory) {
  LaunchSpec spec = taskOf(1, {"head", "-c", "100000000", "/dev/zero"});
  spec.limits.memoryBytes = 16 << 20;
  const TaskEnd end = containers().run(spec);
  EXPECT_TRUE(end.succeeded()) << end.problem;
  EXPECT_FALSE(end.oomKilled);
  EXPECT_EQ(written(), 100'000'000u);
}

TEST_F(ContainerOutputTest, GoesOnWhereTheProcessThatMovesItIsKilled) {
  startWriting();
  const std::string first = pump();
  ASSERT_THAT(first, Not(IsEmpty()));
  ::kill(std::stoi(first), SIGKILL);
  untilWritten(written() + kMuch);
  EXPECT_THAT(pump(), Not(testing::AnyOf(IsEmpty(), first)));
  kill();
}

TEST_F(ContainerOutputTest, LeavesNoProcessWhereTheSupervisorIsKilled) {
  startWriting();
  ::kill(shim(), SIGKILL);
  EXPECT_EQ(containers().endOf(1).cause, EndCause::kLost);
  EXPECT_EQ(pump(), "");
}

}  // namespace tarcil::container_output_test
