// All tasks of a job run the image that its first one found.
#include "master/logic/jobs/images.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/master/master_harness.h"

namespace tarcil::images_test {

using namespace master;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const std::string kOne = "sha256:" + std::string(64, '1');
const std::string kOther = "sha256:" + std::string(64, '2');

struct Images : testing::Test {
  MasterHarness master;
  SessionId monitor = master.attachMonitor("m", {serverFacts("a", 8)});
  SessionId agent = master.attachAgent("x");

  // Tasks of job 1, placed.
  std::vector<AllocationId> begin(uint32_t tasks, std::string image = "docker://debian") {
    JobSpec job = spec(tasks);
    job.container.image = std::move(image);
    Commit commit = newJob(1, job);
    for (TaskIndex task = 0; task < tasks; ++task) commit.claims.push_back(claim(task, 0));
    master.place(agent, commit);
    std::vector<AllocationId> allocations;
    for (TaskIndex task = 0; task < tasks; ++task) allocations.push_back(master.task(1, task).allocation);
    return allocations;
  }
  std::vector<Action> startedIn(AllocationId allocation, const std::string& image) {
    TaskReport report;
    report.allocation = allocation;
    report.end.started = master.now().wall;
    report.image = image;
    return master.handle(ReportsArrived{1, monitor, {report}});
  }
  std::string digest() { return master.job(1).record.spec.container.imageDigest; }
};

TEST_F(Images, TheFirstTaskToStartDecides) {
  const auto tasks = begin(2);
  EXPECT_EQ(digest(), "");
  startedIn(tasks[0], kOne);
  EXPECT_EQ(digest(), kOne);
  EXPECT_THAT(only<StopTask>(startedIn(tasks[1], kOne)), IsEmpty());
  master.restart();
  EXPECT_EQ(digest(), kOne) << "it is stored";
}

TEST_F(Images, ATaskThatStartedInAnotherGoesAndCostsNoAttempt) {
  const auto tasks = begin(2);
  startedIn(tasks[0], kOne);
  const auto stopped = only<StopTask>(startedIn(tasks[1], kOther));
  ASSERT_THAT(stopped, SizeIs(1));
  EXPECT_EQ(stopped[0].allocation, tasks[1]);
  TaskEnd end;
  end.cause = EndCause::kCancelled;
  master.ended(monitor, tasks[1], end);
  const TaskRecord again = master.task(1, 1);
  EXPECT_EQ(again.state, RunState::kQueued);
  EXPECT_EQ(again.failures, 0u);
  EXPECT_THAT(again.previous, HasSubstr("it started in " + kOther));
  EXPECT_THAT(again.previous, HasSubstr("the job's image is " + kOne));
  EXPECT_EQ(digest(), kOne);
}

TEST_F(Images, WhatIsNoDigestOrOfAJobWithoutImageChangesNothing) {
  const auto tasks = begin(1);
  startedIn(tasks[0], "sha256:x");
  startedIn(tasks[0], "");
  EXPECT_EQ(digest(), "");
}

TEST_F(Images, AJobWithoutOneHasNone) {
  startedIn(begin(1, "")[0], kOne);
  EXPECT_EQ(digest(), "");
}

}  // namespace tarcil::images_test
