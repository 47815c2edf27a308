// Version 2 of cgroups: no machine needs to have controllers there for a task to be born in one.

#include "monitor/container/device_filter.h"
#include "monitor/container/shim_process.h"
#include "tests/monitor/container/container_fixture.h"

namespace tarcil::birth_cgroup_test {

// Runs a task under a shim without an executor, to its end.
TaskEnd runShim(TaskStore& store, const LaunchSpec& spec, const TaskSetting& setting) {
  EXPECT_TRUE(store.record(spec).ok());
  EXPECT_TRUE(store.makeWork(spec.allocation, 0, 0).ok());
  const SystemUser root{"root", 0, 0, {0}, "/root", "/bin/sh"};
  const auto lock = store.lockForStart(spec.allocation);
  const kj::AutoCloseFd status(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  const auto pid =
      spawnShim(TARCIL_SHIM, {spec.allocation, "test", *encodePlan(spec, root, setting), *lock, status});
  EXPECT_TRUE(pid.ok());
  ::waitpid(*pid, nullptr, 0);
  return store.exit(spec.allocation).value_or(TaskEnd{});
}

TEST(Shim, GivesBirthToATaskInItsVersion2Cgroup) {
  SKIP_WITHOUT_CONTAINERS();
  const std::string mount = parseCgroupMounts(textOf("/proc/self/mounts")).v2;
  if (mount.empty()) GTEST_SKIP() << "cgroup version 2 is not mounted";
  TemporaryFolder folder;
  const auto store = TaskStore::open(folder.path() + "/data", {});
  const std::string name = "/tarcil-test-" + std::to_string(::getpid());
  TaskSetting setting;
  setting.taskDirectory = (*store)->directory(1);
  setting.cgroups.directories = {mount + name};
  setting.cgroups.birth = mount + name;
  const TaskEnd end = runShim(**store, script(1, "grep ^0:: /proc/self/cgroup"), setting);
  EXPECT_TRUE(end.succeeded()) << end.problem;
  EXPECT_EQ(textOf((*store)->directory(1) + "/stdout"), "0::" + name + "\n");
  EXPECT_FALSE(std::filesystem::exists(mount + name));
}

TEST(Shim, SaysWhichLimitCannotBeSet) {
  SKIP_WITHOUT_CONTAINERS();
  TemporaryFolder folder;
  const auto store = TaskStore::open(folder.path() + "/data", {});
  TaskSetting setting;
  setting.taskDirectory = (*store)->directory(1);
  setting.cgroups.settings = {{folder.path() + "/no-such/memory.max", "100"}};
  const TaskEnd end = runShim(**store, script(1, "true"), setting);
  EXPECT_EQ(end.cause, EndCause::kNeverStarted);
  EXPECT_EQ(end.problem, "cannot set the limit '" + folder.path() +
                             "/no-such/memory.max': No such file or directory (value 100)");
}

TEST(Shim, RunsNoTaskThatItCannotKeepFromDevices) {
  SKIP_WITHOUT_CONTAINERS();
  TemporaryFolder folder;
  const auto store = TaskStore::open(folder.path() + "/data", {});
  TaskSetting setting;
  setting.taskDirectory = (*store)->directory(1);
  setting.deviceFilter = deviceFilter({{false, 195, 0}});
  const TaskEnd end = runShim(**store, script(1, "true"), setting);
  EXPECT_EQ(end.cause, EndCause::kNeverStarted);
  EXPECT_EQ(end.problem, "cannot keep the task from devices in the cgroup '': No such file or directory");
}

}  // namespace tarcil::birth_cgroup_test
