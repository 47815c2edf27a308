// Jobs that are held, released, and given another priority.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/master/master_harness.h"

namespace tarcil::job_steering_test {

using namespace master;
using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

struct JobSteering : testing::Test {
  MasterHarness master;
  SessionId monitor = master.attachMonitor("m", {serverFacts("a", 2)});
  SessionId agent = master.attachAgent("x");

  std::vector<Action> steer(int number, JobChange change, uint8_t priority = 0,
                            const Caller& caller = user("alice")) {
    auto actions = master.handle(JobSteered{1, caller, jobId(number), change, priority});
    const auto answers = only<Answer>(actions);
    status = answers.empty() ? Status(Error{ErrorCode::kInternal, "no answer"}) : answers.front().status;
    return actions;
  }
  static JobSpec of(uint8_t priority, uint32_t tasks = 1) {
    JobSpec job = spec(tasks);
    job.priority = priority;
    job.preemptible = true;
    return job;
  }
  AllocationId run(int number, const JobSpec& job, ServerId server = 0) {
    Commit commit = newJob(number, job);
    commit.claims = {claim(0, server)};
    const AllocationId allocation = master.place(agent, commit);
    master.started(monitor, allocation);
    return allocation;
  }
  void queue(int number, const JobSpec& job) { master.commit(agent, newJob(number, job)); }
  std::vector<JobId> order() {
    std::vector<JobId> ids;
    for (const WaitingJob& job : master.logic().waitingJobs(theOperator(), 100, master.now().wall)) {
      ids.push_back(job.summary.id);
    }
    return ids;
  }

