#include <poll.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <algorithm>
#include <functional>
#include <thread>

#include "monitor/container/shim_process.h"
#include "shim/plan.h"
#include "tests/monitor/container/container_fixture.h"
#include "tests/support/process.h"

namespace tarcil::container_recovery_test {

class ContainerRecoveryTest : public testing::Test {
 protected:
  void SetUp() override {
    SKIP_WITHOUT_CONTAINERS();
    options_ = optionsIn(folder_.path());
  }

  // Runs `work` with an executor in a process of its own, which is then killed as a monitor is by kill -9.
  void runAndKillMonitor(const std::function<void(Containers&)>& work) {
    int done[2];
    ASSERT_EQ(::pipe2(done, O_CLOEXEC), 0);
    const pid_t monitor = ::fork();
    if (monitor == 0) {
      Containers containers(options_);
      work(containers);
      if (::write(done[1], "x", 1) == 1) ::pause();
      ::_exit(1);
    }
    ::close(done[1]);
    char byte = 0;
    EXPECT_EQ(::read(done[0], &byte, 1), 1);
    ::close(done[0]);
    ::kill(monitor, SIGKILL);
    ::waitpid(monitor, nullptr, 0);
  }

  // The task of the predecessor, as its successor sees it.
  RecoveredTask recovered() {
    successor_.emplace(options_);
    const auto tasks = successor_->executor().recover();
    EXPECT_EQ(tasks.size(), 1u);
    return tasks.empty() ? RecoveredTask{} : tasks[0];
  }
  // How it ended, whether before its successor saw it or afterwards.
  TaskEnd endOf(const RecoveredTask& task) {
    return task.state == RecoveredTask::State::kEnded ? task.end : successor().endOf(task.spec.allocation);
  }
  Containers& successor() { return *successor_; }

  pid_t shimOf(AllocationId allocation) const {
    return std::stoi(textOf(options_.dataDirectory + "/tasks/" + std::to_string(allocation) + "/lock"));
  }
  // Process 1 of the task's namespaces.
  pid_t initOf(AllocationId allocation) const {
    const std::string shim = std::to_string(shimOf(allocation));
    return std::stoi(textOf("/proc/" + shim + "/task/" + shim + "/children"));
  }
  const std::string& folder() const { return folder_.path(); }
  // In every hierarchy that has one.
  std::vector<std::string> cgroupsOf(AllocationId allocation) const {
    const std::string path =
        "/tarcil-" + options_.tag + "/" + options_.server + "/" + std::to_string(allocation);
    std::vector<std::string> roots = {"/sys/fs/cgroup"}, found;
    for (const auto& entry : std::filesystem::directory_iterator("/sys/fs/cgroup"))
      roots.push_back(entry.path());
    for (const std::string& root : roots) {
      if (std::filesystem::exists(root + path + "/cgroup.procs")) found.push_back(root + path);
    }
    return found;
  }

  ContainerOptions options_;

