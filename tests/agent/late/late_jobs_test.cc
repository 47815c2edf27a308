// Late-bound jobs that are over.
#include "agent/late/late_jobs.h"

#include <gtest/gtest.h>

namespace tarcil::late_jobs_test {

// Of the last `jobs` that were taken, each of one task and so many bytes, how many are remembered.
size_t remembered(LateJobs& all, late::JobNumber jobs, size_t bytes) {
  for (late::JobNumber number = 1; number <= jobs; ++number) {
    LateHeld job;
    job.number = number;
    job.load = {.tasks = 1, .bytes = bytes};
    job.over.resize(1);
    all.add(std::move(job));
    all.finish(number, WallTime(Duration(number)));
  }
  return all.all().size();
}

TEST(LateBoundJobs, ThatAreOverAreForgottenBeyondABoundOfTasksAndOfBytes) {
  LateJobs byTasks({.tasks = 10, .bytes = 1'000});
  EXPECT_EQ(remembered(byTasks, 20, 1), 10u);
  LateJobs byBytes({.tasks = 10, .bytes = 1'000});
  EXPECT_EQ(remembered(byBytes, 20, 300), 3u);
  for (const LateHeld* job : byBytes.all()) EXPECT_GT(job->number, 17u) << "the latest stay";
  LateJobs one({.tasks = 10, .bytes = 1'000});
  EXPECT_EQ(remembered(one, 2, 5'000), 1u) << "the last one always";
}

}  // namespace tarcil::late_jobs_test
