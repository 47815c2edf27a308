// Jobs that start after others, and jobs that are run again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/master/master_harness.h"

namespace tarcil::dependencies_test {

using namespace master;
using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

// Without a name: reasons call it by its number.
JobSpec plain(uint32_t tasks = 1) {
  JobSpec job = spec(tasks);
  job.name.clear();
  return job;
}

JobSpec after(const std::vector<int>& ok, After::Unmet unmet = After::Unmet::kCancel) {
  JobSpec job = plain();
  for (const int number : ok) job.after.ok.push_back(jobId(number));
  job.after.unmet = unmet;
  return job;
}

JobSpec afterEach(int other, uint32_t tasks, After::Unmet unmet = After::Unmet::kCancel) {
  JobSpec job = plain(tasks);
  job.after.each = jobId(other);
  job.after.unmet = unmet;
  return job;
}

struct Dependencies : testing::Test {
  MasterHarness master;
  SessionId monitor = master.attachMonitor("m", {serverFacts("a", 8)});
  SessionId agent = master.attachAgent("x");

  CommitAnswer queue(int number, const JobSpec& job) { return master.commit(agent, newJob(number, job)); }
  // Tries to place the task.
  Verdict tryTask(int number, TaskIndex task = 0) {
    Commit commit = moreFor(number);
    commit.claims = {claim(task, 0)};
    commit.claims[0].attempt = master.task(number, task).attempt;
    const CommitAnswer answer = master.commit(agent, commit);
    if (answer.grants.empty()) return Verdict::kTaskNotWaiting;
    allocation = answer.grants[0].allocation;
    return answer.grants[0].verdict;
  }
  // The task runs and ends.
  std::vector<Action> end(int number, int code, TaskIndex task = 0) {
    EXPECT_EQ(tryTask(number, task), Verdict::kGranted);
    master.started(monitor, allocation);
    return master.ended(monitor, allocation, exitedWith(code));
  }
  Status steer(int number, JobChange change, const std::string& by = "alice") {
    lastActions = master.handle(JobSteered{1, user(by), jobId(number), change, 0});
    const auto answers = only<Answer>(lastActions);
    return answers.empty() ? Status(Error{ErrorCode::kInternal, "no answer"}) : answers.front().status;
  }
  void restart() {
    master.restart();
    monitor = master.attachMonitor("m", {serverFacts("a", 8)});
    agent = master.attachAgent("x");
  }
  std::string reason(int number) { return master.job(number).progress.reason; }

