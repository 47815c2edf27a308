// Running tasks that are throttled.
#include <gmock/gmock.h>

#include <filesystem>
#include <sstream>

#include "monitor/pressure/machine_reader.h"
#include "tests/monitor/container/container_fixture.h"

namespace tarcil::container_throttle_test {

using testing::AnyOf;
using testing::Each;
using testing::Ge;
using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

class ContainerThrottleTest : public testing::Test {
 protected:
  void SetUp() override {
    SKIP_WITHOUT_CONTAINERS();
    succeed();
  }

  // Another monitor, in place of the one that there was.
  void succeed() {
    containers_.reset();
    ContainerOptions options = optionsIn(folder_.path());
    for (const auto& [name, number] : physicalDisks("/sys")) options.disks.push_back(number);
    containers_.emplace(options);
  }

  // Its word may come before the report of its start.
  void startReady(const LaunchSpec& spec) {
    containers().start(spec);
    containers().untilOutput(spec.allocation, "ready");
    containers().untilStarted(spec.allocation);
  }

  Containers& containers() { return *containers_; }
  ContainerExecutor& executor() { return containers().executor(); }

  // What the kernel says of each process of the task that runs.
  std::vector<std::string> quotas() {
    const CgroupMounts mounts = parseCgroupMounts(textOf("/proc/self/mounts"));
    const CgroupDirectories in = executor().running().front().cgroups;
    std::vector<std::string> found;
    for (const std::string& process :
         parseWords(textOf((in.unified.empty() ? in.memory : in.unified) + "/cgroup.procs"))) {
      if (!mounts.v1.contains(kCpu)) {
        // Where nothing is throttled the controller is taken off again, and its file is gone.
        const std::string quota = in.unified + "/cpu.max";
        found.push_back(std::filesystem::exists(quota) ? textOf(quota) : "max");
        continue;
      }
      std::istringstream lines(textOf("/proc/" + process + "/cgroup"));
      for (std::string line; std::getline(lines, line);) {
        const size_t at = line.find(":cpu:");
        if (at != std::string::npos)
          found.push_back(textOf(mounts.v1.at(kCpu) + line.substr(at + 5) + "/cpu.cfs_quota_us"));
      }
    }
    return found;
  }

 private:
  TemporaryFolder folder_;
  std::optional<Containers> containers_;
};

// A shell with a child; ends at SIGTERM.
LaunchSpec twoProcesses(AllocationId allocation) {
  LaunchSpec spec = script(allocation,
                           "trap 'exit 0' TERM; sh -c 'while :; do sleep 0.01; done' & echo ready; "
                           "while :; do sleep 0.01; done");
  spec.rus = {0};
  return spec;
}

TEST_F(ContainerThrottleTest, AllItsProcessesHaveAQuotaUntilItIsThrottledNoMore) {
  startReady(twoProcesses(1));
  const Status throttled = executor().throttle(1, {.cpu = 0.25});
  if (!throttled.ok()) GTEST_SKIP() << throttled.error().message;
  EXPECT_THAT(quotas(), AllOf(SizeIs(Ge(3u)), Each(StartsWith("25000"))));
  ASSERT_TRUE(executor().throttle(1, {}).ok());
  EXPECT_THAT(quotas(), AllOf(SizeIs(Ge(3u)), Each(AnyOf(StartsWith("-1"), StartsWith("max")))));
  executor().signal(1, SIGTERM);
  EXPECT_TRUE(containers().endOf(1).succeeded());
}

TEST_F(ContainerThrottleTest, ASuccessorThrottlesNothing) {
  startReady(twoProcesses(1));
  if (const Status throttled = executor().throttle(1, {.cpu = 0.25}); !throttled.ok())
    GTEST_SKIP() << throttled.error().message;
  succeed();
  ASSERT_EQ(executor().recover().size(), 1u);
  EXPECT_THAT(quotas(), AllOf(SizeIs(Ge(3u)), Each(AnyOf(StartsWith("-1"), StartsWith("max")))));
  executor().signal(1, SIGTERM);
  containers().endOf(1);
}

TEST_F(ContainerThrottleTest, ATaskThatDoesNotRunIsNotFound) {
  EXPECT_EQ(executor().throttle(1, {.cpu = 0.5}).error().code, ErrorCode::kNotFound);
}

TEST_F(ContainerThrottleTest, DisksAreNotThrottledWhereItsUseOfThemIsNotKnown) {
  startReady(twoProcesses(1));
  EXPECT_EQ(executor().throttle(1, {.disk = 0.5}).error().code, ErrorCode::kUnavailable);
  executor().signal(1, SIGTERM);
  containers().endOf(1);
}

TEST_F(ContainerThrottleTest, DisksAreThrottledToAShareOfHowMuchItUsedThemAndThenToTheJobsOwnLimit) {
  if (physicalDisks("/sys").empty()) GTEST_SKIP() << "no physical disk";
  LaunchSpec spec = twoProcesses(1);
  spec.limits.diskBytesPerSecond = 7'000'000;
  startReady(spec);
  executor().noteDiskRates({{1, 1'000'000}});
  const Status throttled = executor().throttle(1, {.disk = 0.25});
  if (!throttled.ok()) GTEST_SKIP() << throttled.error().message;
  const CgroupDirectories in = executor().running().front().cgroups;
  const auto limit = [&in]() {
    const std::string v1 = textOf(in.blkio + "/blkio.throttle.write_bps_device");
    return v1.empty() ? textOf(in.unified + "/io.max") : v1;
  };
  EXPECT_THAT(limit(), HasSubstr("250001"));
  executor().noteDiskRates({{1, 250'000}});
  ASSERT_TRUE(executor().throttle(1, {.disk = 0.5}).ok());
  EXPECT_THAT(limit(), HasSubstr("500001")) << "by what it used before it was throttled";
  ASSERT_TRUE(executor().throttle(1, {}).ok());
  EXPECT_THAT(limit(), HasSubstr("7000000"));
  executor().signal(1, SIGTERM);
  EXPECT_TRUE(containers().endOf(1).succeeded());
}

}  // namespace tarcil::container_throttle_test
