// The numbers of jobs, through restarts, restores and the end of jobs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "master/store/restoring.h"
#include "tests/master/master_harness.h"

namespace tarcil::job_numbers_test {

using namespace master;
using testing::ElementsAre;
using testing::IsEmpty;

struct JobNumbers : testing::Test {
  explicit JobNumbers(const MasterOptions& options = {}) : master(options) {}

  MasterHarness master;
  SessionId monitor = master.attachMonitor("m", {serverFacts("a", 4)});
  SessionId agent = master.attachAgent("x");

  JobNumber submitted(int number, const std::string& user = "alice") {
    Commit commit = newJob(number, spec());
    commit.newJob->record.user = user;
    commit.newJob->record.number = 99;  // what an agent says does not count
    master.commit(agent, commit);
    return master.job(number).record.number;
  }
  void ends(int number) {
    Commit commit = moreFor(number);
    commit.claims = {claim(0, 0)};
    master.ended(monitor, master.place(agent, commit), exitedWith(0));
  }
  void restart() {
    master.restart();
    monitor = master.attachMonitor("m", {serverFacts("a", 4)});
    agent = master.attachAgent("x");
  }
  Result<JobNumber> leased(SessionId session, uint32_t count) {
    return only<AnswerNumbers>(master.handle(NumbersAsked{7, session, count})).at(0).first;
  }
};

TEST_F(JobNumbers, RiseFromOneInTheOrderOfAcceptance) {
  EXPECT_EQ(submitted(5), 1u);
  EXPECT_EQ(submitted(3), 2u);
  EXPECT_EQ(submitted(5), 1u) << "a repeat finds the first one";
  EXPECT_EQ(submitted(4), 3u);
}

TEST_F(JobNumbers, StayAndGoOnAfterARestart) {
  submitted(1);
  submitted(2);
  restart();
  EXPECT_EQ(master.job(2).record.number, 2u);
  EXPECT_EQ(submitted(3), 3u) << "without a gap";
}

TEST_F(JobNumbers, FindTheJobForThoseWhoMaySeeIt) {
  submitted(1);
  submitted(2, "bob");
  EXPECT_THAT(master.logic().jobsNumbered(2, user("bob")), ElementsAre(jobId(2)));
  EXPECT_THAT(master.logic().jobsNumbered(2, theOperator()), ElementsAre(jobId(2)));
  EXPECT_THAT(master.logic().jobsNumbered(2, user("alice")), IsEmpty());
  EXPECT_THAT(master.logic().jobsNumbered(3, theOperator()), IsEmpty());
  EXPECT_EQ(master.logic().summary(jobId(2))->number, 2u);
}

struct JobNumbersOfForgottenJobs : JobNumbers {
  static MasterOptions options() {
    MasterOptions options;
    options.keepFinishedJobs = 0;
    return options;
  }
  JobNumbersOfForgottenJobs() : JobNumbers(options()) {}
};

TEST_F(JobNumbersOfForgottenJobs, DoNotComeTwice) {
  EXPECT_EQ(submitted(1), 1u);
  ends(1);
  ASSERT_FALSE(master.logic().summary(jobId(1)));
  restart();
  EXPECT_EQ(submitted(2), 2u);
  EXPECT_THAT(master.logic().jobsNumbered(1, theOperator()), IsEmpty());
  ends(2);
  restart();
  EXPECT_EQ(submitted(3), 3u);
}

TEST_F(JobNumbers, ThatAreLeasedGoToNoOtherJobAlsoAfterARestart) {
  EXPECT_EQ(submitted(1), 1u);
  EXPECT_EQ(*leased(agent, 8), 2u);
  EXPECT_EQ(submitted(2), 10u);
  EXPECT_EQ(*leased(agent, 8), 11u);
  restart();
  EXPECT_EQ(submitted(3), 19u);
}

TEST_F(JobNumbers, AreLeasedToAgentsOnlyAndNotWithoutABound) {
  EXPECT_EQ(leased(monitor, 8).error().code, ErrorCode::kConflict);
  EXPECT_EQ(*leased(agent, UINT32_MAX), 1u);
  EXPECT_EQ(*leased(agent, 0), 1u + kMaxNumbersLeased);
  EXPECT_EQ(submitted(1), 2u + kMaxNumbersLeased);
}

TEST_F(JobNumbers, JumpAheadWhereABackupIsRestored) {
  submitted(1);
  StoreContents contents = *master.store().load();
  Rng rng(1);
  const auto nextAfter = [&] {
    const auto changes = changesOfRestore(contents, master.now().wall, rng);
    return std::get<ClusterRecord>(std::get<Put>(changes->front()).record).nextJob;
  };
  constexpr JobNumber kMillion = 1'000'000;
  EXPECT_GE(nextAfter(), 2 * kMillion + 1);
  EXPECT_EQ(nextAfter() % kMillion, 1u);
  EXPECT_NE(nextAfter(), nextAfter()) << "two restores of one backup differ";
  contents.jobs.at(0).number = kMillion;
  EXPECT_GE(nextAfter(), 3 * kMillion + 1) << "there may have been a million jobs since";
}

TEST_F(JobNumbers, AreGivenToJobsOfEarlierVersionsInTheOrderOfSubmission) {
  submitted(1);
  submitted(2);
  std::vector<Mutation> older;
  const StoreContents contents = *master.store().load();
  for (JobRecord job : contents.jobs) {
    job.number = 0;
    job.submitted = kHarnessBegins + std::chrono::seconds(job.id == jobId(2) ? 1 : 2);
    older.emplace_back(Put{job});
  }
  ClusterRecord cluster = *contents.cluster;
  cluster.nextJob = 0;
  older.emplace_back(Put{cluster});
  ASSERT_TRUE(master.store().write(older).ok());
  restart();
  EXPECT_EQ(master.job(2).record.number, 1u);
  EXPECT_EQ(master.job(1).record.number, 2u);
  restart();
  EXPECT_EQ(master.job(1).record.number, 2u);
  EXPECT_EQ(submitted(3), 3u);
}

}  // namespace tarcil::job_numbers_test
