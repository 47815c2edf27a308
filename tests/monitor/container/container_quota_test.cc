// What tasks may write where the disk has project quotas. scripts/vm-cgroup2.sh runs these in a machine whose
// /mnt has.
#include <gmock/gmock.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/mount.h>

#include <set>

#include "monitor/container/project_quota.h"
#include "tests/monitor/container/container_fixture.h"

namespace tarcil::container_quota_test {

using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kDisk = "/mnt";
constexpr uint64_t kLimit = 2 << 20;
constexpr const char* kLimitText = "2097152";

uint32_t projectOf(const std::string& folder) {
  const kj::AutoCloseFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  fsxattr attributes{};
  EXPECT_EQ(::ioctl(fd, FS_IOC_FSGETXATTR, &attributes), 0) << folder;
  return attributes.fsx_projid;
}

// For scripts: `write SIZE FILE` says whether it could. They end with 7, and not because they were killed.
constexpr const char* kWrite =
    "write() { head -c $1 /dev/zero >$2 && echo wrote || echo failed; }; "
    "trap 'exit 7' EXIT; ";

class ContainerQuotaTest : public testing::Test {
 protected:
  void SetUp() override {
    SKIP_WITHOUT_CONTAINERS();
    if (const auto quotas = ProjectQuotas::open(kDisk); !quotas) {
      GTEST_SKIP() << kDisk << " has no project quotas: " << quotas.error().message;
    }
    folder_.emplace(kDisk);
    options_ = optionsIn(folder_->path());
    options_.diskPause = std::chrono::milliseconds(1);
  }

  Containers& containers() {
    if (!containers_) containers_.emplace(options_);
    return *containers_;
  }
  void succeed() { containers_.reset(); }

  const std::string& folder() const { return folder_->path(); }
  std::string placeOf(AllocationId allocation, const std::string& name, const char* kept = "tasks") const {
    return options_.dataDirectory + "/" + kept + "/" + std::to_string(allocation) + "/" + name;
  }

  static LaunchSpec limited(AllocationId allocation, const std::string& text) {
    LaunchSpec spec = script(allocation, kWrite + text);
    spec.limits.diskBytes = kLimit;
    return spec;
  }
  // It ended by itself.
  void expectOutput(const LaunchSpec& spec, const std::string& text) {
    const TaskEnd end = containers().run(spec);
    EXPECT_EQ(end.exitCode, 7) << end.problem;
    EXPECT_EQ(end.problem, "");
    EXPECT_EQ(containers().out(spec.allocation), text);
  }

  ContainerOptions options_;

