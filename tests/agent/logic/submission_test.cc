#include "agent/logic/submission.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "tests/support/builders.h"

namespace tarcil::agent::submission_test {

using testing::StartsWith;

// What is said of a good job after this change to it; "" where it is still good.
std::string problemAfter(const std::function<void(JobSpec&)>& change) {
  JobSpec spec = aJob(1);
  change(spec);
  Status status = checkSubmission(spec, {});
  return status.ok() ? "" : status.error().message;
}

std::string problemOf(const std::vector<InputFile>& files) {
  Status status = checkSubmission(aJob(1), files);
  return status.ok() ? "" : status.error().message;
}

TEST(Submission, GoodJobPasses) {
  EXPECT_EQ(problemAfter([](JobSpec&) {}), "");
}

TEST(Submission, NamesTheNumberOutOfItsRange) {
  EXPECT_THAT(problemAfter([](JobSpec& job) { job.tasks = 0; }), StartsWith("tasks: 0 "));
  EXPECT_THAT(problemAfter([](JobSpec& job) { job.tasks = kMaxTasks + 1; }), StartsWith("tasks: "));
  EXPECT_THAT(problemAfter([](JobSpec& job) { job.rusPerTask = 0; }), StartsWith("rus_per_task: "));
  EXPECT_THAT(problemAfter([](JobSpec& job) { job.priority = 101; }), StartsWith("priority: "));
  EXPECT_THAT(problemAfter([](JobSpec& job) { job.grace = Duration(-1); }), StartsWith("grace: "));
  EXPECT_THAT(problemAfter([](JobSpec& job) { job.maxWait = Duration::max(); }),
              StartsWith("quality.max_wait: "));
  EXPECT_THAT(problemAfter([](JobSpec& job) { job.restart.backoff = Duration::max(); }),
              StartsWith("restart.backoff: "));
}

TEST(Submission, NamesTheRatioOutOfItsRange) {
  EXPECT_THAT(problemAfter([](JobSpec& job) { job.target = 1.5; }), StartsWith("quality.target: "));
  EXPECT_THAT(problemAfter([](JobSpec& job) { job.target = std::nan(""); }), StartsWith("quality.target: "));
  EXPECT_THAT(problemAfter([](JobSpec& job) { job.confidence = 1; }), StartsWith("quality.confidence: "));
  EXPECT_THAT(problemAfter([](JobSpec& job) { job.profile.platforms["p"] = 0; }),
              StartsWith("profile.platforms.p: "));
}

TEST(Submission, NamesTheResourceOfAPressureOutOfItsRange) {
  EXPECT_THAT(problemAfter([](JobSpec& job) { job.profile.caused[4] = 100; }),
              StartsWith("profile.caused.llc: "));
  EXPECT_THAT(problemAfter([](JobSpec& job) { job.profile.tolerated[0] = 100; }),
              StartsWith("profile.tolerated.core: "));
}

TEST(Submission, WantsACommandThatCanBeExecuted) {
  EXPECT_THAT(problemAfter([](JobSpec& job) { job.command.clear(); }), StartsWith("command: missing"));
  EXPECT_THAT(problemAfter([](JobSpec& job) { job.command = {""}; }), StartsWith("command: missing"));
  EXPECT_THAT(problemAfter([](JobSpec& job) { job.command[0] = std::string("a\0b", 3); }),
              StartsWith("command: "));
  EXPECT_THAT(problemAfter([](JobSpec& job) { job.command.emplace_back(kMaxCommandBytes, 'x'); }),
              StartsWith("command: "));
  EXPECT_THAT(problemAfter([](JobSpec& job) { job.env["A=B"] = "1"; }), StartsWith("env: "));
  EXPECT_THAT(problemAfter([](JobSpec& job) { job.workdir = "here"; }), StartsWith("workdir: "));
}

TEST(Submission, WantsPlacementThatLeavesPlaces) {
  EXPECT_THAT(problemAfter([](JobSpec& job) {
                job.placement.spread = Spread::kServer;
                job.placement.atMost = 0;
              }),
              StartsWith("placement.at_most: "));
  EXPECT_THAT(
      problemAfter([](JobSpec& job) {
        job.placement.constraints = {{.attribute = "rack", .op = Constraint::Operator::kEqual, .values = {}}};
      }),
      StartsWith("placement.constraints: "));
}

TEST(Submission, FilesStayInsideTheWorkingDirectory) {
  EXPECT_EQ(problemOf({{.path = "data/a.txt", .content = "x"}}), "");
  for (const char* path : {"", "/etc/passwd", "../a", "a/../../b", "a//b", "./a", "a/"}) {
    EXPECT_THAT(problemOf({{.path = path, .content = "x"}}), StartsWith("files: ")) << path;
  }
}

TEST(Submission, FilesGoWithAPrivateDirectoryOnly) {
  JobSpec job = aJob(1);
  job.workdir = "/srv";
  EXPECT_TRUE(checkSubmission(job, {}).ok());
  const Status status = checkSubmission(job, {{.path = "a", .content = "x"}});
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, StartsWith("files: "));
}

TEST(Submission, FilesAreBoundedAndPlain) {
  const std::string half(kMaxInputBytes / 2, 'x');
  EXPECT_THAT(problemOf({{.path = "a", .content = half}, {.path = "b", .content = half}}),
              StartsWith("files: "));
  EXPECT_THAT(problemOf({{.path = "a", .mode = 04755, .content = "x"}}), StartsWith("files: "));
}

}  // namespace tarcil::agent::submission_test
