#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

#include "sim/chance.h"
#include "sim/workload/synthetic.h"

namespace tarcil::sim::workload_test {

TEST(AlikeJobs, HaveTheDurationsThatWereAskedFor) {
  Rng rng(1);
  AlikeJobs options{.jobs = 20'000, .tasks = 3, .mean = std::chrono::milliseconds(100)};
  options.gapSeconds = 2;
  const Workload workload = alikeJobs(options, rng);
  double sum = 0;
  for (const SimJob& job : workload.jobs) {
    EXPECT_EQ(workload.work[job.firstTask], workload.work[job.firstTask + 2]) << "one duration a job";
    sum += static_cast<double>(workload.work[job.firstTask].count());
  }
  EXPECT_NEAR(sum / options.jobs, 100'000, 3'000);
  const auto last = static_cast<double>(workload.jobs.back().arrival.count()) * 1e-6;
  EXPECT_NEAR(last / options.jobs, 2, 0.06);
}

TEST(AlikeJobs, GiveEachTaskItsOwnDurationWhereAsked) {
  Rng rng(1);
  const Workload workload =
      alikeJobs({.jobs = 1, .tasks = 2, .durations = Durations::kExponentialTasks}, rng);
  EXPECT_NE(workload.work[0], workload.work[1]);
  EXPECT_EQ(workload.longest(workload.jobs[0]), std::max(workload.work[0], workload.work[1]));
}

TEST(StreamJobs, KeepEachToItsLoadAndItsTime) {
  Rng rng(1);
  const auto seconds = [](int count) { return Duration(std::chrono::seconds(count)); };
  const Stream steady{.name = "steady", .load = 0.5, .tasks = 4, .priority = 90, .shares = 3};
  const Stream late{.name = "late",
                    .load = 0.25,
                    .tasks = 1,
                    .mean = seconds(1),
                    .from = seconds(100),
                    .until = seconds(150)};
  const Workload workload = streamJobs({.streams = {steady, late}, .span = seconds(200), .units = 100}, rng);
  double held[2] = {};
  for (const SimJob& job : workload.jobs) {
    ASSERT_LT(job.stream, 2);
    held[job.stream] += job.tasks * static_cast<double>(workload.work[job.firstTask].count()) * 1e-6;
    if (job.stream == 0) {
      EXPECT_EQ(std::tuple(job.tasks, job.priority, job.shares), std::tuple(4u, 90, 3));
      continue;
    }
    EXPECT_GE(job.arrival, seconds(100));
    EXPECT_LT(job.arrival, seconds(150));
  }
  EXPECT_NEAR(held[0] / 200 / 100, 0.5, 0.03);
  EXPECT_NEAR(held[1] / 50 / 100, 0.25, 0.03);
}

TEST(MixedJobs, HoldSeventyPercentOfTheCoresOfThePaper) {
  Rng rng(1);
  const Workload workload = mixedJobs({}, rng);
  ASSERT_EQ(workload.jobs.size(), 7'200u);
  EXPECT_NEAR(workload.ruSeconds() / 7'200 / 4'176, 0.7, 0.03);
  EXPECT_EQ(workload.jobs[10].arrival, std::chrono::seconds(10));
}

TEST(MixedJobs, MakeDoWithFewApplications) {
  Rng rng(1);
  for (const uint16_t applications : {1, 3, 7}) {
    for (const SimJob& job : mixedJobs({.jobs = 500, .applications = applications}, rng).jobs) {
      ASSERT_LT(job.application, applications);
    }
  }
}

TEST(Chance, KeepsPurposesApart) {
  EXPECT_NE(rngFor(1, Purpose::kWorkload)(), rngFor(1, Purpose::kPolicy)());
  EXPECT_NE(rngFor(1, Purpose::kWorkload)(), rngFor(2, Purpose::kWorkload)());
  EXPECT_EQ(rngFor(3, Purpose::kTruth)(), rngFor(3, Purpose::kTruth)());
}

TEST(Chance, DrawsNormalDeviates) {
  Rng rng(1);
  double sum = 0, squares = 0;
  constexpr int kDraws = 100'000;
  for (int i = 0; i < kDraws; ++i) {
    const double value = normal(rng);
    sum += value;
    squares += value * value;
  }
  EXPECT_NEAR(sum / kDraws, 0, 0.02);
  EXPECT_NEAR(squares / kDraws, 1, 0.02);
}

TEST(HeavyTailedJobs, AreSmallBesideFewThatAreLarge) {
  Rng rng(1);
  const Workload workload = heavyTailedJobs({.jobs = 20'000, .applications = 7}, rng);
  std::vector<double> work;
  double sum = 0;
  uint32_t most = 0;
  for (const SimJob& job : workload.jobs) {
    double own = 0;
    for (TaskNumber task = job.firstTask; task < job.firstTask + job.tasks; ++task) {
      own += static_cast<double>(workload.work[task].count()) * 1e-6;
    }
    EXPECT_LT(job.application, 7);
    most = std::max(most, job.tasks);
    work.push_back(own);
    sum += own;
  }
  EXPECT_LE(most, kMaxHeavyTailedTasks);
  EXPECT_GT(most, kMaxHeavyTailedTasks / 2);
  std::sort(work.begin(), work.end());
  EXPECT_LT(work[work.size() / 2], 30) << "seconds";
  double ofLargest = 0;
  for (size_t i = work.size() - work.size() / 100; i < work.size(); ++i) ofLargest += work[i];
  EXPECT_GT(ofLargest, sum / 4) << "a hundredth of the jobs is a quarter of the work";
}

}  // namespace tarcil::sim::workload_test
