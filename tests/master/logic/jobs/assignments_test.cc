// News of a job that are joined on their way to its agent.
#include "master/logic/jobs/assignments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/master/master_harness.h"

namespace tarcil::assignments_test {

using testing::ElementsAre;
using testing::IsEmpty;

TaskAssignment task(TaskIndex index, RunState state, uint32_t attempt = 0) {
  TaskAssignment task;
  task.index = index;
  task.state = state;
  task.attempt = attempt;
  return task;
}

JobAssignment news(std::vector<TaskAssignment> tasks) {
  JobAssignment news;
  news.job.id = jobId(1);
  news.job.spec.tasks = 2;
  news.tasks = std::move(tasks);
  return news;
}

TEST(JoinedNews, KeepTheOrderOfWhatIsSaidOfATask) {
  JobAssignment waiting = news({task(0, RunState::kStarting)});
  join(waiting, news({task(1, RunState::kRunning), task(0, RunState::kRunning)}));
  EXPECT_THAT(waiting.tasks, ElementsAre(task(0, RunState::kStarting), task(1, RunState::kRunning),
                                         task(0, RunState::kRunning)));
}

TEST(JoinedNews, DoNotGrowHoweverMuchHappens) {
  JobAssignment waiting = news({});
  for (uint32_t attempt = 0; attempt < 100; ++attempt) {
    join(waiting, news({task(0, RunState::kQueued, attempt), task(1, RunState::kQueued, attempt)}));
    ASSERT_LE(waiting.tasks.size(), 4u);
    const auto last = std::find_if(waiting.tasks.rbegin(), waiting.tasks.rend(),
                                   [](const TaskAssignment& it) { return it.index == 0; });
    ASSERT_NE(last, waiting.tasks.rend());
    ASSERT_EQ(last->attempt, attempt) << "the newest counts";
  }
}

TEST(JoinedNews, AreReplacedByTheWholeAndByTheEnd) {
  JobAssignment waiting = news({task(0, RunState::kStarting)});
  JobAssignment whole = news({task(1, RunState::kQueued)});
  whole.complete = true;
  join(waiting, whole);
  EXPECT_EQ(waiting, whole);
  join(waiting, news({task(0, RunState::kRunning)}));
  EXPECT_TRUE(waiting.complete) << "what came later is added to the whole";
  EXPECT_EQ(waiting.tasks.size(), 2u);
  JobAssignment over = news({});
  over.over = true;
  join(waiting, over);
  EXPECT_EQ(waiting, over);
}

}  // namespace tarcil::assignments_test
