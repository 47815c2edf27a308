// Running tasks that get other units.
#include "tests/monitor/container/container_fixture.h"

namespace tarcil::container_resize_test {

class ContainerResizeTest : public testing::Test {
 protected:
  void SetUp() override {
    SKIP_WITHOUT_CONTAINERS();
    options_ = optionsIn(folder_.path());
    options_.units = {{{0}}, {{1}}};
    options_.memoryPerRu = 32 << 20;
    containers_.emplace(options_);
    for (const std::string& what : containers().executor().missing()) {
      if (what == "cpuset" || what == "memory") GTEST_SKIP() << "no " << what << " controller";
    }
  }

  Containers& containers() { return *containers_; }
  ContainerExecutor& executor() { return containers().executor(); }

  ContainerOptions options_;

 private:
  TemporaryFolder folder_;
  std::optional<Containers> containers_;
};

constexpr const char* kCores = "grep Cpus_allowed_list /proc/self/status";

// Says its cores when it is told to by SIGTERM.
LaunchSpec teller(AllocationId allocation) {
  LaunchSpec spec = script(allocation, "trap '" + std::string(kCores) +
                                           "; exit 0' TERM; echo ready; "
                                           "while :; do sleep 0.01; done");
  spec.rus = {0};
  return spec;
}

TEST_F(ContainerResizeTest, ARunningTaskGetsCoresAndLosesThem) {
  containers().start(teller(1));
  containers().untilOutput(1, "ready");
  ASSERT_TRUE(executor().resize(1, {0, 1}).ok());
  executor().signal(1, SIGTERM);
  containers().endOf(1);
  EXPECT_EQ(containers().out(1), "ready\nCpus_allowed_list:\t0-1\n");

  containers().start(teller(2));
  containers().untilOutput(2, "ready");
  ASSERT_TRUE(executor().resize(2, {0, 1}).ok());
  ASSERT_TRUE(executor().resize(2, {1}).ok());
  executor().signal(2, SIGTERM);
  containers().endOf(2);
  EXPECT_EQ(containers().out(2), "ready\nCpus_allowed_list:\t0\n");  // units are alike: it keeps its first
}

TEST_F(ContainerResizeTest, MemoryGrowsWithTheUnitsAlsoWhereTheJobNamesALimit) {
  for (const uint64_t own : {0u, 48u << 20}) {
    const AllocationId id = own == 0 ? 1 : 2;
    LaunchSpec spec = script(id, "trap 'exec tail /dev/zero' TERM; echo ready; while :; do sleep 0.01; done");
    spec.rus = {0};
    spec.limits.memoryBytes = own;
    containers().start(spec);
    containers().untilOutput(id, "ready");
    ASSERT_TRUE(executor().resize(id, {0, 1}).ok());
    executor().signal(id, SIGTERM);
    const TaskEnd end = containers().endOf(id);
    EXPECT_TRUE(end.oomKilled);
    EXPECT_NE(end.problem.find(own == 0 ? "memory limit of 64 MiB" : "memory limit of 80 MiB"),
              std::string::npos)
        << end.problem;
  }
}

TEST_F(ContainerResizeTest, MemoryThatIsInUseIsNotTakenAway) {
  // What is in a file in memory cannot be dropped.
  LaunchSpec spec = script(1, "f=$(mktemp -p /dev/shm); trap '" + std::string(kCores) +
                                  "; rm $f; exit 0' TERM; head -c 40000000 /dev/zero > $f; echo ready; "
                                  "while :; do sleep 0.01; done");
  spec.rus = {0, 1};
  containers().start(spec);
  containers().untilOutput(1, "ready");
  EXPECT_FALSE(executor().resize(1, {0}).ok());
  executor().signal(1, SIGTERM);
  EXPECT_TRUE(containers().endOf(1).succeeded()) << "it runs on";
  EXPECT_EQ(containers().out(1), "ready\nCpus_allowed_list:\t0-1\n") << "with all that it had";
}

TEST_F(ContainerResizeTest, ATaskThatDoesNotRunIsNotFound) {
  EXPECT_EQ(executor().resize(1, {0}).error().code, ErrorCode::kNotFound);
  containers().run(script(1, "true"));
  EXPECT_EQ(executor().resize(1, {0}).error().code, ErrorCode::kNotFound);
}

}  // namespace tarcil::container_resize_test