  AllocationId allocation = 0;
  std::vector<Action> lastActions;
};

TEST_F(Dependencies, AJobStartsOnceAllOthersAreDone) {
  queue(1, plain());
  queue(2, plain());
  queue(3, after({1, 2}));
  EXPECT_EQ(reason(3), "starts after job 1 and 1 more");
  EXPECT_EQ(tryTask(3), Verdict::kTaskNotWaiting);
  end(1, 0);
  EXPECT_EQ(reason(3), "starts after job 2");
  const auto told = only<AssignJob>(end(2, 0));
  ASSERT_FALSE(told.empty());
  EXPECT_EQ(told.back().assignment.job.id, jobId(3));
  EXPECT_THAT(told.back().assignment.waiting, ElementsAre(TaskRange{0, 0}));
  EXPECT_EQ(reason(3), "");
  EXPECT_EQ(tryTask(3), Verdict::kGranted);
}

TEST_F(Dependencies, OfJobsThatEndedBeforeCountAtOnce) {
  queue(1, plain());
  end(1, 0);
  queue(2, after({1}));
  EXPECT_EQ(tryTask(2), Verdict::kGranted);
}

TEST_F(Dependencies, WhatWaitsForAJobThatFailsIsCancelledAndWhatWaitsForThatToo) {
  queue(1, plain());
  queue(2, after({1}));
  queue(3, after({2}));
  end(1, 7);
  EXPECT_EQ(master.stateOf(2), RunState::kCancelled);
  EXPECT_EQ(reason(2), "job 1, which it was to start after, failed");
  master.fireTimer();
  EXPECT_EQ(master.stateOf(3), RunState::kCancelled);
  EXPECT_EQ(reason(3), "job 2, which it was to start after, was cancelled");
}

TEST_F(Dependencies, WhatWaitsForAJobThatFailsCanBeHeldUntilThatIsRunAgain) {
  queue(1, plain());
  queue(2, after({1}, After::Unmet::kHold));
  end(1, 7);
  EXPECT_EQ(master.stateOf(2), RunState::kQueued);
  EXPECT_EQ(
      reason(2),
      "waits for job 1, which failed: run that again (tarcil job rerun 1), or release or cancel this one");
  restart();
  EXPECT_EQ(tryTask(2), Verdict::kTaskNotWaiting);
  ASSERT_TRUE(steer(1, JobChange::kRerun).ok());
  EXPECT_EQ(reason(2), "starts after job 1");
  EXPECT_EQ(master.task(1, 0).attempt, 1u);
  EXPECT_EQ(master.task(1, 0).previous, "exited with code 7");
  end(1, 0);
  EXPECT_EQ(tryTask(2), Verdict::kGranted);
}

TEST_F(Dependencies, AnyAndFailed) {
  queue(1, plain());
  JobSpec any = plain(), failed = plain();
  any.after.any = failed.after.failed = {jobId(1)};
  queue(2, any);
  queue(3, failed);
  end(1, 7);
  EXPECT_EQ(tryTask(2), Verdict::kGranted);
  EXPECT_EQ(tryTask(3), Verdict::kGranted);

  queue(4, plain());
  failed.after.failed = {jobId(4)};
  queue(5, failed);
  end(4, 0);
  EXPECT_EQ(master.stateOf(5), RunState::kCancelled);
  EXPECT_EQ(reason(5), "job 4, which it was to start after, is done");
}

TEST_F(Dependencies, TaskByTask) {
  queue(1, plain(3));
  queue(2, afterEach(1, 3));
  EXPECT_EQ(tryTask(2, 1), Verdict::kTaskNotWaiting);
  const auto told = only<AssignJob>(end(1, 0, 1));
  ASSERT_FALSE(told.empty());
  EXPECT_EQ(told.back().assignment.job.id, jobId(2));
  ASSERT_THAT(told.back().assignment.tasks, SizeIs(1));
  EXPECT_EQ(told.back().assignment.tasks[0].index, 1u);
  EXPECT_EQ(tryTask(2, 0), Verdict::kTaskNotWaiting);
  EXPECT_EQ(tryTask(2, 1), Verdict::kGranted);
  const AllocationId second = allocation;
  end(1, 7, 0);
  EXPECT_EQ(master.task(2, 0).state, RunState::kCancelled);
  EXPECT_EQ(master.task(2, 0).end.problem, "task 0 of job 1 failed");
  end(1, 0, 2);
  end(2, 0, 2);
  master.started(monitor, second);
  master.ended(monitor, second, exitedWith(0));
  EXPECT_EQ(master.stateOf(2), RunState::kCancelled);
  EXPECT_THAT(reason(2),
              StartsWith("1 of 3 tasks were cancelled; first: task 0 was stopped: task 0 of job 1"));
}

TEST_F(Dependencies, TaskByTaskOutlivesTheMaster) {
  queue(1, plain(3));
  queue(2, afterEach(1, 3, After::Unmet::kHold));
  end(1, 0, 1);
  end(1, 7, 2);
  restart();
  EXPECT_EQ(tryTask(2, 0), Verdict::kTaskNotWaiting);
  EXPECT_EQ(tryTask(2, 2), Verdict::kTaskNotWaiting);
  EXPECT_EQ(tryTask(2, 1), Verdict::kGranted);
  EXPECT_THAT(reason(2), "");
}

TEST_F(Dependencies, TasksThatWaitForOthersAreNotInTheQueue) {
  queue(1, plain(2));
  end(1, 0, 0);
  queue(2, afterEach(1, 2));
  end(2, 0, 0);
  EXPECT_THAT(master.logic().waitingJobs(theOperator(), 100, master.now().wall), SizeIs(1)) << "only job 1";
  EXPECT_EQ(reason(2), "its tasks start after those of job 1");
}

TEST_F(Dependencies, ManyTasksAreLookedAtInTurns) {
  constexpr uint32_t kTasks = 3'000;
  queue(1, plain(kTasks));
  queue(2, afterEach(1, kTasks));
  master.cancel(1, user("alice"));
  for (int turn = 0; turn < 10 && master.stateOf(2) == RunState::kQueued; ++turn) master.fireTimer();
  EXPECT_EQ(master.stateOf(2), RunState::kCancelled);
}

TEST_F(Dependencies, OnlyOnJobsOfTheSameUserThatAreThere) {
  const CommitAnswer unknown = queue(2, after({1}));
  EXPECT_EQ(unknown.outcome, CommitAnswer::Outcome::kRefused);
  EXPECT_THAT(unknown.problem, HasSubstr("after.ok: alice has no job " + toString(jobId(1))));
  EXPECT_THAT(queue(2, after({2})).problem, HasSubstr("a job cannot start after itself"));
  Commit others = newJob(1, plain());
  others.newJob->record.user = "bob";
  master.commit(agent, others);
  EXPECT_THAT(queue(2, after({1})).problem, HasSubstr("alice has no job"));
  queue(3, plain(2));
  EXPECT_THAT(queue(4, afterEach(3, 5)).problem, HasSubstr("that job has 2 tasks, and this one 5"));
}

TEST_F(Dependencies, WhatWouldBecomeOfAJobIsKnownBeforehand) {
  for (const int number : {1, 2, 3}) queue(number, plain());
  end(1, 0);
  end(2, 7);
  const auto outlook = [this](const JobSpec& job, const std::string& user = "alice") {
    return master.logic().outlookOf(Caller{.user = user, .role = Role::kSubmit, .runAs = {}}, job);
  };
  EXPECT_EQ(*outlook(after({1})), AfterOutlook{});
  EXPECT_EQ(*outlook(after({1, 3})), (AfterOutlook{false, "starts after job 3"}));
  EXPECT_EQ(*outlook(after({3, 2})), (AfterOutlook{true, "job 2, which it was to start after, failed"}));
  const AfterOutlook held = *outlook(after({2}, After::Unmet::kHold));
  EXPECT_FALSE(held.isCancelled);
  EXPECT_THAT(held.reason, StartsWith("waits for job 2, which failed"));
  EXPECT_EQ(*outlook(afterEach(1, 1)), AfterOutlook{});
  EXPECT_EQ(*outlook(afterEach(2, 1)),
            (AfterOutlook{false, "its tasks start one by one after those of job 2, which failed"}));
  EXPECT_THAT(outlook(after({9})).error().message, HasSubstr("has no job"));
  EXPECT_THAT(outlook(after({1}), "bob").error().message, HasSubstr("bob has no job"));
}

TEST_F(Dependencies, AHoldGoesFirstAndAReleaseThenStartsItAllTheSame) {
  queue(1, plain());
  JobSpec held = after({1});
  held.hold = true;
  queue(2, held);
  EXPECT_EQ(reason(2), "held by alice");
  ASSERT_TRUE(steer(2, JobChange::kRelease).ok());
  EXPECT_EQ(reason(2), "starts after job 1");
  ASSERT_TRUE(steer(2, JobChange::kRelease).ok());
  EXPECT_EQ(tryTask(2), Verdict::kGranted);
  restart();
  EXPECT_THAT(master.job(2).record.spec.after.ok, IsEmpty()) << "it waits for nobody any more";
}

TEST_F(Dependencies, AHoldStaysWhenTheOthersAreDone) {
  queue(1, plain());
  queue(2, after({1}));
  ASSERT_TRUE(steer(2, JobChange::kHold).ok());
  end(1, 0);
  EXPECT_EQ(reason(2), "held by alice");
  ASSERT_TRUE(steer(2, JobChange::kRelease).ok());
  EXPECT_EQ(tryTask(2), Verdict::kGranted);
}

TEST_F(Dependencies, ATimeCountsBesides) {
  queue(1, plain());
  JobSpec later = after({1});
  later.startAfter = master.now().wall + 10min;
  queue(2, later);
  end(1, 0);
  EXPECT_THAT(reason(2), StartsWith("starts after 20"));
  master.pass(10min);
  EXPECT_EQ(tryTask(2), Verdict::kGranted);
}

TEST_F(Dependencies, WhatWaitsInVainForAJobThatIsForgottenIsCancelled) {
  MasterOptions options;
  options.keepFinishedJobs = 1;
  MasterHarness small(options);
  const SessionId m = small.attachMonitor("m", {serverFacts("a", 8)});
  const SessionId x = small.attachAgent("x");
  small.commit(x, newJob(1, plain()));
  small.commit(x, newJob(2, after({1}, After::Unmet::kHold)));
  small.commit(x, newJob(3, plain()));
  small.cancel(1, user("alice"));
  EXPECT_EQ(small.stateOf(2), RunState::kQueued);
  small.cancel(3, user("alice"));
  EXPECT_FALSE(small.logic().job(jobId(1)));
  EXPECT_EQ(small.stateOf(2), RunState::kCancelled);
  EXPECT_EQ(small.job(2).progress.reason, "job 1, which it waited for, was cancelled and is forgotten");
  (void)m;
}

TEST_F(Dependencies, TasksThatWaitInVainForThoseOfAJobThatIsForgottenAreCancelled) {
  MasterOptions options;
  options.keepFinishedJobs = 1;
  MasterHarness small(options);
  small.attachMonitor("m", {serverFacts("a", 8)});
  const SessionId x = small.attachAgent("x");
  small.commit(x, newJob(1, plain(2)));
  small.commit(x, newJob(2, afterEach(1, 2, After::Unmet::kHold)));
  small.commit(x, newJob(3, afterEach(1, 2, After::Unmet::kHold)));
  small.commit(x, newJob(4, plain()));
  small.cancel(1, user("alice"));
  small.cancel(4, user("alice"));
  for (int i = 0; i < 10; ++i) small.fireTimer();
  EXPECT_FALSE(small.logic().job(jobId(1)));
  EXPECT_EQ(small.stateOf(3), RunState::kCancelled) << "and 2, which ended before it, is forgotten too";
  EXPECT_EQ(small.task(3, 1).end.problem, "job 1, which it waited for, was cancelled and is forgotten");
}

TEST_F(Dependencies, ABoundedNumberOfJobsStartsTaskByTaskAfterOne) {
  queue(1, plain(2));
  for (int number = 2; number <= 101; ++number)
    ASSERT_EQ(queue(number, afterEach(1, 2)).outcome, CommitAnswer::Outcome::kOk) << number;
  EXPECT_THAT(queue(102, afterEach(1, 2)).problem, HasSubstr("100 jobs start task by task after that job"));
}

TEST_F(Dependencies, ManyThatWaitForOneJobAreLookedAtInTurns) {
  constexpr int kJobs = 60;
  JobSpec last = plain();
  for (int number = 1; number <= 300; ++number) {
    queue(number, plain());
    last.after.any.push_back(jobId(number));
  }
  for (int number = 1'001; number <= 1'000 + kJobs; ++number) queue(number, last);
  for (int number = 1; number <= 300; ++number) master.cancel(number, user("alice"));
  for (int turn = 0; turn < 10'000 && master.job(1'000 + kJobs).progress.held; ++turn) master.fireTimer();
  for (int number = 1'001; number <= 1'000 + kJobs; ++number) EXPECT_FALSE(master.job(number).progress.held);
}

