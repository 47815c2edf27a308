// Pages of jobs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/master/master_harness.h"

namespace tarcil::job_list_test {

using namespace master;
using testing::ElementsAre;
using testing::IsEmpty;

struct JobList : testing::Test {
  MasterHarness master;
  SessionId monitor = master.attachMonitor("m", {serverFacts("a", 4)});
  SessionId agent = master.attachAgent("x");

  void submit(int number, const std::string& user = "alice", const std::string& name = "job") {
    Commit commit = newJob(number, spec());
    commit.newJob->record.user = user;
    commit.newJob->record.spec.name = name;
    ASSERT_EQ(master.commit(agent, commit).outcome, CommitAnswer::Outcome::kOk);
  }
  JobPage page(const JobQuery& query, const Caller& caller = theOperator()) {
    return master.logic().jobs(caller, query);
  }
  static std::vector<JobId> idsOf(const JobPage& page) {
    std::vector<JobId> ids;
    for (const JobSummary& job : page.jobs) ids.push_back(job.id);
    return ids;
  }
  // Everything, page by page; how many pages that took.
  size_t walk(JobQuery query, std::vector<JobId>& ids) {
    for (size_t pages = 1;; ++pages) {
      const JobPage next = page(query);
      for (const JobId& id : idsOf(next)) ids.push_back(id);
      if (!next.next) return pages;
      query.after = next.next;
    }
  }
};

TEST_F(JobList, GoesOnWhereThePageBeforeEnded) {
  for (int i = 1; i <= 5; ++i) submit(i);
  std::vector<JobId> ids;
  EXPECT_EQ(walk({.limit = 2}, ids), 3u);
  EXPECT_THAT(ids, ElementsAre(jobId(5), jobId(4), jobId(3), jobId(2), jobId(1)));
  EXPECT_FALSE(page({.limit = 5}).next) << "there is nothing behind the last";
}

TEST_F(JobList, GoesOnThoughTheJobThereIsGoneAndOthersCameIn) {
  for (int i = 1; i <= 3; ++i) submit(i);
  const JobPage first = page({.limit = 1});
  submit(4);
  JobQuery query;
  query.after = first.next;
  EXPECT_THAT(idsOf(page(query)), ElementsAre(jobId(2), jobId(1)));
  query.after = JobPosition{kHarnessBegins + std::chrono::milliseconds(2500), jobId(77)};
  EXPECT_THAT(idsOf(page(query)), ElementsAre(jobId(2), jobId(1)));
}

TEST_F(JobList, FiltersByUserNameStateAndAge) {
  submit(1, "alice", "train-1");
  submit(2, "bob", "train-2");
  submit(3, "bob", "serve");
  master.cancel(3, user("bob"));
  EXPECT_THAT(idsOf(page({.user = "bob"})), ElementsAre(jobId(3), jobId(2)));
  EXPECT_THAT(idsOf(page({.name = "train"})), ElementsAre(jobId(2), jobId(1)));
  EXPECT_THAT(idsOf(page({.states = {RunState::kCancelled, RunState::kDone}})), ElementsAre(jobId(3)));
  EXPECT_THAT(idsOf(page({.since = kHarnessBegins + std::chrono::seconds(2)})),
              ElementsAre(jobId(3), jobId(2)));
  EXPECT_THAT(idsOf(page({.user = "bob", .name = "train"})), ElementsAre(jobId(2)));
}

TEST_F(JobList, ShowsNobodyElsesJobsWhateverIsAskedFor) {
  submit(1, "alice");
  submit(2, "bob");
  EXPECT_THAT(idsOf(page({}, user("alice"))), ElementsAre(jobId(1)));
  EXPECT_THAT(idsOf(page({.user = "bob"}, user("alice"))), IsEmpty());
  EXPECT_THAT(idsOf(page({.user = "alice"}, user("alice"))), ElementsAre(jobId(1)));
}

TEST_F(JobList, KnowsTheJobsOfAUserAfterARestartAndForgetsErasedOnes) {
  submit(1, "alice");
  submit(2, "bob");
  master.restart();
  EXPECT_THAT(idsOf(page({.user = "bob"})), ElementsAre(jobId(2)));
}

TEST_F(JobList, AnswersAndLooksAtABoundedNumber) {
  for (int i = 1; i <= 5'000; ++i) submit(i, i == 1 ? "bob" : "alice", i == 1 ? "rare" : "job");
  EXPECT_EQ(page({.limit = 100'000}).jobs.size(), kMaxJobsAPage);
  const JobPage first = page({.name = "rare"});
  EXPECT_THAT(first.jobs, IsEmpty());
  ASSERT_TRUE(first.next) << "it has looked at enough";
  std::vector<JobId> ids;
  EXPECT_EQ(walk({.name = "rare"}, ids), 3u);
  EXPECT_THAT(ids, ElementsAre(jobId(1)));
  EXPECT_THAT(idsOf(page({}, user("bob"))), ElementsAre(jobId(1)))
      << "nobody looks through the jobs of others";
}

}  // namespace tarcil::job_list_test
