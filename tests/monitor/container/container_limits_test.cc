#include <gmock/gmock.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>

#include "monitor/container/memory_kill.h"
#include "monitor/pressure/machine_reader.h"
#include "tests/monitor/container/container_fixture.h"

namespace tarcil::container_limits_test {

using testing::HasSubstr;
using testing::StartsWith;

class ContainerLimitsTest : public testing::Test {
 protected:
  void SetUp() override {
    SKIP_WITHOUT_CONTAINERS();
    options_ = optionsIn(folder_.path());
  }

  Containers& containers() {
    if (!containers_) containers_.emplace(options_);
    return *containers_;
  }
  bool missing(const std::string& what) {
    const auto& list = containers().executor().missing();
    return std::find(list.begin(), list.end(), what) != list.end();
  }
  const std::string& folder() const { return folder_.path(); }

  ContainerOptions options_;

 private:
  TemporaryFolder folder_;
  std::optional<Containers> containers_;
};

// Fills memory until it is stopped.
constexpr const char* kMemoryHog = "exec tail /dev/zero";

TEST_F(ContainerLimitsTest, ATaskThatRunsOutOfMemoryIsKilledAndNamed) {
  if (missing("memory")) GTEST_SKIP() << "no memory controller";
  LaunchSpec spec = script(1, kMemoryHog);
  spec.limits.memoryBytes = 32 << 20;
  const TaskEnd end = containers().run(spec);
  EXPECT_TRUE(end.oomKilled);
  EXPECT_EQ(end.signal, SIGKILL);
  EXPECT_THAT(end.problem,
              StartsWith("the kernel killed a process of the task at its memory limit of 32 MiB"));
  if (!kernelLog().empty()) {
    EXPECT_THAT(end.problem, HasSubstr(": 'tail' held 3"));
  }
  EXPECT_FALSE(end.succeeded());
}

TEST_F(ContainerLimitsTest, TheEndSaysWhatTheTaskUsed) {
  if (missing("memory")) GTEST_SKIP() << "no memory controller";
  const TaskEnd end = containers().run(script(1, "head -c 50000000 /dev/zero | tail > /dev/null"));
  EXPECT_GT(end.peakMemoryBytes, 50'000'000u) << "tail holds a line";
  EXPECT_LT(end.peakMemoryBytes, 500'000'000u);
  EXPECT_GT(end.cpuTime, Duration(0));
}

TEST_F(ContainerLimitsTest, ATaskThatGetsOverTheLossOfAProcessSucceedsAndTheLossIsNamed) {
  if (missing("memory")) GTEST_SKIP() << "no memory controller";
  LaunchSpec spec = script(1, "tail /dev/zero; exit 0");
  spec.limits.memoryBytes = 32 << 20;
  const TaskEnd end = containers().run(spec);
  EXPECT_TRUE(end.oomKilled);
  EXPECT_THAT(end.problem, HasSubstr("memory limit of 32 MiB"));
  EXPECT_TRUE(end.succeeded());
}

TEST_F(ContainerLimitsTest, MemoryIsTheShareOfTheResourceUnitsUnlessTheJobNamesOne) {
  options_.memoryPerRu = 16 << 20;
  if (missing("memory")) GTEST_SKIP() << "no memory controller";
  LaunchSpec spec = script(1, "echo $TARCIL_MEMORY; " + std::string(kMemoryHog));
  spec.rus = {0, 1};
  const TaskEnd end = containers().run(spec);
  EXPECT_TRUE(end.oomKilled);
  EXPECT_EQ(containers().out(1), std::to_string(32 << 20) + "\n");
}

TEST_F(ContainerLimitsTest, AForkBombEndsAtThePidsLimit) {
  if (missing("pids")) GTEST_SKIP() << "no pids controller";
  LaunchSpec spec = script(1, "n=0; while [ $n -lt 50 ]; do sleep 1000 & n=$((n+1)); echo $n; done");
  spec.limits.pids = 20;
  const TaskEnd end = containers().run(spec);
  EXPECT_NE(end.exitCode, 0);  // the shell gives up when it cannot fork
  const std::string out = containers().out(1);
  EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), 19);  // the shell is the twentieth
}