// --- Running again

TEST_F(Dependencies, AJobThatFailedRunsAgainButForTheTasksThatAreDone) {
  queue(1, plain(3));
  end(1, 0, 0);
  end(1, 7, 1);
  end(1, 0, 2);
  ASSERT_EQ(master.stateOf(1), RunState::kFailed);
  ASSERT_TRUE(steer(1, JobChange::kRerun).ok());
  EXPECT_EQ(master.stateOf(1), RunState::kQueued);
  EXPECT_EQ(master.job(1).progress.finished, kNever);
  EXPECT_EQ(master.task(1, 0).state, RunState::kDone);
  const auto told = only<AssignJob>(lastActions);
  ASSERT_THAT(told, SizeIs(1));
  EXPECT_TRUE(told[0].assignment.complete);
  ASSERT_THAT(told[0].assignment.tasks, SizeIs(1));
  EXPECT_EQ(told[0].assignment.tasks[0].index, 1u);
  end(1, 0, 1);
  EXPECT_EQ(master.stateOf(1), RunState::kDone);
}

TEST_F(Dependencies, AJobThatWasCancelledRunsAgainAlsoAfterARestart) {
  queue(1, plain(2));
  master.cancel(1, user("alice"));
  restart();
  ASSERT_TRUE(steer(1, JobChange::kRerun).ok());
  restart();
  EXPECT_FALSE(master.job(1).progress.cancelRequested);
  end(1, 0, 0);
  end(1, 0, 1);
  EXPECT_EQ(master.stateOf(1), RunState::kDone);
}

