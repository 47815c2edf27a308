// Files of a task's standard streams: input, output and error of a job.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/model/array.h"
#include "core/model/job_check.h"

namespace tarcil::output_path_test {

using testing::HasSubstr;
using testing::StartsWith;

JobSpec writing(std::string output, uint32_t tasks = 1) {
  JobSpec job;
  job.command = {"true"};
  job.tasks = tasks;
  job.output = std::move(output);
  return job;
}

JobSpec over(std::string output, std::vector<std::string> items) {
  JobSpec job = writing(std::move(output), static_cast<uint32_t>(items.size()));
  job.items = Items(std::move(items));
  return job;
}

std::string problemOf(const JobSpec& job) {
  const Status checked = checkJob(job, false);
  return checked.ok() ? "" : checked.error().message;
}

TEST(OutputPath, IsFilledInForEachTaskAndAttempt) {
  JobSpec job = writing("/logs/{index}.out", 3);
  job.error = "/logs/{index}-{attempt}.{item}";
  const TaskSpec task = specOfTask(job, 2, 4);
  EXPECT_EQ(task.output, "/logs/2.out");
  EXPECT_EQ(task.error, "/logs/2-4.{item}") << "the job has no items";
  EXPECT_EQ(specOfTask(over("/logs/{item}-{attempt}", {"{attempt}"}), 0, 1).output, "/logs/{attempt}-1")
      << "an item is never looked at for braces of its own";
}

TEST(OutputPath, IsAbsoluteAndBounded) {
  EXPECT_EQ(problemOf(writing("/logs/a b.out")), "");
  EXPECT_EQ(problemOf(writing("/logs/..a/a..b")), "");
  EXPECT_EQ(problemOf(writing("/" + std::string(4'094, 'x'))), "");
  for (const std::string& path :
       {std::string("logs/a"), std::string("/logs/"), std::string("/logs/../a"), std::string("/logs/.."),
        "/" + std::string(4'095, 'x'), std::string("/a\0b", 4)}) {
    EXPECT_THAT(problemOf(writing(path)),
                "output: is out of range; write a file's path on the servers that starts with /, of at most "
                "4095 characters and without ..")
        << path;
  }
  EXPECT_THAT(problemOf(writing("/" + std::string(4'070, 'x') + "{attempt}{index}")), "");
  EXPECT_THAT(problemOf(writing("/" + std::string(4'085, 'x') + "{attempt}")),
              StartsWith("output: is no path of a file for task 0; write a file's path"));
}

TEST(OutputPath, IsNoFileOfSeveralTasks) {
  EXPECT_EQ(problemOf(writing("/logs/out")), "");
  EXPECT_EQ(problemOf(writing("/logs/out", 2)),
            "output: is one file for all 2 tasks; write {index} where their names differ, for example "
            "/logs/sort-{index}.out");
  EXPECT_EQ(problemOf(writing("/logs/{index}", 2)), "");
  EXPECT_EQ(problemOf(over("/logs/{item}", {"a", "b"})), "");
  EXPECT_EQ(problemOf(over("/logs/{item}", {"a", "b", "a"})),
            "output: is one file for tasks 0 and 2, whose items are the same; write {index} into it too");
  EXPECT_EQ(problemOf(over("/logs/{index}-{item}", {"a", "b", "a"})), "");
  EXPECT_EQ(problemOf(writing("/logs/{item}")),
            "output: has {item}, and the job has no items; write {index} in its place");
}

TEST(OutputPath, OfBothStreamsMayBeTheSame) {
  JobSpec job = writing("/logs/{index}", 2);
  job.error = job.output;
  EXPECT_EQ(problemOf(job), "");
  job.error = "/logs/all";
  EXPECT_THAT(problemOf(job), StartsWith("error: is one file for all 2 tasks"));
}

TEST(OutputPath, IsNotLedElsewhereByAnItem) {
  EXPECT_EQ(problemOf(over("/logs/{item}", {"a.b/c"})), "");
  for (const std::string item : {"..", "a/../b", ".", "/a", "a/", ".a", "a."}) {
    EXPECT_THAT(problemOf(over("/logs/{item}", {"x", item})),
                HasSubstr("takes in the item of task 1, which has ..,"))
        << item;
  }
  EXPECT_THAT(problemOf(over("/logs/{item}", {std::string(4'095, 'x')})),
              HasSubstr("is no path of a file for task 0"));
}

TEST(InputPath, IsFilledInAndMayBeOneFileForAllTasks) {
  JobSpec job = over("", {"../a", "b"});
  job.input = "in/{item}-{index}";
  EXPECT_EQ(problemOf(job), "");
  EXPECT_EQ(specOfTask(job, 0, 0).input, "in/../a-0") << "whatever its user may read";
  job.input = "/srv/words";
  EXPECT_EQ(problemOf(job), "");
}

TEST(InputPath, IsRefusedWhereItNamesNoFile) {
  JobSpec job = writing("");
  for (const std::string& path : {std::string("in/"), std::string(4'096, 'x'), std::string("a\0b", 3)}) {
    job.input = path;
    EXPECT_EQ(problemOf(job),
              "input: is out of range; write a file's path, from the working directory on or with / at its "
              "beginning, of at most 4095 characters");
  }
  job.input = std::string(4'086, 'x') + "{attempt}";
  EXPECT_THAT(problemOf(job), StartsWith("input: is no path of a file for task 0; write a file's path"));
  job.input = "{item}";
  EXPECT_EQ(problemOf(job), "input: has {item}, and the job has no items; write {index} in its place");
  job.input = "a";
  job.container.bundle = "/srv/bundle";
  EXPECT_THAT(problemOf(job), StartsWith("input: does not reach what crun runs in a bundle"));
  job.container.bundle.clear();
  job.policy = Policy::kLateBinding;
  EXPECT_EQ(problemOf(job), "input: a late-bound job reads no standard input; use policy: quality");
}

TEST(OutputPath, IsNothingForALateBoundJob) {
  JobSpec job = writing("/logs/out");
  job.policy = Policy::kLateBinding;
  EXPECT_EQ(problemOf(job), "output: a late-bound job writes no files of that kind; use policy: quality");
}

}  // namespace tarcil::output_path_test
