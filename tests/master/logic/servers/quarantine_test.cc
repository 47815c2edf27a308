// Servers that cannot start tasks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/master/master_harness.h"

namespace tarcil::quarantine_test {

using namespace master;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::HasSubstr;

struct Quarantine : testing::Test {
  MasterHarness master;
  SessionId monitor = master.attachMonitor("m", {serverFacts("a", 8)});
  SessionId agent = master.attachAgent("x");
  int jobs = 0;

  AllocationId placed() {
    Commit commit = newJob(++jobs, spec());
    commit.claims = {claim(0, 0)};
    return master.place(agent, commit);
  }
  void fail(int times, int exitCode = 0) {
    TaskEnd end;
    end.cause = EndCause::kNeverStarted;
    end.exitCode = exitCode;
    end.problem = "cannot make the cgroup";
    for (int i = 0; i < times; ++i) master.ended(monitor, placed(), end);
  }
  bool isAside() { return view().asideUntil != kNever; }
  ServerView view() { return *master.logic().server("a"); }
};

TEST_F(Quarantine, SetsAServerAsideThatFailsAgainAndAgain) {
  fail(4);
  EXPECT_FALSE(isAside());
  EXPECT_EQ(view().neverStarted, 4u);
  fail(1);
  EXPECT_TRUE(isAside());
  EXPECT_TRUE(master.status("a").cordoned) << "agents see it";
  EXPECT_TRUE(master.status("a").quarantined) << "and tell those who wait";
  EXPECT_EQ(view().neverStarted, 5u);
  EXPECT_THAT(view().reason,
              HasSubstr("5 tasks that could not be started; the last: cannot make the cgroup"));
  EXPECT_EQ(view().asideUntil, master.now().wall + minutes(1));
}

TEST_F(Quarantine, EndsByItselfAndGetsLongerEachTime) {
  fail(5);
  master.pass(minutes(1) - seconds(1));
  EXPECT_TRUE(isAside());
  master.pass(seconds(1));
  EXPECT_FALSE(isAside());
  EXPECT_FALSE(master.status("a").cordoned);
  EXPECT_FALSE(master.status("a").quarantined);
  EXPECT_EQ(view().neverStarted, 0u);
  EXPECT_EQ(view().reason, "");
  fail(5);
  EXPECT_EQ(view().asideUntil, master.now().wall + minutes(2));
  for (int i = 0; i < 8; ++i) {
    master.pass(std::chrono::hours(1));
    ASSERT_FALSE(isAside());
    fail(5);
  }
  EXPECT_EQ(view().asideUntil, master.now().wall + std::chrono::hours(1));
}

TEST_F(Quarantine, IsForgottenOnceATaskStarts) {
  fail(4);
  const AllocationId good = placed();
  master.started(monitor, good);
  fail(4);
  EXPECT_FALSE(isAside());
  fail(1);
  EXPECT_TRUE(isAside());
  master.pass(minutes(1));
  master.started(monitor, placed());
  fail(5);
  EXPECT_EQ(view().asideUntil, master.now().wall + minutes(1)) << "it begins anew";
}

TEST_F(Quarantine, IsNotForWhatLiesWithTheJob) {
  fail(20, 127);
  EXPECT_FALSE(isAside());
  EXPECT_EQ(view().neverStarted, 0u);
}

// One task, started again and again.
struct StartsThatFail : Quarantine {
  // At its attempt of this number; whether the task waits for another one.
  bool failsAtAttempt(uint32_t attempt, int exitCode) {
    Commit commit = attempt == 0 ? newJob(1, spec()) : moreFor(1);
    commit.claims = {claim(0, 0)};
    commit.claims[0].attempt = attempt;
    TaskEnd end;
    end.cause = EndCause::kNeverStarted;
    end.exitCode = exitCode;
    end.problem = "cannot make the cgroup";
    master.ended(monitor, master.place(agent, commit), end);
    if (isAside()) master.steer("a", ServerChange::kUncordon);
    return master.stateOf(1) == RunState::kQueued;
  }
};

TEST_F(StartsThatFail, ByTheServersFaultCostNoAttempt) {
  for (uint32_t attempt = 0; attempt < 10; ++attempt) {
    ASSERT_TRUE(failsAtAttempt(attempt, 0)) << attempt;
    EXPECT_EQ(master.task(1, 0).failures, 0u);
    EXPECT_EQ(master.task(1, 0).excused, attempt + 1);
    if (attempt == 4) {
      master.restart();
      monitor = master.attachMonitor("m", {serverFacts("a", 8)});
      agent = master.attachAgent("x");
    }
  }
  EXPECT_FALSE(failsAtAttempt(10, 0)) << "a task that no server can start does not go on for ever";
  EXPECT_EQ(master.stateOf(1), RunState::kFailed);
}

TEST_F(StartsThatFail, ByTheJobsFaultCount) {
  EXPECT_FALSE(failsAtAttempt(0, 127));
  EXPECT_EQ(master.task(1, 0).excused, 0u);
}

TEST_F(Quarantine, IsNotForWhatIsFarApart) {
  for (int i = 0; i < 10; ++i) {
    fail(2);
    master.pass(minutes(6));
  }
  EXPECT_FALSE(isAside());
}

TEST_F(Quarantine, IsEndedByAnUncordon) {
  fail(5);
  const auto actions = master.steer("a", ServerChange::kUncordon);
  EXPECT_FALSE(only<PublishServer>(actions).at(0).update.status.cordoned);
  EXPECT_FALSE(isAside());
  fail(5);
  EXPECT_EQ(view().asideUntil, master.now().wall + minutes(1)) << "and begins anew";
}

TEST_F(Quarantine, LeavesACordonWhenItEnds) {
  fail(5);
  master.steer("a", ServerChange::kCordon);
  EXPECT_EQ(view().reason, "cordoned by root") << "what lasts longer";
  master.pass(minutes(1));
  EXPECT_FALSE(isAside());
  EXPECT_TRUE(master.status("a").cordoned);
  EXPECT_FALSE(master.status("a").quarantined) << "the operator's word lasts longer";
  EXPECT_EQ(view().reason, "cordoned by root");
}

TEST(QuarantineOption, OfZeroMeansNever) {
  MasterOptions options;
  options.quarantineAfter = 0;
  MasterHarness master(options);
  const SessionId monitor = master.attachMonitor("m", {serverFacts("a", 8)});
  const SessionId agent = master.attachAgent("x");
  TaskEnd end;
  end.cause = EndCause::kNeverStarted;
  for (int i = 0; i < 20; ++i) {
    Commit commit = newJob(i, spec());
    commit.claims = {claim(0, 0)};
    master.ended(monitor, master.place(agent, commit), end);
  }
  EXPECT_FALSE(master.status("a").cordoned);
}

}  // namespace tarcil::quarantine_test
