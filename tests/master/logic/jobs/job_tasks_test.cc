// What a job says of its tasks is the same whether they have records or not.
#include "master/logic/jobs/job_tasks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/master/master_harness.h"

namespace tarcil::master::job_tasks_test {

using testing::ElementsAre;
using testing::IsNull;
using testing::NotNull;

std::vector<TaskIndex> recordsOf(const JobTasks& tasks) {
  std::vector<TaskIndex> indices;
  tasks.forEachRecord([&indices](const TaskRecord& task) { indices.push_back(task.index); });
  return indices;
}

TEST(JobTasks, HaveNoRecordsUntilTheyAreChanged) {
  JobTasks tasks(jobId(1), 100'000, RunState::kQueued);
  EXPECT_EQ(tasks.size(), 100'000u);
  EXPECT_EQ(tasks.state(99'999), RunState::kQueued);
  EXPECT_EQ(tasks.attempt(99'999), 0u);
  EXPECT_THAT(tasks.find(99'999), IsNull());
  EXPECT_EQ(recordsOf(tasks).size(), 0u);
}

TEST(JobTasks, SayOfThemselvesWhatARecordWould) {
  JobTasks tasks(jobId(1), 3, RunState::kQueued);
  const TaskRecord without = tasks.copy(1);
  tasks[1].attempt = 0;  // makes it
  EXPECT_EQ(tasks.copy(1), without);
  EXPECT_EQ(without.job, jobId(1));
  EXPECT_EQ(without.index, 1u);
}

TEST(JobTasks, GetRecordsInPagesOfWhichTheLastIsAsLongAsTheJob) {
  JobTasks tasks(jobId(1), 66, RunState::kQueued);
  tasks[65].state = RunState::kRunning;
  EXPECT_THAT(recordsOf(tasks), ElementsAre(64, 65));
  EXPECT_THAT(tasks.find(63), IsNull());
  EXPECT_THAT(tasks.find(64), NotNull());
  EXPECT_EQ(tasks.state(64), RunState::kQueued);
  EXPECT_EQ(tasks.state(65), RunState::kRunning);
}

TEST(JobTasks, AreCancelledWithoutOne) {
  JobTasks tasks(jobId(1), 130, RunState::kQueued);
  tasks[64].state = RunState::kRunning;
  EXPECT_EQ(tasks.cancelWithoutRecord(), 66u);
  EXPECT_EQ(tasks.state(0), RunState::kCancelled);
  EXPECT_EQ(tasks.state(65), RunState::kQueued);
  EXPECT_EQ(tasks.state(129), RunState::kCancelled);
  EXPECT_EQ(tasks.copy(129).end.cause, EndCause::kCancelled);
  EXPECT_EQ(tasks[129].state, RunState::kCancelled);
}

}  // namespace tarcil::master::job_tasks_test
