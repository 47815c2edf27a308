#include "formats/after_field.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/job_file.h"

namespace tarcil::after_field_test {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> names(const std::vector<NamedJob>& jobs) {
  std::vector<std::string> names;
  for (const NamedJob& job : jobs) names.push_back(job.name);
  return names;
}

Result<JobFile> jobAfter(const std::string& after, const std::string& more = "") {
  return parseJob("command: [x]\n" + more + "after: " + after + "\n", "job.yaml", ".", {});
}

std::string problemOf(const std::string& after, const std::string& more = "") {
  const auto job = jobAfter(after, more);
  return job ? "" : job.error().message;
}

TEST(AfterInAJobFile, NamesJobsInFourWays) {
  const auto job =
      jobAfter("{ok: [4711, 'name:sort*'], any: 4712, failed: [id:3f2a], each: 4713, unmet: hold}");
  ASSERT_TRUE(job) << job.error().message;
  EXPECT_THAT(names(job->after.ok), ElementsAre("4711", "name:sort*"));
  EXPECT_THAT(names(job->after.any), ElementsAre("4712"));
  EXPECT_THAT(names(job->after.failed), ElementsAre("id:3f2a"));
  EXPECT_EQ(job->after.each->name, "4713");
  EXPECT_EQ(job->spec.after.unmet, After::Unmet::kHold);
  EXPECT_EQ(job->after.ok[1].place.line, 2u);
}

TEST(AfterInAJobFile, ShortFormsMeanThatTheyAreDone) {
  EXPECT_THAT(names(jobAfter("4711")->after.ok), ElementsAre("4711"));
  EXPECT_THAT(names(jobAfter("[4711, 4712]")->after.ok), ElementsAre("4711", "4712"));
}

TEST(AfterInAJobFile, SaysWhatToWriteInstead) {
  EXPECT_THAT(problemOf("{unmet: wait}"),
              HasSubstr("job.yaml:2:16: after.unmet: is 'wait'; write one of cancel, hold"));
  EXPECT_THAT(problemOf("{done: 4711}"),
              HasSubstr("after.done: unknown field; known here: ok, any, failed, each, unmet"));
  EXPECT_THAT(problemOf("{ok: ['']}"),
              HasSubstr("after.ok[0]: is '' in quotes; write a job's number, or name:NAME or id:ID"));
  EXPECT_THAT(problemOf("{each: 1}", "schedule: gang\n"),
              HasSubstr("after: starts task by task, and a gang starts at once"));
  EXPECT_THAT(problemOf("1", "policy: late-binding\n"),
              HasSubstr("after: a late-bound job is tried at once"));
  std::string many;
  for (int i = 0; i <= 1'000; ++i) many += (many.empty() ? "[" : ", ") + std::to_string(i + 1);
  EXPECT_THAT(problemOf(many + "]"), HasSubstr("after: names 1001 jobs; write at most 1000"));
}

}  // namespace tarcil::after_field_test