TEST_F(Dependencies, WhatHasStartedDoesNotWaitForAJobThatIsRunAgain) {
  JobSpec onFailure = plain();
  onFailure.after.failed = {jobId(1)};
  queue(1, plain());
  queue(2, onFailure);
  end(1, 7);
  ASSERT_EQ(tryTask(2), Verdict::kGranted);
  const AllocationId running = allocation;
  master.started(monitor, running);
  ASSERT_TRUE(steer(1, JobChange::kRerun).ok());
  EXPECT_FALSE(master.job(2).progress.held);
  ASSERT_TRUE(steer(2, JobChange::kHold).ok());
  ASSERT_TRUE(steer(2, JobChange::kRelease).ok());
  EXPECT_FALSE(master.job(2).progress.held);
  Commit other = moreFor(1);
  other.claims = {claim(0, 0)};
  other.claims[0].attempt = master.task(1, 0).attempt;
  const AllocationId again = master.place(agent, other);
  master.started(monitor, again);
  master.ended(monitor, again, exitedWith(0));
  master.fireTimer();
  EXPECT_EQ(master.stateOf(1), RunState::kDone);
  EXPECT_EQ(master.stateOf(2), RunState::kRunning);
  EXPECT_FALSE(master.job(2).progress.cancelRequested);
}

