#include <gtest/gtest.h>

#include "tests/master/master_harness.h"

namespace tarcil::jobs_many_jobs_test {

using namespace master;
using namespace std::chrono_literals;

// What concerns many jobs at once is done for two of them an event.
struct ManyJobs : testing::Test {
  static constexpr int kJobs = 5;

  static MasterOptions options() {
    MasterOptions options;
    options.jobsAtOnce = 2;
    return options;
  }

  // How many of the jobs 1 to kJobs it holds for.
  template <typename Holds>
  int count(const Holds& holds) {
    int count = 0;
    for (int job = 1; job <= kJobs; ++job) count += holds(master.job(job)) ? 1 : 0;
    return count;
  }

  MasterHarness master{options()};
  SessionId monitor =
      master.attachMonitor("m", {serverFacts("a", 1), serverFacts("b", 1), serverFacts("c", 1),
                                 serverFacts("d", 1), serverFacts("e", 1)});
};

TEST_F(ManyJobs, OfAnOverdueAgentAreHandedOverInSeveralEvents) {
  const SessionId gone = master.attachAgent("gone");
  for (int job = 1; job <= kJobs; ++job) master.commit(gone, newJob(job, spec()));
  const SessionId next = master.attachAgent("next");
  master.detach(gone);
  const auto arrived = [this] {
    return count([](const JobDetails& job) { return job.progress.owner == "next"; });
  };
  master.skip(MasterOptions{}.agentTimeout);
  for (const int after : {2, 4, 5}) {
    const size_t told = only<AssignJob>(master.fireTimer()).size();
    EXPECT_EQ(arrived(), after);
    EXPECT_EQ(told, after == 5 ? 1u : 2u);
  }
  EXPECT_EQ(master.commit(next, moreFor(kJobs)).outcome, CommitAnswer::Outcome::kOk);
}

TEST_F(ManyJobs, ThatWereNotHandedOverYetStayWithAnAgentThatIsBack) {
  const SessionId gone = master.attachAgent("gone");
  for (int job = 1; job <= kJobs; ++job) master.commit(gone, newJob(job, spec()));
  const uint64_t epoch = *master.agentAnswer().epoch;
  master.attachAgent("next");
  master.detach(gone);
  master.skip(MasterOptions{}.agentTimeout);
  master.fireTimer();
  const SessionId back = master.attachAgent("gone", epoch);
  EXPECT_GT(*master.agentAnswer().epoch, epoch);
  EXPECT_EQ(master.agentAnswer().told.jobs.size(), 3u);
  master.pass(2 * MasterOptions{}.agentTimeout);
  EXPECT_EQ(count([](const JobDetails& job) { return job.progress.owner == "next"; }), 2);
  EXPECT_EQ(master.commit(back, moreFor(kJobs)).outcome, CommitAnswer::Outcome::kOk);
}

TEST_F(ManyJobs, OfOneTimeAreReleasedInSeveralEvents) {
  const SessionId agent = master.attachAgent("x");
  JobSpec later = spec();
  later.startAfter = master.now().wall + 10min;
  for (int job = 1; job <= kJobs; ++job) master.commit(agent, newJob(job, later));
  master.skip(10min);
  for (const int after : {2, 4, 5}) {
    master.fireTimer();
    EXPECT_EQ(count([](const JobDetails& job) { return !job.progress.held; }), after);
  }
}

TEST_F(ManyJobs, OnServersOutOfReachAreLostInSeveralEvents) {
  const SessionId agent = master.attachAgent("x");
  JobSpec fragile = spec();
  fragile.restart.onLost = false;
  for (int job = 1; job <= kJobs; ++job) {
    Commit commit = newJob(job, fragile);
    commit.claims = {claim(0, static_cast<ServerId>(job - 1))};
    master.place(agent, commit);
  }
  master.detach(monitor);
  master.skip(MasterOptions{}.serverTimeout);
  // A server counts as one more.
  for (int after = 1; after <= kJobs; ++after) {
    master.fireTimer();
    EXPECT_EQ(count([](const JobDetails& job) { return job.progress.state == RunState::kLost; }), after);
  }
}

}  // namespace tarcil::jobs_many_jobs_test
