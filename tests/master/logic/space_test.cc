// The disk is getting full: new jobs are refused, what is there goes on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/master/master_harness.h"

namespace tarcil::space_test {

using testing::HasSubstr;
using testing::IsEmpty;

class SpaceTest : public testing::Test {
 protected:
  SpaceTest() : master_(withReserve()) {
    agent_ = master_.attachAgent("x");
    monitor_ = master_.attachMonitor("m", {serverFacts("s1", 4)});
    master_.commit(agent_, newJob(1, spec()));
  }

  static MasterOptions withReserve() {
    MasterOptions options;
    options.diskReserve = uint64_t{64} << 20;
    return options;
  }

  void leave(uint64_t mebibytes) { master_.handle(master::SpaceMeasured{mebibytes << 20}); }
  CommitAnswer submit(int number) { return master_.commit(agent_, newJob(number, spec())); }

  MasterHarness master_;
  SessionId agent_ = 0, monitor_ = 0;
};

TEST_F(SpaceTest, NewJobsAreRefusedBelowTheReserve) {
  leave(63);
  EXPECT_THAT(master_.logic().warning(), HasSubstr("63 MiB left"));
  const CommitAnswer answer = submit(2);
  EXPECT_EQ(answer.outcome, CommitAnswer::Outcome::kBusy);
  EXPECT_THAT(answer.problem, HasSubstr("disk nearly full"));
  EXPECT_THAT(answer.problem, HasSubstr("try again later"));
  EXPECT_FALSE(master_.logic().job(jobId(2)));
}

TEST_F(SpaceTest, JobsThatAreThereGoOn) {
  leave(0);
  Commit more = moreFor(1);
  more.claims = {claim(0, 0)};
  master_.ended(monitor_, master_.place(agent_, more), exitedWith(0));
  EXPECT_EQ(master_.stateOf(1), RunState::kDone);
}

TEST_F(SpaceTest, ARepeatedSubmissionFindsItsJob) {
  leave(0);
  EXPECT_EQ(submit(1).outcome, CommitAnswer::Outcome::kJobExists);
}

TEST_F(SpaceTest, JobsAreTakenAgainWhenThereIsRoom) {
  leave(0);
  leave(64);
  EXPECT_THAT(master_.logic().warning(), IsEmpty());
  EXPECT_EQ(submit(2).outcome, CommitAnswer::Outcome::kOk);
}

}  // namespace tarcil::space_test