TEST_F(Dependencies, AJobThatIsRunAgainWaitsAnewForOthersThatAreRunAgain) {
  JobSpec onFailure = plain();
  onFailure.after.failed = {jobId(1)};
  queue(1, plain());
  queue(2, onFailure);
  end(1, 7);
  end(2, 7);
  ASSERT_TRUE(steer(1, JobChange::kRerun).ok());
  ASSERT_TRUE(steer(2, JobChange::kRerun).ok());
  EXPECT_EQ(reason(2), "starts after job 1");
  EXPECT_EQ(tryTask(2), Verdict::kTaskNotWaiting);
  end(1, 7);
  EXPECT_EQ(tryTask(2), Verdict::kGranted);
}

TEST_F(Dependencies, AJobThatIsRunAgainIsHeldAsItsFileSays) {
  JobSpec later = plain(), held = plain();
  later.startAfter = master.now().wall + 1h;
  held.hold = true;
  queue(1, later);
  queue(2, held);
  for (const int number : {1, 2}) {
    master.cancel(number, user("alice"));
    ASSERT_TRUE(steer(number, JobChange::kRerun).ok());
    EXPECT_EQ(tryTask(number), Verdict::kTaskNotWaiting);
  }
  EXPECT_EQ(master.job(1).progress.heldUntil, later.startAfter);
  EXPECT_EQ(reason(2), "held by alice");
  master.pass(1h);
  EXPECT_EQ(tryTask(1), Verdict::kGranted);
}

TEST_F(Dependencies, WhatIsNotRunAgain) {
  queue(1, plain());
  EXPECT_THAT(steer(1, JobChange::kRerun).error().message, HasSubstr("is not over"));
  EXPECT_EQ(steer(1, JobChange::kRerun, "bob").error().code, ErrorCode::kNotFound);
  end(1, 0);
  EXPECT_THAT(steer(1, JobChange::kRerun).error().message, HasSubstr("is done"));
  queue(2, plain());
  queue(3, after({2}));
  end(2, 7);
  EXPECT_THAT(steer(3, JobChange::kRerun).error().message,
              HasSubstr("starts after job 2, which failed: run that again first"));
}

TEST_F(Dependencies, FilesOfAJobThatIsDoneLeaveTheStore) {
  Commit commit = newJob(1, plain());
  commit.newJob->record.hasFiles = true;
  commit.newJob->record.fileBytes = 100;
  commit.newJob->files = std::make_shared<const FilePiece>(FilePiece{{"input", 0644, "x"}});
  master.commit(agent, commit);
  EXPECT_THAT(*master.store().files(jobId(1)), SizeIs(1));
  end(1, 0);
  EXPECT_THAT(*master.store().files(jobId(1)), IsEmpty());
}

TEST_F(Dependencies, FilesOfAJobThatFailedAreKeptForItWhileThereIsRoom) {
  MasterOptions options;
  options.keepFileBytes = 150;
  MasterHarness small(options);
  small.attachMonitor("m", {serverFacts("a", 8)});
  const SessionId x = small.attachAgent("x");
  const auto submit = [&](int number) {
    Commit commit = newJob(number, plain());
    commit.newJob->record.hasFiles = true;
    commit.newJob->record.fileBytes = 100;
    commit.newJob->files = std::make_shared<const FilePiece>(FilePiece{{"input", 0644, "x"}});
    small.commit(x, commit);
  };
  const auto rerun = [&](int number) {
    return only<Answer>(small.handle(JobSteered{1, user("alice"), jobId(number), JobChange::kRerun, 0}))
        .front()
        .status;
  };
  submit(1);
  submit(2);
  small.cancel(1, user("alice"));
  EXPECT_THAT(*small.store().files(jobId(1)), SizeIs(1));
  ASSERT_TRUE(rerun(1).ok());
  small.cancel(1, user("alice"));
  small.cancel(2, user("alice"));
  EXPECT_THAT(*small.store().files(jobId(1)), IsEmpty()) << "those of the first go first";
  EXPECT_THAT(*small.store().files(jobId(2)), SizeIs(1));
  EXPECT_THAT(rerun(1).error().message, HasSubstr("files that are not kept any more"));
  small.restart();
  small.attachAgent("x");
  EXPECT_TRUE(rerun(2).ok());
}

}  // namespace tarcil::dependencies_test
