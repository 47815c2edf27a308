// The job that measures an application.
#include "cli/unmeasured.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "classifier/assumed_profile.h"

namespace tarcil::unmeasured_test {

using testing::ElementsAre;
using testing::HasSubstr;

ServerDetails server(const std::string& name, uint32_t rus, const std::string& platform = "p") {
  ServerDetails result;
  result.facts.name = name;
  result.facts.platform = platform;
  result.facts.rus = result.facts.cores = rus;
  result.status.up = true;
  for (uint32_t ru = 0; ru < rus; ++ru) result.status.free.insert(static_cast<RuIndex>(ru));
  return result;
}

JobSpec sorting() {
  JobSpec job;
  job.profile = profileUntilMeasured("sort");
  job.command = {"sort", "-n", "--", "numbers"};
  job.env = {{"KEY", "value"}};
  job.user = "bob";
  job.tasks = 20;
  job.rusPerTask = 2;
  job.priority = 90;
  return job;
}

std::string problemOf(const JobSpec& job, const std::vector<ServerDetails>& servers) {
  const auto made = measuringJob(job, servers);
  return made ? "there is none" : made.error().message;
}

TEST(MeasuringJob, RunsTheCommandUnderAProfilerThatHasAServerToItself) {
  const auto made = measuringJob(sorting(), {server("a", 4), server("b", 8), server("c", 4), server("d", 2)});
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_EQ(made->measures, "sort");
  EXPECT_THAT(made->command,
              ElementsAre("tarcil", "profile", "run", "--report", "--data=/tmp", "--scratch=/tmp",
                          "--application=sort", "--rus=2", "--known=.tarcil/known-applications.yaml", "--",
                          "sort", "-n", "--", "numbers"));
  EXPECT_EQ(made->env, sorting().env);
  EXPECT_EQ(made->user, "bob");
  EXPECT_EQ(made->tasks, 1u);
  EXPECT_EQ(made->rusPerTask, 4u);
  ASSERT_EQ(made->placement.constraints.size(), 1u);
  EXPECT_THAT(made->placement.constraints[0].values, ElementsAre("a", "c")) << "any of like size will do";
  EXPECT_EQ(made->priority, 0);
  EXPECT_TRUE(made->preemptible);
  EXPECT_FALSE(made->restart.onLost);
  EXPECT_EQ(made->profile, Profile()) << "nobody knows its own";
}

TEST(MeasuringJob, StaysWhereTheJobMayRun) {
  JobSpec job = sorting();
  job.placement.constraints = {{"platform", Constraint::Operator::kEqual, {"fast"}}};
  const std::vector servers = {server("a", 4), server("b", 8, "fast")};
  EXPECT_THAT(measuringJob(job, servers)->placement.constraints[0].values, ElementsAre("b"));
  job.extras = {{"gpus", 1}};
  EXPECT_THAT(problemOf(job, servers), HasSubstr("no server meets"));
}

TEST(MeasuringJob, IsNoneWhereNothingCanBeMeasured) {
  EXPECT_THAT(problemOf(sorting(), {server("a", 2)}), HasSubstr("takes one more to press from"));
  JobSpec image = sorting();
  image.container.rootfs = "/images/debian";
  EXPECT_THAT(problemOf(image, {server("a", 4)}), HasSubstr("a file system of their own"));
}

TEST(ProfileUntilMeasured, IsCarefulByTheShippedApplications) {
  const Profile assumed = profileUntilMeasured("sort");
  EXPECT_TRUE(assumed.isAssumed);
  EXPECT_EQ(assumed.application, "sort");
  EXPECT_THAT(assumed.tolerated, testing::Each(testing::Le(kMaxAssumed)));
  EXPECT_GT(assumed.caused[static_cast<size_t>(Resource::kCore)], 40);
}

}  // namespace tarcil::unmeasured_test