 private:
  TemporaryFolder folder_;
  std::optional<Containers> successor_;
};

// The successor knows which cores are taken by what it adopted.
TEST_F(ContainerRecoveryTest, CoresOfAnAdoptedTaskAreNotGivenAway) {
  if (::sysconf(_SC_NPROCESSORS_ONLN) < 2) GTEST_SKIP() << "one core";
  options_.units = {{{0}}, {{1}}};
  runAndKillMonitor([](Containers& monitor) {
    monitor.start(taskOf(1, {"sleep", "1000"}));
    monitor.untilStarted(1);
  });
  EXPECT_EQ(recovered().state, RecoveredTask::State::kRunning);
  const auto& missing = successor().executor().missing();
  if (std::find(missing.begin(), missing.end(), "cpuset") != missing.end()) GTEST_SKIP() << "no cpuset";
  successor().run(script(2, "grep Cpus_allowed_list /proc/self/status"));
  EXPECT_EQ(successor().out(2), "Cpus_allowed_list:\t1\n");
  successor().executor().signal(1, SIGKILL);
  successor().endOf(1);
}

TEST_F(ContainerRecoveryTest, ATaskOutlivesItsMonitorAndItsExitReachesTheNextOne) {
  const LaunchSpec spec =
      script(1, "echo before; while [ ! -e " + folder() + "/go ]; do sleep 0.01; done; echo after; exit 9");
  runAndKillMonitor([&spec](Containers& monitor) {
    monitor.start(spec);
    monitor.untilStarted(1);
  });
  const RecoveredTask task = recovered();
  EXPECT_EQ(task.state, RecoveredTask::State::kRunning);
  EXPECT_EQ(task.spec, spec);
  EXPECT_NE(task.started, kNever);
  ::chmod(folder().c_str(), 0755);
  std::ofstream(folder() + "/go") << "\n";
  const TaskEnd end = successor().endOf(1);
  EXPECT_EQ(end.cause, EndCause::kExited);
  EXPECT_EQ(end.exitCode, 9);
  EXPECT_EQ(successor().out(1), "before\nafter\n");
}

TEST_F(ContainerRecoveryTest, AnAdoptedTaskCanBeSignalled) {
  runAndKillMonitor([](Containers& monitor) {
    monitor.start(taskOf(1, {"sleep", "1000"}));
    monitor.untilStarted(1);
  });
  EXPECT_EQ(recovered().state, RecoveredTask::State::kRunning);
  successor().executor().signal(1, SIGTERM);
  EXPECT_EQ(successor().endOf(1).signal, SIGTERM);
}

TEST_F(ContainerRecoveryTest, AnEndThatTheMonitorMissedIsFound) {
  runAndKillMonitor([this](Containers& monitor) {
    monitor.start(script(1, "exit 3"));
    // Waits for the shim to end, without taking notice as a monitor would.
    while (!std::filesystem::exists(options_.dataDirectory + "/tasks/1/exit")) std::this_thread::yield();
  });
  const RecoveredTask task = recovered();
  EXPECT_EQ(task.state, RecoveredTask::State::kEnded);
  EXPECT_EQ(task.end.cause, EndCause::kExited);
  EXPECT_EQ(task.end.exitCode, 3);
}

TEST_F(ContainerRecoveryTest, ARecordedTaskThatWasNeverStartedMayBeStarted) {
  const LaunchSpec spec = script(1, "echo once");
  runAndKillMonitor([&spec](Containers& monitor) { monitor.executor().record(spec); });
  const RecoveredTask task = recovered();
  EXPECT_EQ(task.state, RecoveredTask::State::kNeverStarted);
  EXPECT_EQ(task.spec, spec);
  successor().executor().start(task.spec, {}, {});
  EXPECT_TRUE(successor().endOf(1).succeeded());
  EXPECT_EQ(successor().out(1), "once\n");
}

TEST_F(ContainerRecoveryTest, ATaskWhoseMonitorDiedRightAfterTheSpawnRunsOnce) {
  const LaunchSpec spec = script(1, "echo once");
  runAndKillMonitor([&spec](Containers& monitor) { monitor.start(spec); });
  const RecoveredTask task = recovered();
  ASSERT_NE(task.state, RecoveredTask::State::kNeverStarted);
  EXPECT_TRUE(endOf(task).succeeded());
  EXPECT_EQ(successor().out(1), "once\n");
}

TEST_F(ContainerRecoveryTest, ATaskDiesWithItsShimAndIsLost) {
  Containers containers(options_);
  containers.start(script(1, "setsid sleep 1000 & wait"));
  containers.untilStarted(1);
  ::kill(shimOf(1), SIGKILL);
  const TaskEnd end = containers.endOf(1);
  EXPECT_EQ(end.cause, EndCause::kLost);
  EXPECT_NE(end.problem.find("its supervisor (tarcil-shim) was killed"), std::string::npos);
  // Their cgroup could not have been removed with a process in it.
  const CgroupTree tree({}, {"tarcil-" + options_.tag, options_.server});
  EXPECT_TRUE(tree.tasks().empty());
}

// So does a machine that shuts down, to every process.
TEST_F(ContainerRecoveryTest, ATaskWhoseShimIsAskedToEndIsStoppedAndHasNotFailed) {
  Containers containers(options_);
  containers.start(script(1, "trap 'exit 3' TERM; echo ready; while :; do sleep 0.01; done"));
  containers.untilOutput(1, "ready");
  ::kill(shimOf(1), SIGTERM);
  const TaskEnd end = containers.endOf(1);
  EXPECT_EQ(end.cause, EndCause::kCancelled);
  EXPECT_EQ(end.exitCode, 3);
}

TEST_F(ContainerRecoveryTest, AShimKilledWhileNoMonitorWasThereMeansLost) {
  runAndKillMonitor([](Containers& monitor) {
    monitor.start(taskOf(1, {"sleep", "1000"}));
    monitor.untilStarted(1);
  });
  killAndAwaitEnd(shimOf(1));
  EXPECT_EQ(endOf(recovered()).cause, EndCause::kLost) << "at once, or when its processes are gone too";
  const CgroupTree tree({}, {"tarcil-" + options_.tag, options_.server});
  EXPECT_TRUE(tree.tasks().empty());
}

// A process that hangs in the kernel cannot be made at will: one that the shim does not know stands for it.
TEST_F(ContainerRecoveryTest, ATaskIsLostOnlyWhenItsProcessesAreGone) {
  runAndKillMonitor([](Containers& monitor) {
    monitor.start(taskOf(1, {"sleep", "1000"}));
    monitor.untilStarted(1);
  });
  const pid_t hanging = ::fork();
  if (hanging == 0) {
    ::pause();
    ::_exit(0);
  }
  size_t joined = 0;
  for (const std::string& cgroup : cgroupsOf(1)) {
    std::ofstream procs(cgroup + "/cgroup.procs");
    procs << hanging << std::flush;
    if (procs) ++joined;
  }
  ASSERT_GT(joined, 0u);
  killAndAwaitEnd(shimOf(1));
  EXPECT_EQ(recovered().state, RecoveredTask::State::kRunning);
  successor().wait(50 * kj::MILLISECONDS);
  EXPECT_FALSE(successor().ended.contains(1));
  ::kill(hanging, SIGKILL);
  ::waitpid(hanging, nullptr, 0);
  EXPECT_EQ(successor().endOf(1).cause, EndCause::kLost);
}

TEST_F(ContainerRecoveryTest, WhatAnEarlierBootLeftIsLostEvenIfItNeverStarted) {
  runAndKillMonitor([](Containers& monitor) { monitor.executor().record(script(1, "true")); });
  std::ofstream(options_.dataDirectory + "/boot") << "another boot\n";
  const RecoveredTask task = recovered();
  EXPECT_EQ(task.state, RecoveredTask::State::kEnded);
  EXPECT_EQ(task.end.cause, EndCause::kLost);
  EXPECT_EQ(task.end.problem, "its server went down while it ran");
}

TEST_F(ContainerRecoveryTest, WhatIsOverIsKnownToTheNextMonitor) {
  runAndKillMonitor([](Containers& monitor) {
    monitor.run(script(3, "true"));
    monitor.executor().forget(3);
    monitor.executor().forget(8);  // stopped before it arrived
  });
  Containers successor(options_);
  std::vector<AllocationId> forgotten;
  for (const RecoveredTask& task : successor.executor().recover()) {
    EXPECT_EQ(task.state, RecoveredTask::State::kForgotten);
    forgotten.push_back(task.spec.allocation);
  }
  EXPECT_EQ(forgotten, (std::vector<AllocationId>{3, 8}));
}

TEST_F(ContainerRecoveryTest, TheReasonForWhichATaskIsEndedOutlivesTheMonitor) {
  runAndKillMonitor([](Containers& monitor) {
    monitor.start(taskOf(1, {"sleep", "1000"}));
    monitor.untilStarted(1);
    monitor.executor().recordReason(1, EndCause::kTimedOut);
  });
  const RecoveredTask task = recovered();
  EXPECT_EQ(task.state, RecoveredTask::State::kRunning);
  EXPECT_EQ(task.reason, EndCause::kTimedOut);
  successor().executor().signal(1, SIGKILL);
  successor().endOf(1);
}

TEST_F(ContainerRecoveryTest, ATaskThatFillsTheDiskHidesNeitherWhyItIsEndedNorHow) {
  const std::string small = folder() + "/small";
  ::mkdir(small.c_str(), 0755);
  ASSERT_EQ(::mount("tmpfs", small.c_str(), "tmpfs", 0, "size=1m"), 0);
  options_.dataDirectory = small + "/data";
  runAndKillMonitor([&small](Containers& monitor) {
    monitor.start(script(1, "trap 'exit 9' TERM; cat /dev/zero > file; while :; do sleep 0.01; done"));
    monitor.untilStarted(1);
    while (std::filesystem::space(small).free > 0) std::this_thread::yield();
    monitor.executor().recordReason(1, EndCause::kTimedOut);
  });
  const RecoveredTask task = recovered();
  EXPECT_EQ(task.state, RecoveredTask::State::kRunning);
  EXPECT_EQ(task.reason, EndCause::kTimedOut);
  successor().executor().signal(1, SIGTERM);
  EXPECT_EQ(successor().endOf(1).exitCode, 9);
  ::umount2(small.c_str(), MNT_DETACH);
}

TEST_F(ContainerRecoveryTest, UnitsThatATaskWasGivenAreKnownToTheNextMonitor) {
  options_.units = {{{0}}, {{1}}};
  options_.memoryPerRu = 32 << 20;
  const std::vector<std::string> missing = Containers(options_).executor().missing();
  if (std::ranges::find(missing, "cpuset") != missing.end()) GTEST_SKIP() << "no cpuset controller";
  runAndKillMonitor([](Containers& monitor) {
    monitor.start(taskOf(1, {"sleep", "1000"}));
    monitor.untilStarted(1);
    if (!monitor.executor().resize(1, {0, 1})) ::_exit(1);
  });
  EXPECT_EQ(recovered().spec.rus, (std::vector<RuIndex>{0, 1})) << "nobody else may start on them";
  ASSERT_TRUE(successor().executor().resize(1, {0}).ok());
  successor().executor().signal(1, SIGKILL);
  successor().endOf(1);
}

TEST_F(ContainerRecoveryTest, AFolderWithoutAWholeRecordIsNoTask) {
  const std::string task = options_.dataDirectory + "/tasks/1";
  std::filesystem::create_directories(task);
  std::ofstream(task + "/launch") << "torn";
  Containers successor(options_);
  EXPECT_TRUE(successor.executor().recover().empty());
  EXPECT_FALSE(std::filesystem::exists(task));
}

LaunchSpec exclusively(LaunchSpec spec) {
  spec.exclusive = true;
  return spec;
}

MonotonicTime fromNow(Duration time) {
  return systemClock().now().steady + time;
}

TEST_F(ContainerRecoveryTest, AnExclusiveTaskEndsWithItsLeaseThoughNoMonitorIsThere) {
  runAndKillMonitor([](Containers& containers) {
    containers.executor().extendLease(fromNow(std::chrono::hours(1)));
    containers.start(exclusively(script(1, "echo ready; sleep 1000")));
    containers.untilOutput(1, "ready");
    containers.executor().extendLease(fromNow(std::chrono::milliseconds(50)));
    // The shim looks again when the lease that it knows of ends: it is told that that is now.
    ::kill(std::stoi(textOf(containers.folder() + "/tasks/1/lock")), SIGALRM);
  });
  const TaskEnd end = endOf(recovered());
  EXPECT_EQ(end.cause, EndCause::kLost);
  EXPECT_EQ(end.problem, kLeaseEnded);
}

TEST_F(ContainerRecoveryTest, AnExclusiveTaskEndsWithItsLeaseThoughItsShimIsStopped) {
  Containers containers(options_);
  containers.executor().extendLease(fromNow(std::chrono::hours(1)));
  containers.start(exclusively(script(1, "echo ready; sleep 1000")));
  containers.untilOutput(1, "ready");
  const pid_t shim = shimOf(1), init = initOf(1);
  const kj::AutoCloseFd pidfd = openPidfd(init);
  ::kill(shim, SIGSTOP);
  containers.executor().extendLease(fromNow(std::chrono::milliseconds(50)));
  ::kill(init, SIGALRM);  // it looks again when the lease that it knows of ends: it is told that that is now
  pollfd gone{pidfd, POLLIN, 0};
  EXPECT_EQ(::poll(&gone, 1, 60'000), 1) << "it lives on where nobody ends it";
  containers.executor().extendLease(fromNow(std::chrono::hours(1)));
  ::kill(shim, SIGCONT);
  const TaskEnd end = containers.endOf(1);
  EXPECT_EQ(end.cause, EndCause::kLost) << "whatever the lease is now";
  EXPECT_EQ(end.problem, kLeaseEnded);
}

TEST_F(ContainerRecoveryTest, AnExclusiveTaskEndsWithItsLeaseThoughItsInitIsStopped) {
  Containers containers(options_);
  containers.executor().extendLease(fromNow(std::chrono::hours(1)));
  containers.start(exclusively(script(1, "echo ready; sleep 1000")));
  containers.untilOutput(1, "ready");
  ::kill(initOf(1), SIGSTOP);
  containers.executor().extendLease(fromNow(std::chrono::milliseconds(50)));
  ::kill(shimOf(1), SIGALRM);
  EXPECT_EQ(containers.endOf(1).problem, kLeaseEnded);
}

TEST_F(ContainerRecoveryTest, AnExclusiveTaskOutlivesItsMonitorWhileTheLeaseLasts) {
  runAndKillMonitor([](Containers& containers) {
    containers.executor().extendLease(fromNow(std::chrono::hours(1)));
    containers.start(exclusively(script(1, "echo ready; sleep 0.1; exit 7")));
    containers.untilOutput(1, "ready");
  });
  EXPECT_EQ(endOf(recovered()).exitCode, 7);
}

TEST_F(ContainerRecoveryTest, AnExclusiveTaskWithoutALeaseDoesNotLive) {
  Containers containers(options_);
  const TaskEnd end = containers.run(exclusively(script(1, "sleep 1000")));
  EXPECT_NE(end.cause, EndCause::kExited);
}

TEST_F(ContainerRecoveryTest, OtherTasksDoNotCareForTheLease) {
  Containers containers(options_);
  containers.executor().extendLease(fromNow(-std::chrono::hours(1)));
  EXPECT_TRUE(containers.run(script(1, "sleep 0.05")).succeeded());
}

}  // namespace tarcil::container_recovery_test
