#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/master/master_harness.h"

namespace tarcil::views_test {

using namespace master;
using testing::ElementsAre;
using testing::IsEmpty;

struct Queries : testing::Test {
  MasterHarness master;
  SessionId monitor = master.attachMonitor("m", {serverFacts("a", 4)});
  SessionId agent = master.attachAgent("x");

  void submit(int number, uint8_t priority = 50, const std::string& user = "alice") {
    Commit commit = newJob(number, spec());
    commit.newJob->record.spec.priority = priority;
    commit.newJob->record.user = user;
    master.commit(agent, commit);
  }
  std::vector<JobId> listed(const Caller& caller, size_t limit) {
    std::vector<JobId> ids;
    for (const JobSummary& job : master.logic().jobs(caller, {.limit = limit}).jobs) ids.push_back(job.id);
    return ids;
  }
};

TEST_F(Queries, CountWaitingJobsAheadByPriorityThenAge) {
  submit(1);
  submit(2);
  submit(3, 90);
  Commit placed = newJob(4, spec());
  placed.newJob->record.spec.priority = 100;
  placed.claims = {claim(0, 0)};
  master.place(agent, placed);
  for (bool restarted : {false, true}) {
    if (restarted) master.restart();
    EXPECT_EQ(master.job(3).ahead, 0u);
    EXPECT_EQ(master.job(1).ahead, 1u);
    EXPECT_EQ(master.job(2).ahead, 2u);
    EXPECT_EQ(master.job(4).ahead, 0u) << "it has its slot";
  }
}

TEST_F(Queries, CountNoJobAheadThatIsAtItsConcurrency) {
  JobSpec narrow = spec(5);
  narrow.concurrency = 1;
  Commit commit = newJob(1, narrow);
  commit.claims = {claim(0, 0)};
  const AllocationId allocation = master.place(agent, commit);
  submit(2);
  EXPECT_EQ(master.job(2).ahead, 0u);
  master.ended(monitor, allocation, exitedWith(0));
  EXPECT_EQ(master.job(2).ahead, 1u);
}

TEST_F(Queries, TellWhereAJobsServerIsOutOfReach) {
  Commit commit = newJob(1, spec(2));
  commit.claims = {claim(0, 0)};
  master.place(agent, commit);
  EXPECT_EQ(master.job(1).outOfReach, "");
  master.detach(monitor);
  EXPECT_THAT(master.job(1).outOfReach, testing::HasSubstr("server a, where task 0 is, is out of reach"));
  master.attachMonitor("m", {serverFacts("a", 4)});
  EXPECT_THAT(master.job(1).outOfReach, testing::Not(testing::HasSubstr("out of reach")));
}

TEST_F(Queries, TellServersInPagesWithoutTasks) {
  master.attachMonitor("n", {serverFacts("b", 1), serverFacts("c", 1)});
  Commit commit = newJob(1, spec());
  commit.claims = {claim(0, 0)};
  master.place(agent, commit);
  const auto first = master.logic().serversWithoutTasks(0, 2);
  ASSERT_EQ(first.size(), 2u);
  EXPECT_THAT(first[0].tasks, IsEmpty());
  EXPECT_EQ(first[0].status.free.size(), 3u);
  const auto rest = master.logic().serversWithoutTasks(2, 2);
  ASSERT_EQ(rest.size(), 1u);
  EXPECT_EQ(rest[0].facts.name, "c");
  EXPECT_THAT(master.logic().serversWithoutTasks(3, 2), IsEmpty());
}

TEST_F(Queries, TellTheTasksOfAJobInPages) {
  Commit commit = newJob(1, spec(5));
  commit.claims = {claim(3, 0)};
  master.place(agent, commit);
  const JobDetails first = *master.logic().job(jobId(1), 0, 2);
  EXPECT_EQ(first.tasks.size(), 2u);
  EXPECT_EQ(first.nextTask, 2u);
  EXPECT_EQ(first.inState, (std::array<uint32_t, 7>{4, 1}));
  const JobDetails last = *master.logic().job(jobId(1), 2, 3);
  ASSERT_EQ(last.tasks.size(), 3u);
  EXPECT_EQ(last.tasks[1].index, 3u);
  EXPECT_EQ(last.tasks[1].state, RunState::kStarting);
  EXPECT_EQ(last.nextTask, 0u);
  EXPECT_THAT(master.logic().job(jobId(1), kMaxTasks, 2)->tasks, IsEmpty());
}

TEST_F(Queries, ListJobsNewestFirstToWhomTheyBelong) {
  submit(1);
  submit(2, 50, "bob");
  submit(3);
  EXPECT_THAT(listed(user("alice"), 10), ElementsAre(jobId(3), jobId(1)));
  EXPECT_THAT(listed(user("alice"), 1), ElementsAre(jobId(3)));
  EXPECT_THAT(listed(theOperator(), 10), ElementsAre(jobId(3), jobId(2), jobId(1)));
}

TEST_F(Queries, FindJobsByTheStartOfTheirId) {
  submit(0x1234);
  submit(0x1235);
  submit(0x1299, 50, "bob");
  const auto find = [this](const std::string& prefix, const std::string& who) {
    return master.logic().jobsStartingWith(prefix, user(who));
  };
  EXPECT_THAT(find("1234", "alice"), ElementsAre(jobId(0x1234)));
  EXPECT_EQ(find("12", "alice").size(), 2u);
  EXPECT_THAT(find("12", "bob"), ElementsAre(jobId(0x1299)));
  EXPECT_THAT(find(toString(jobId(0x1235)), "alice"), ElementsAre(jobId(0x1235)));
  for (const std::string wrong : {"13", "xyz", "12 ", "1234000000000000000000000000000000"}) {
    EXPECT_THAT(find(wrong, "alice"), IsEmpty()) << wrong;
  }
}

TEST_F(Queries, SummariseTasksByState) {
  Commit commit = newJob(1, spec(4));
  commit.claims = {claim(0, 0), claim(1, 0), claim(2, 0)};
  const AllocationId allocation = master.place(agent, commit);
  master.ended(monitor, allocation, exitedWith(0));
  master.ended(monitor, allocation + 1, exitedWith(1));
  const JobSummary job = master.logic().jobs(theOperator(), {}).jobs.at(0);
  EXPECT_EQ(job.tasks, 4u);
  EXPECT_EQ(job.queued, 1u);
  EXPECT_EQ(job.active, 1u);
  EXPECT_EQ(job.succeeded, 1u);
  EXPECT_EQ(job.failed, 1u);
}

TEST_F(Queries, ShowWhatTheTasksOfAServerFeel) {
  constexpr auto kLlc = static_cast<size_t>(Resource::kLlc);
  JobSpec loud = spec();
  loud.profile = causing(Resource::kLlc, 60);
  JobSpec tender = spec();
  tender.profile = causing(Resource::kLlc, 5);
  tender.profile.tolerated[kLlc] = 10;
  for (int number : {1, 2}) {
    Commit commit = newJob(number, number == 1 ? loud : tender);
    commit.claims = {claim(0, 0)};
    commit.judging.protectNeighbours = false;
    master.place(agent, commit);
  }
  const ServerView view = *master.logic().server("a");
  EXPECT_EQ(view.contention[kLlc], 65);
  ASSERT_EQ(view.tasks.size(), 2u);
  EXPECT_THAT(view.tasks[0].over, IsEmpty());
  EXPECT_EQ(view.tasks[1].job, jobId(2));
  EXPECT_THAT(view.tasks[1].over, ElementsAre(Resource::kLlc));
  EXPECT_EQ(view.tasks[1].profile.tolerated[kLlc], 10);
}

TEST_F(Queries, GiveASnapshotOfEveryServer) {
  master.attachMonitor("n", {serverFacts("b", 2)});
  const std::vector<ServerUpdate> snapshot = master.logic().snapshot();
  ASSERT_EQ(snapshot.size(), 2u);
  EXPECT_EQ(snapshot[1].id, 1u);
  EXPECT_EQ(snapshot[1].facts->name, "b");
  EXPECT_EQ(snapshot[1].status, master.status("b"));
  EXPECT_EQ(master.logic().servers().size(), 2u);
}

TEST_F(Queries, KnowNothingOfWhatIsNotThere) {
  EXPECT_FALSE(master.logic().server("nowhere"));
  EXPECT_FALSE(master.logic().job(jobId(1)));
}

}  // namespace tarcil::views_test