TEST_F(ContainerLimitsTest, TasksStayOnTheCoresOfTheirResourceUnits) {
  const auto cores = static_cast<uint32_t>(::sysconf(_SC_NPROCESSORS_ONLN));
  for (uint32_t core = 0; core < cores; ++core) options_.units.push_back({{core}});
  options_.unitsShareCores = true;
  for (const uint32_t ru : {0u, cores - 1, cores}) {  // the last shares the first one's core
    LaunchSpec spec = script(ru + 1, "grep Cpus_allowed_list /proc/self/status; echo $TARCIL_CORES");
    spec.rus = {static_cast<RuIndex>(ru)};
    containers().run(spec);
    const std::string core = std::to_string(ru % cores);
    std::string expected = "Cpus_allowed_list:\t";
    expected.append(core).append("\n").append(core).append("\n");
    EXPECT_EQ(containers().out(ru + 1), expected);
  }
}

// The kernel tells what it has taken: version 1 for each direction, version 2 in one line.
TEST_F(ContainerLimitsTest, LimitsOfDisksReachTheKernel) {
  for (const auto& [name, device] : physicalDisks("/sys")) options_.disks.push_back(device);
  if (options_.disks.empty() || missing("io-limit")) GTEST_SKIP() << "no disk, or no controller";
  LaunchSpec spec = taskOf(1, {"sleep", "1000"});
  spec.limits.diskBytesPerSecond = 3'000'000;
  containers().start(spec);
  containers().untilStarted(1);
  const CgroupDirectories counted = containers().executor().counted();
  const std::string v1 = counted.blkio + "/1/blkio.throttle.", v2 = counted.unified + "/1/io.max";
  const std::string taken =
      counted.blkio.empty() ? textOf(v2) : textOf(v1 + "read_bps_device") + textOf(v1 + "write_bps_device");
  EXPECT_NE(taken.find(options_.disks[0] + " "), std::string::npos) << taken;
  EXPECT_NE(taken.find("3000000"), taken.rfind("3000000")) << "reading and writing: " << taken;
  containers().executor().signal(1, SIGKILL);
  containers().endOf(1);
}

TEST_F(ContainerLimitsTest, WithoutACpusetTheAffinityKeepsATaskOnItsCores) {
  options_.units = {{{0}}};
  options_.system.mounts = "/dev/null";
  EXPECT_TRUE(missing("cpuset") && missing("memory") && missing("pids"));
  containers().run(script(1, "grep Cpus_allowed_list /proc/self/status"));
  EXPECT_EQ(containers().out(1), "Cpus_allowed_list:\t0\n");
}

// Holds also where version 2 has no controller of ours, as beside version 1.
TEST_F(ContainerLimitsTest, TasksHaveNamespacesOfTheirOwn) {
  containers().run(
      script(1,
             "echo $$; ls -d /proc/[0-9]* | wc -l; readlink /proc/self/ns/mnt /proc/self/ns/ipc; "
             "ls /dev/shm | wc -l"));
  std::istringstream lines(containers().out(1));
  std::string pid, processes, mounts, ipc, shared;
  lines >> pid >> processes >> mounts >> ipc >> shared;
  EXPECT_EQ(pid, "2");
  EXPECT_LE(std::stoi(processes), 5);
  EXPECT_NE(mounts, std::filesystem::read_symlink("/proc/self/ns/mnt"));
  EXPECT_NE(ipc, std::filesystem::read_symlink("/proc/self/ns/ipc"));
  EXPECT_EQ(shared, "0");
}

