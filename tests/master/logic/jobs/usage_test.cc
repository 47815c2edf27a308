// What is counted for users, and when.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/master/master_harness.h"

namespace tarcil::usage_test {

using namespace master;
using testing::ElementsAre;
using testing::IsEmpty;

struct Used : testing::Test {
  MasterHarness master;
  SessionId monitor = master.attachMonitor("m", {serverFacts("a", 8)});
  SessionId agent = master.attachAgent("x");

  AllocationId placed(int number, const JobSpec& spec) {
    Commit commit = newJob(number, spec);
    for (TaskIndex task = 0; task < spec.tasks; ++task)
      commit.claims.push_back(claim(task, 0, spec.rusPerTask));
    return master.place(agent, commit);
  }
  Usage ofAlice() { return master.logic().usage(user("alice")).at(0); }
};

TEST_F(Used, CountsUnitsForAsLongAsATaskHeldThem) {
  const AllocationId allocation = placed(1, spec(2, 3));
  EXPECT_THAT(master.logic().usage(theOperator()), IsEmpty()) << "nothing has ended";
  master.pass(std::chrono::seconds(10));
  master.ended(monitor, allocation, exitedWith(0));
  EXPECT_EQ(ofAlice(), (Usage{"alice", 30'000'000, 1, 0, 0, 0, 0}));
  master.pass(std::chrono::seconds(5));
  master.ended(monitor, allocation + 1, exitedWith(0));
  EXPECT_EQ(ofAlice(), (Usage{"alice", 75'000'000, 2, 1, 0, 0, 0}));
}

TEST_F(Used, CountsAReportedEndOnce) {
  const AllocationId allocation = placed(1, spec());
  master.pass(std::chrono::seconds(1));
  master.ended(monitor, allocation, exitedWith(0));
  master.ended(monitor, allocation, exitedWith(0));
  EXPECT_EQ(ofAlice(), (Usage{"alice", 1'000'000, 1, 1, 0, 0, 0}));
}

TEST_F(Used, CountsEveryAttemptAndHowTheJobEnded) {
  JobSpec retried = spec();
  retried.restart.attempts = 1;
  master.ended(monitor, placed(1, retried), exitedWith(1));
  Commit again = moreFor(1);
  again.claims = {claim(0, 0)};
  again.claims[0].attempt = 1;
  master.ended(monitor, master.place(agent, again), exitedWith(1));
  EXPECT_EQ(ofAlice(), (Usage{"alice", 0, 2, 0, 1, 0, 0}));
  master.commit(agent, newJob(2, spec()));
  master.cancel(2, user("alice"));
  EXPECT_EQ(ofAlice().cancelled, 1u);
}

TEST_F(Used, IsStoredTogetherWithTheEndOfTheTask) {
  const AllocationId allocation = placed(1, spec());
  const ReportsArrived end{1, monitor, {{allocation, true, exitedWith(0)}}};
  master.dieBeforeStoring(end);
  EXPECT_THAT(master.logic().usage(theOperator()), IsEmpty());
  monitor = master.attachMonitor("m", {serverFacts("a", 8)}, {{allocation, "a"}});
  master.dieBeforeAnswering(ReportsArrived{2, monitor, {{allocation, true, exitedWith(0)}}});
  EXPECT_EQ(ofAlice().attempts, 1u);
  monitor = master.attachMonitor("m", {serverFacts("a", 8)}, {{allocation, "a"}});
  EXPECT_THAT(master.monitorAnswer().drop, ElementsAre(allocation));
  EXPECT_EQ(ofAlice(), (Usage{"alice", 0, 1, 1, 0, 0, 0}));
}

TEST_F(Used, OutlivesTheJobsAndIsForItsUserOnly) {
  master.ended(monitor, placed(1, spec()), exitedWith(0));
  master.pass(MasterOptions{}.keepFinishedFor);
  ASSERT_FALSE(master.logic().job(jobId(1)));
  master.restart();
  EXPECT_EQ(ofAlice().done, 1u);
  EXPECT_THAT(master.logic().usage(user("bob")), IsEmpty());
  EXPECT_EQ(master.logic().usage(theOperator()).size(), 1u);
}

}  // namespace tarcil::usage_test
