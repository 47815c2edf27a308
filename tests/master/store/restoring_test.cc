// A master on a restored backup, among agents and monitors that remember what happened after the backup
// was taken.
#include "master/store/restoring.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/master/master_harness.h"

namespace tarcil::restoring_test {

using testing::ElementsAre;
using testing::IsEmpty;

// The store as it is now.
MemoryStore copyOf(MasterHarness& master) {
  return master.store();
}

// Two servers of four units, one agent, one task running and one starting on s1: what was backed up.
class RestoringTest : public testing::Test {
 protected:
  RestoringTest() {
    agent_ = master_.attachAgent("x");
    epoch_ = *master_.agentAnswer().epoch;
    monitor_ = master_.attachMonitor("m", servers_);
    Commit commit = newJob(1, spec(2));
    commit.claims = {claim(0, 0), claim(1, 0)};
    const CommitAnswer answer = master_.commit(agent_, commit);
    running_ = answer.grants.at(0).allocation;
    starting_ = answer.grants.at(1).allocation;
    master_.started(monitor_, running_);
    backup_ = copyOf(master_);
  }

  // Another task placed after the backup, by the same agent.
  AllocationId placeAfterTheBackup() {
    Commit commit = newJob(2, spec());
    commit.claims = {claim(0, 0)};
    return master_.place(agent_, commit);
  }

  // A master starts on the backup, restored a while later.
  void restore() {
    master_.pass(std::chrono::hours(1));
    restoreAt(master_.now().wall);
  }
  void restoreAt(WallTime byTheClock) {
    const auto changes = changesOfRestore(*backup_.load(), byTheClock, rng_);
    ASSERT_TRUE(changes.ok()) << changes.error().message;
    master_.store() = backup_;
    ASSERT_TRUE(master_.store().write(*changes).ok());
    master_.restart();
  }