TEST_F(ContainerLimitsTest, OfAnOutputBeyondTheLimitTheNewestIsKeptAndTheRestIsNamed) {
  LaunchSpec spec = script(1, "seq 100000; echo short >&2; exit 4");
  spec.limits.outputBytes = 1000;
  const TaskEnd end = containers().run(spec);
  EXPECT_EQ(end.exitCode, 4);
  EXPECT_EQ(end.problem.find("stdout without its first "), 0u) << end.problem;
  const auto part = *readOutput(options_.dataDirectory, 1, Stream::kStdout, 0, 1 << 20);
  EXPECT_EQ(part.offset + part.text.size(), 588'895u) << "what `seq 100000` writes";
  EXPECT_TRUE(part.text.ends_with("\n99999\n100000\n"));
  EXPECT_LT(part.text.size(), 200'000u);
  EXPECT_EQ(containers().err(1), "short\n");
}

// What the disk does not take costs the one who writes it, and nobody else.
TEST_F(ContainerLimitsTest, AFullDiskLeavesOtherTasksAlone) {
  ::chmod(folder().c_str(), 0755);
  const std::string small = folder() + "/small";
  ::mkdir(small.c_str(), 0755);
  ASSERT_EQ(::mount("tmpfs", small.c_str(), "tmpfs", 0, "size=1m"), 0);
  options_.dataDirectory = small + "/data";
  containers().start(script(1, "while [ ! -e " + folder() + "/go ]; do sleep 0.01; done; exit 5"));
  containers().untilStarted(1);
  const TaskEnd writer = containers().run(script(2, "head -c 10000000 /dev/zero > file; echo $?; exit 6"));
  EXPECT_EQ(writer.exitCode, 6);
  std::ofstream(folder() + "/go") << "\n";
  const TaskEnd other = containers().endOf(1);
  EXPECT_EQ(other.cause, EndCause::kExited);
  EXPECT_EQ(other.exitCode, 5);
  // What the writer wrote goes with it.
  containers().executor().forget(2);
  ::umount2(small.c_str(), MNT_DETACH);
}

TEST_F(ContainerLimitsTest, AFullDiskCutsTheOutputAndNothingElse) {
  const std::string small = folder() + "/small";
  ::mkdir(small.c_str(), 0755);
  ASSERT_EQ(::mount("tmpfs", small.c_str(), "tmpfs", 0, "size=256k"), 0);
  options_.dataDirectory = small + "/data";
  const TaskEnd end = containers().run(script(1, "head -c 1000000 /dev/zero; exit 6"));
  EXPECT_EQ(end.cause, EndCause::kExited);
  EXPECT_EQ(end.exitCode, 6);
  EXPECT_NE(end.problem.find("stdout cut after"), std::string::npos) << end.problem;
  EXPECT_NE(end.problem.find("No space left on device"), std::string::npos) << end.problem;

  const TaskEnd second = containers().run(taskOf(2, {"true"}));
  EXPECT_EQ(second.cause, EndCause::kNeverStarted);
  EXPECT_NE(second.problem.find("No space left on device"), std::string::npos) << second.problem;
  ::umount2(small.c_str(), MNT_DETACH);
}

TEST_F(ContainerLimitsTest, NothingOfATaskIsLeftInTheCgroupTree) {
  containers().run(script(1, "setsid sleep 1000 & true"));
  const CgroupTree tree({}, {"tarcil-" + options_.tag, options_.server});
  EXPECT_TRUE(tree.tasks().empty());
}

// Whatever the job asks for.
TEST_F(ContainerLimitsTest, ATaskGetsNoMoreMemoryThanTheOperatorSays) {
  options_.mostMemory = 64u << 20;
  if (missing("memory")) GTEST_SKIP() << "no memory controller";
  LaunchSpec spec = script(1, "echo $TARCIL_MEMORY; exec tail /dev/zero");
  spec.limits.memoryBytes = uint64_t{10} << 40;
  EXPECT_TRUE(containers().run(spec).oomKilled);
  EXPECT_EQ(containers().out(1), std::to_string(64u << 20) + "\n");
}

TEST_F(ContainerLimitsTest, ATaskGetsNoMoreProcessesThanTheOperatorSays) {
  options_.mostPids = 3;
  if (missing("pids")) GTEST_SKIP() << "no pids controller";
  LaunchSpec spec = script(1, "for i in 1 2 3 4 5 6 7 8; do sleep 1000 & done; echo all");
  spec.limits.pids = 1'000'000;
  EXPECT_NE(containers().run(spec).exitCode, 0);
  EXPECT_EQ(containers().out(1), "");
}

TEST_F(ContainerLimitsTest, OfProcessesAreThoseOfOrdinaryPrograms) {
  rlimit own{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &own), 0);
  const rlimit many{own.rlim_max, own.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &many), 0);
  EXPECT_EQ(containers().run(script(1, "ulimit -Sn; ulimit -Hn; ulimit -Sc")).exitCode, 0);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &own), 0);
  EXPECT_EQ(containers().out(1), "1024\n" + std::to_string(own.rlim_max) + "\n0\n");
}

}  // namespace tarcil::container_limits_test