  Status status;
};

TEST_F(JobSteering, NoTaskOfAHeldJobStartsUntilItIsReleased) {
  queue(1, of(50, 2));
  steer(1, JobChange::kHold);
  ASSERT_TRUE(status.ok());
  EXPECT_TRUE(master.job(1).progress.held);
  EXPECT_EQ(master.job(1).progress.reason, "held by alice");
  EXPECT_THAT(order(), IsEmpty());
  Commit late = moreFor(1);
  late.claims = {claim(0, 0)};
  late.waitReason = "no free unit";
  EXPECT_EQ(master.commit(agent, late).grants.front().verdict, Verdict::kTaskNotWaiting);
  EXPECT_EQ(master.freeUnits("a"), 2u);
  EXPECT_EQ(master.job(1).progress.reason, "held by alice");

  const auto news = only<AssignJob>(steer(1, JobChange::kRelease));
  ASSERT_THAT(news, SizeIs(1));
  EXPECT_THAT(news.front().assignment.waiting, ElementsAre(TaskRange{0, 1}))
      << "the owner may have given them up";
  EXPECT_THAT(order(), ElementsAre(jobId(1)));
  EXPECT_EQ(master.job(1).progress.reason, "");
  EXPECT_EQ(master.commit(agent, late).grants.front().verdict, Verdict::kGranted);
}

// The answer that is repeated says that its tasks do not wait: the agent lets go of them.
TEST_F(JobSteering, AJobIsToldAnewAfterARepeatedAnswerFromTheTimeItWasHeld) {
  queue(1, of(50));
  steer(1, JobChange::kHold);
  Commit commit = moreFor(1);
  commit.sequence = 2;
  commit.claims = {claim(0, 0)};
  ASSERT_EQ(master.resend(agent, commit).grants.at(0).verdict, Verdict::kTaskNotWaiting);
  steer(1, JobChange::kRelease);
  master.resend(agent, commit);
  const auto told = only<AssignJob>(master.lastActions());
  ASSERT_THAT(told, SizeIs(1));
  EXPECT_TRUE(told[0].assignment.complete);
  EXPECT_THAT(told[0].assignment.waiting, ElementsAre(TaskRange{0, 0}));
}

TEST_F(JobSteering, TasksThatRunGoOnAndAHoldOutlivesTheMaster) {
  JobSpec two = of(50, 2);
  const AllocationId first = run(1, two);
  EXPECT_THAT(only<StopTask>(steer(1, JobChange::kHold)), IsEmpty());
  master.restart();
  monitor = master.attachMonitor("m", {serverFacts("a", 2)}, {{first, "a"}});
  agent = master.attachAgent("x");
  EXPECT_TRUE(master.job(1).progress.held);
  master.ended(monitor, first, exitedWith(0));
  EXPECT_EQ(master.stateOf(1), RunState::kQueued);
  EXPECT_THAT(order(), IsEmpty());
}

TEST_F(JobSteering, AJobCanBeHeldFromTheStart) {
  JobSpec job = of(50);
  job.hold = true;
  Commit commit = newJob(1, job);
  commit.claims = {claim(0, 0)};
  EXPECT_EQ(master.commit(agent, commit).grants.front().verdict, Verdict::kTaskNotWaiting);
  EXPECT_THAT(order(), IsEmpty());
  steer(1, JobChange::kRelease);
  EXPECT_THAT(order(), ElementsAre(jobId(1)));
}

// A job that is to start so much later.
JobSpec startsIn(Duration from, const MasterHarness& master) {
  JobSpec job = JobSteering::of(50);
  job.startAfter = master.now().wall + from;
  return job;
}

TEST_F(JobSteering, AJobStartsWhenItsTimeHasCome) {
  Commit commit = newJob(1, startsIn(10min, master));
  commit.claims = {claim(0, 0)};
  EXPECT_EQ(master.commit(agent, commit).grants.front().verdict, Verdict::kTaskNotWaiting);
  EXPECT_TRUE(master.job(1).progress.held);
  EXPECT_THAT(master.job(1).progress.reason, testing::StartsWith("starts after "));
  master.pass(9min);
  EXPECT_THAT(order(), IsEmpty());
  master.pass(1min);
  EXPECT_THAT(order(), ElementsAre(jobId(1)));
  EXPECT_EQ(master.job(1).progress.reason, "");
}

TEST_F(JobSteering, AJobWhoseTimeHasComeBeforeItIsSubmittedStartsAtOnce) {
  queue(1, startsIn(-1min, master));
  EXPECT_THAT(order(), ElementsAre(jobId(1)));
}

TEST_F(JobSteering, AJobsTimeOutlivesTheMaster) {
  queue(1, startsIn(10min, master));
  master.restart();
  agent = master.attachAgent("x");
  EXPECT_THAT(order(), IsEmpty());
  master.pass(10min);
  EXPECT_THAT(order(), ElementsAre(jobId(1)));
}

TEST_F(JobSteering, AJobsTimeIsReadFromTheWallClockAsItIsThen) {
  const WallTime begin = master.now().wall;
  queue(1, startsIn(10min, master));
  master.setWallClock(begin - 1h);
  master.pass(10min);
  EXPECT_THAT(order(), IsEmpty()) << "it is not that late again";
  master.pass(1h);
  EXPECT_THAT(order(), ElementsAre(jobId(1)));
  master.setWallClock(begin);
  master.pass(1min);
  EXPECT_THAT(order(), ElementsAre(jobId(1))) << "what has begun to wait for slots goes on";

  queue(2, startsIn(10min, master));
  master.setWallClock(begin + 10min);
  queue(3, of(50));  // whatever happens next
  master.pass(0s);
  EXPECT_THAT(order(), testing::Contains(jobId(2)));
}

TEST_F(JobSteering, ReleasedAJobStartsBeforeItsTimeButAHoldGoesFirst) {
  queue(1, startsIn(10min, master));
  steer(1, JobChange::kHold);
  master.pass(20min);
  EXPECT_THAT(order(), IsEmpty()) << "held by its user, whatever the time";
  steer(1, JobChange::kRelease);
  EXPECT_THAT(order(), ElementsAre(jobId(1)));

  queue(2, startsIn(10min, master));
  steer(2, JobChange::kHold);
  steer(2, JobChange::kRelease);
  EXPECT_THAT(master.job(2).progress.reason, testing::StartsWith("starts after "));
  steer(2, JobChange::kRelease);
  EXPECT_THAT(order(), ElementsAre(jobId(1), jobId(2)));
}

TEST_F(JobSteering, AJobThatWaitsForItsTimeCanBeCancelled) {
  queue(1, startsIn(10min, master));
  master.cancel(1, user("alice"));
  EXPECT_EQ(master.stateOf(1), RunState::kCancelled);
  master.pass(20min);
  EXPECT_THAT(order(), IsEmpty());
}

TEST_F(JobSteering, AHeldJobCanBeCancelled) {
  queue(1, of(50));
  steer(1, JobChange::kHold);
  master.cancel(1, user("alice"));
  EXPECT_EQ(master.stateOf(1), RunState::kCancelled);
}

TEST_F(JobSteering, TheQueueIsOrderedByTheNewPriority) {
  run(9, of(50)), run(10, of(50));
  queue(1, of(50));
  queue(2, of(50));
  ASSERT_THAT(order(), ElementsAre(jobId(1), jobId(2)));
  const auto news = only<AssignJob>(steer(2, JobChange::kPriority, 60));
  ASSERT_TRUE(status.ok());
  EXPECT_THAT(order(), ElementsAre(jobId(2), jobId(1)));
  ASSERT_THAT(news, SizeIs(1));
  EXPECT_EQ(news.front().assignment.job.spec.priority, 60);
  master.restart();
  EXPECT_THAT(order(), ElementsAre(jobId(2), jobId(1)));
  EXPECT_EQ(master.job(2).record.spec.priority, 60);
}

TEST_F(JobSteering, WhoIsEndedForWhomGoesByTheNewPriority) {
  const AllocationId low = run(1, of(20)), lower = run(2, of(10));
  steer(1, JobChange::kPriority, 5);
  JobSpec high = of(50);
  queue(3, high);
  const auto stops = only<StopTask>(master.handle(OffersDeclined{agent, {jobId(3)}}));
  ASSERT_THAT(stops, SizeIs(1));
  EXPECT_EQ(stops.front().allocation, low);
  master.ended(monitor, low, exitedWith(0));
  master.ended(monitor, lower, exitedWith(0));
}

TEST_F(JobSteering, RefusesWhatItCannotDo) {
  steer(7, JobChange::kHold);
  EXPECT_EQ(status.error().code, ErrorCode::kNotFound);
  queue(1, of(50));
  steer(1, JobChange::kHold, 0, user("bob"));
  EXPECT_EQ(status.error().code, ErrorCode::kNotFound) << "another's job looks as if it were not there";
  EXPECT_FALSE(master.job(1).progress.held);
  steer(1, JobChange::kPriority, 101);
  EXPECT_EQ(status.error().code, ErrorCode::kInvalid);
  steer(1, JobChange::kHold, 0, theOperator());
  EXPECT_TRUE(master.job(1).progress.held);
  const AllocationId task = run(2, of(50));
  master.ended(monitor, task, exitedWith(0));
  steer(2, JobChange::kHold);
  EXPECT_TRUE(status.ok());
  EXPECT_FALSE(master.job(2).progress.held) << "it is over";
}

}  // namespace tarcil::job_steering_test