  const std::vector<ServerFacts> servers_{serverFacts("s1", 4), serverFacts("s2", 4)};
  Rng rng_{7};
  MasterHarness master_;
  MemoryStore backup_;
  SessionId agent_ = 0, monitor_ = 0;
  uint64_t epoch_ = 0;
  AllocationId running_ = 0, starting_ = 0;
};

TEST_F(RestoringTest, VoidsTheEpochOfAnAgentThatTheBackupKnows) {
  restore();
  master_.attachAgent("x", epoch_);
  EXPECT_GT(*master_.agentAnswer().epoch, epoch_);
}

TEST_F(RestoringTest, VoidsTheEpochOfAnAgentThatAttachedAfterTheBackup) {
  master_.attachAgent("y");
  const uint64_t epoch = *master_.agentAnswer().epoch;
  restore();
  master_.attachAgent("y", epoch);
  EXPECT_NE(*master_.agentAnswer().epoch, epoch);
}

TEST_F(RestoringTest, VoidsTheEpochsOfAnEarlierRestoreOfTheSameBackup) {
  restore();
  master_.attachAgent("x", epoch_);
  const uint64_t epoch = *master_.agentAnswer().epoch;
  restore();
  master_.attachAgent("x", epoch);
  EXPECT_NE(*master_.agentAnswer().epoch, epoch);
}

TEST_F(RestoringTest, VoidsTheEpochsOfAnEarlierRestoreThoughTheClockWasSetBack) {
  restoreAt(WallTime());
  master_.attachAgent("x", epoch_);
  const uint64_t epoch = *master_.agentAnswer().epoch;
  restoreAt(WallTime());
  master_.attachAgent("x", epoch);
  EXPECT_NE(*master_.agentAnswer().epoch, epoch);
}

TEST_F(RestoringTest, GivesEpochsThatLastAcrossRestarts) {
  restore();
  master_.attachAgent("x", epoch_);
  const uint64_t epoch = *master_.agentAnswer().epoch;
  master_.restart();
  master_.attachAgent("x", epoch);
  EXPECT_EQ(*master_.agentAnswer().epoch, epoch);
}

// Tasks that the agent is told to leave alone after the restore, with the time.
std::vector<std::pair<TaskIndex, Duration>> leftAlone(MasterHarness& master, int job) {
  std::vector<std::pair<TaskIndex, Duration>> tasks;
  master.attachAgent("x");
  for (const JobAssignment& assignment : master.agentAnswer().told.jobs) {
    if (assignment.job.id != jobId(job)) continue;
    for (const TaskAssignment& task : assignment.tasks) {
      if (task.delay > Duration::zero()) tasks.emplace_back(task.index, task.delay);
    }
  }
  return tasks;
}

TEST_F(RestoringTest, LeavesQueuedTasksOfExclusiveJobsAloneForAServerTimeout) {
  JobSpec exclusive = spec(2);
  exclusive.exclusive = true;
  master_.commit(agent_, newJob(3, exclusive));
  master_.commit(agent_, newJob(4, spec(2)));
  backup_ = copyOf(master_);
  restore();
  constexpr Duration kTimeout = MasterOptions{}.serverTimeout;
  EXPECT_THAT(leftAlone(master_, 3), ElementsAre(std::pair{0u, kTimeout}, std::pair{1u, kTimeout}));
  EXPECT_THAT(leftAlone(master_, 4), IsEmpty());
}

// A client that heard nothing submits it again: the master that was lost may have taken and started it.
TEST_F(RestoringTest, LeavesExclusiveJobsSubmittedSoonAfterwardsAloneForAServerTimeout) {
  JobSpec exclusive = spec(2);
  exclusive.exclusive = true;
  const auto verdictOn = [this](Commit commit) {
    commit.claims = {claim(0, 1)};
    return master_.commit(agent_, commit).grants.at(0).verdict;
  };
  EXPECT_EQ(verdictOn(newJob(2, exclusive)), Verdict::kGranted);
  restore();
  agent_ = master_.attachAgent("x");
  master_.attachMonitor("m", servers_);
  EXPECT_EQ(verdictOn(newJob(3, exclusive)), Verdict::kTaskNotWaiting);
  constexpr Duration kTimeout = MasterOptions{}.serverTimeout;
  const auto told = only<master::AssignJob>(master_.lastActions());
  ASSERT_EQ(told.size(), 1u);
  ASSERT_EQ(told[0].assignment.tasks.size(), 2u);
  EXPECT_EQ(told[0].assignment.tasks[0].delay, kTimeout);
  EXPECT_EQ(verdictOn(moreFor(3)), Verdict::kTaskNotWaiting) << "whatever its agent thinks";
  EXPECT_EQ(only<master::AssignJob>(master_.lastActions()).size(), 1u) << "which is told again";
  EXPECT_EQ(verdictOn(newJob(4, spec())), Verdict::kGranted) << "one that may have copies";
  master_.pass(kTimeout);
  EXPECT_EQ(verdictOn(moreFor(3)), Verdict::kGranted);
  EXPECT_EQ(verdictOn(newJob(5, exclusive)), Verdict::kGranted);
}

TEST_F(RestoringTest, NeverGivesAnAllocationNumberTwice) {
  for (int start = 0; start < 5; ++start) master_.restart();  // each goes on at a block of its own
  agent_ = master_.attachAgent("x", epoch_);
  master_.attachMonitor("m", servers_, {{running_, "s1"}});
  const AllocationId before = placeAfterTheBackup();
  restore();
  agent_ = master_.attachAgent("x", epoch_);
  master_.attachMonitor("m", servers_, {{running_, "s1"}});
  const AllocationId first = placeAfterTheBackup();
  EXPECT_GT(first, before);
  restore();
  agent_ = master_.attachAgent("x", epoch_);
  master_.attachMonitor("m", servers_, {{running_, "s1"}});
  EXPECT_NE(placeAfterTheBackup(), first);
}

TEST_F(RestoringTest, ShowsAgentsNewerVersionsThanTheySaw) {
  placeAfterTheBackup();
  const uint64_t seen = master_.status("s1").version;
  restore();
  EXPECT_GT(master_.status("s1").version, seen);
}

TEST_F(RestoringTest, StopsTasksStartedAfterTheBackup) {
  const AllocationId after = placeAfterTheBackup();
  restore();
  master_.attachMonitor("m", servers_, {{running_, "s1"}, {starting_, "s1"}, {after, "s1"}});
  EXPECT_THAT(master_.monitorAnswer().drop, ElementsAre(after));
  EXPECT_EQ(master_.freeUnits("s1"), 2u);
}

TEST_F(RestoringTest, KeepsTasksThatStillRun) {
  restore();
  const SessionId monitor = master_.attachMonitor("m", servers_, {{running_, "s1"}, {starting_, "s1"}});
  EXPECT_THAT(master_.monitorAnswer().drop, IsEmpty());
  master_.ended(monitor, running_, exitedWith(0));
  master_.ended(monitor, starting_, exitedWith(0));
  EXPECT_EQ(master_.stateOf(1), RunState::kDone);
}

// It was launched, ended and was forgotten after the backup: the monitor would refuse its launch for ever.
TEST_F(RestoringTest, LosesATaskThatWasStartingAndIsForgotten) {
  restore();
  master_.attachMonitor("m", servers_, {{running_, "s1"}});
  EXPECT_EQ(master_.task(1, 1).state, RunState::kQueued);
  EXPECT_EQ(master_.task(1, 1).attempt, 1u);
}

TEST_F(RestoringTest, KeepsStatesOfJobsInStepWithTheirTasks) {
  Commit commit = newJob(3, spec());
  commit.claims = {claim(0, 1)};
  master_.place(agent_, commit);
  backup_ = copyOf(master_);
  restore();
  EXPECT_EQ(master_.stateOf(3), RunState::kRunning);
}

TEST_F(RestoringTest, RefusesAStoreThatNeverHadAMaster) {
  const auto changes = changesOfRestore({}, master_.now().wall, rng_);
  ASSERT_FALSE(changes.ok());
  EXPECT_EQ(changes.error().code, ErrorCode::kInvalid);
}

TEST_F(RestoringTest, RefusesACounterThatIsUsedUp) {
  StoreContents contents = *backup_.load();
  contents.cluster->nextAllocation = (AllocationId{1} << 40) - 1;
  EXPECT_FALSE(changesOfRestore(contents, master_.now().wall, rng_).ok());
}

}  // namespace tarcil::restoring_test