 private:
  std::optional<TemporaryFolder> folder_;
  std::optional<Containers> containers_;
};

TEST_F(ContainerQuotaTest, AWriteBeyondTheLimitFailsAndTheTaskEndsByItself) {
  expectOutput(limited(1, "write " + std::string(kLimitText) + " file; write 1 more; rm file; write 1 more"),
               "wrote\nfailed\nwrote\n");
  EXPECT_THAT(containers().err(1),
              AnyOf(HasSubstr("Disk quota exceeded"), HasSubstr("No space left on device")));
  EXPECT_THAT(containers().executor().missing(), Not(testing::Contains("disk-quota")));
}

TEST_F(ContainerQuotaTest, WorkingDirectoryAndTmpHaveOneQuota) {
  expectOutput(limited(1, "write 1500000 file; write 1500000 /tmp/file; rm file; write 1500000 /tmp/file"),
               "wrote\nfailed\nwrote\n");
}

TEST_F(ContainerQuotaTest, ATaskHasABoundedNumberOfFiles) {
  expectOutput(limited(1, "cd /tmp; touch $(seq 600) 2>/dev/null; ls | wc -l"), "512\n");
}

TEST_F(ContainerQuotaTest, ATaskOfUserRootHasOneToo) {
  LaunchSpec spec = limited(1, "write 3000000 file");
  spec.user = "root";
  expectOutput(spec, "failed\n");
}

TEST_F(ContainerQuotaTest, ATaskCannotTakeItsFilesOutOfItsProject) {
  expectOutput(limited(1,
                       "mkdir sub; for change in '-p 0' -P; do chattr $change . || echo refused; chattr "
                       "$change sub || echo refused; done; write 3000000 sub/file"),
               "refused\nrefused\nrefused\nrefused\nfailed\n");
}

TEST_F(ContainerQuotaTest, OutputIsNotCounted) {
  expectOutput(limited(1, "head -c 3000000 /dev/zero >&2; write 1500000 file"), "wrote\n");
}

TEST_F(ContainerQuotaTest, ATaskThatGetsTheFoldersOfAnotherHasAllOfItsOwn) {
  options_.keepDone.tasks = 1;
  std::set<uint32_t> projects;
  for (AllocationId allocation = 1; allocation <= 6; ++allocation) {
    // Left: nothing, a file, and a folder that has had many.
    const std::string last = allocation % 3 == 0 ? "rm file"
                             : allocation % 3 == 1
                                 ? ":"
                                 : "rm file; for i in $(seq 500); do : >long-name-of-$i; done; rm *";
    expectOutput(limited(allocation, "write " + std::string(kLimitText) + " file; write 1 more; " + last),
                 "wrote\nfailed\n");
    EXPECT_EQ(projectOf(placeOf(allocation, "work")), projectOf(placeOf(allocation, "tmp")));
    EXPECT_TRUE(isTaskProject(projectOf(placeOf(allocation, "work"))));
    containers().executor().forget(allocation);
  }
}

TEST_F(ContainerQuotaTest, TheQuotaGoesWithTheTask) {
  const auto quotas = ProjectQuotas::open(kDisk);
  expectOutput(limited(1, ":"), "");
  EXPECT_TRUE(quotas->limits(placeOf(1, "work")));
  containers().executor().forget(1);
  EXPECT_FALSE(quotas->limits(placeOf(1, "work", "done")));
}

TEST_F(ContainerQuotaTest, AnAdoptedTaskKeepsItsQuotaAndItGoesWithTheTask) {
  containers().start(limited(1, "echo ready; until [ -e /tmp/go ]; do sleep 0.05; done; write 3000000 file"));
  containers().untilOutput(1, "ready");
  succeed();
  ASSERT_EQ(containers().executor().recover().size(), 1u);
  EXPECT_TRUE(ProjectQuotas::open(kDisk)->limits(placeOf(1, "work")));
  std::ofstream(placeOf(1, "tmp/go")).flush();
  EXPECT_EQ(containers().endOf(1).exitCode, 7);
  EXPECT_EQ(containers().out(1), "ready\nfailed\n");
  containers().executor().forget(1);
  EXPECT_FALSE(ProjectQuotas::open(kDisk)->limits(placeOf(1, "work", "done")));
}

TEST_F(ContainerQuotaTest, TasksOfTwoMonitorsOnOneDiskHaveProjectsOfTheirOwn) {
  const ContainerOptions first = options_;
  ContainerOptions second = optionsIn(folder() + "/second");
  second.server = "s2";
  // Their tasks run at the same time.
  for (const ContainerOptions& options : {first, second}) {
    succeed();
    options_ = options;
    containers().start(limited(1, "write 1500000 file; exec sleep 30"));
    containers().untilOutput(1, "wrote");
    EXPECT_TRUE(isTaskProject(projectOf(placeOf(1, "work"))));
  }
  EXPECT_NE(projectOf(first.dataDirectory + "/tasks/1/work"),
            projectOf(second.dataDirectory + "/tasks/1/work"));
  for (const ContainerOptions& options : {first, second}) {
    succeed();
    options_ = options;
    ASSERT_EQ(containers().executor().recover().size(), 1u);
    containers().executor().signal(1, SIGKILL);
    EXPECT_EQ(containers().endOf(1).signal, SIGKILL);
  }
}

TEST_F(ContainerQuotaTest, ANumberThatIsTakenIsNotTakenAgain) {
  // Each would take the same one.
  const auto first = ProjectQuotas::open(folder()), second = ProjectQuotas::open(folder());
  for (const char* name : {"/a", "/b", "/c", "/d"}) std::filesystem::create_directory(folder() + name);
  ASSERT_TRUE(first->limit(folder() + "/a", folder() + "/b", 1, kLimit).ok());
  const uint32_t taken = projectOf(folder() + "/a");
  first->release(folder() + "/a");
  ASSERT_TRUE(second->limit(folder() + "/c", folder() + "/d", 1, kLimit).ok());
  EXPECT_EQ(projectOf(folder() + "/a"), taken);
  EXPECT_NE(projectOf(folder() + "/c"), taken);
  // Folders that are a project stay it.
  ASSERT_TRUE(second->limit(folder() + "/a", folder() + "/b", 2, kLimit).ok());
  EXPECT_EQ(projectOf(folder() + "/a"), taken);
  for (const char* name : {"/a", "/c"}) first->release(folder() + name);
}

TEST_F(ContainerQuotaTest, InputFilesBeyondTheLimitAreRefused) {
  const TaskEnd end = containers().run(limited(1, "true"), {{"file", 0644, std::string(3 << 20, 'x')}});
  EXPECT_EQ(end.cause, EndCause::kNeverStarted);
  EXPECT_EQ(end.exitCode, 126);
  EXPECT_THAT(end.problem,
              HasSubstr("its input files take up 3MiB on the disk, more than its 2MiB (limits.disk"));
  LaunchSpec spec = limited(2, "write 1000000 file");
  EXPECT_EQ(containers().run(spec, {{"input", 0644, std::string(1'500'000, 'x')}}).exitCode, 7);
  EXPECT_EQ(containers().out(2), "failed\n");
}

TEST_F(ContainerQuotaTest, NoTaskStartsWithoutTheQuotaThatItIsToHave) {
  const LaunchSpec spec = limited(1, "true");
  containers().executor().record(spec);
  // Where no project can be set.
  std::filesystem::create_directory(placeOf(1, "tmp"));
  ASSERT_EQ(::mount("none", placeOf(1, "tmp").c_str(), "tmpfs", 0, nullptr), 0);
  containers().executor().start(spec, {}, {});
  const TaskEnd end = containers().endOf(1);
  EXPECT_EQ(::umount(placeOf(1, "tmp").c_str()), 0);
  EXPECT_EQ(end.cause, EndCause::kNeverStarted);
  EXPECT_TRUE(serversFault(end));
  EXPECT_THAT(end.problem, HasSubstr("cannot make the task's folders a project"));
  EXPECT_THAT(end.problem, HasSubstr("no task starts there without one"));
}

TEST_F(ContainerQuotaTest, ATaskWithoutALimitHasNone) {
  options_.keepDone.tasks = 1;
  for (const AllocationId allocation : {1, 2, 3, 4}) {
    LaunchSpec spec = limited(allocation, "write 1500000 file; write 1500000 more; rm file more");
    if (allocation % 2 == 0) spec.limits.diskBytes = 0;
    expectOutput(spec, allocation % 2 == 0 ? "wrote\nwrote\n" : "wrote\nfailed\n");
    containers().executor().forget(allocation);
  }
}

}  // namespace tarcil::container_quota_test
