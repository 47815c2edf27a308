#include "core/model/array.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/model/job_check.h"

namespace tarcil::array_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

JobSpec over(std::vector<std::string> items) {
  JobSpec job;
  job.command = {"sort", "{item}", "-o", "/out/{index}-{item}", "{other} {item"};
  job.env = {{"WHICH", "{index}"}};
  job.tasks = static_cast<uint32_t>(items.size());
  job.items = Items(std::move(items));
  return job;
}

TEST(Array, ATaskGetsItsOwnItemAndIndex) {
  JobSpec job = over({"a", "b{index}"});
  job.output = "/logs/{index}.out";
  const TaskSpec task = specOfTask(job, 1, 0);
  EXPECT_THAT(task.command, ElementsAre("sort", "b{index}", "-o", "/out/1-b{index}", "{other} {item"))
      << "an item is never looked at for braces of its own";
  EXPECT_EQ(task.env.at("WHICH"), "1");
  EXPECT_EQ(task.env.at("TARCIL_ITEM"), "b{index}");
  EXPECT_EQ(task.output, "/logs/1.out");
}

TEST(Array, AJobWithoutItemsStaysAsItIs) {
  JobSpec job = over({});
  job.tasks = 2;
  EXPECT_EQ(specOfTask(job, 1, 0), static_cast<const TaskSpec&>(job));
}

TEST(Array, SaysWhatIsWrongWithItsItems) {
  EXPECT_EQ(whyNotItems(over({"a"})), "");
  JobSpec more = over({"a", "b"});
  more.tasks = 3;
  EXPECT_EQ(whyNotItems(more), "are 2, one for each task, and tasks is 3; leave tasks out");
  EXPECT_EQ(whyNotItems(over({"a", ""})), "has an item (number 1) that is empty; remove it");
  EXPECT_EQ(whyNotItems(over({std::string(1, '\0')})),
            "has an item (number 0) with a NUL character in it; remove it");
  EXPECT_THAT(whyNotItems(over({std::string(5'000, 'x')})), HasSubstr("of 5000 bytes; write at most 4096"));
  JobSpec late = over({"a"});
  late.policy = Policy::kLateBinding;
  EXPECT_THAT(whyNotItems(late), StartsWith("are not for a late-bound job"));
}

TEST(Array, TheCommandWithTheLongestItemIsBounded) {
  JobSpec job = over({"a", std::string(4'000, 'x')});
  job.command.assign(40, "{item}");
  EXPECT_THAT(whyNotItems(job), StartsWith("make the command of task 1 too long: command and env hold"));
}

TEST(Array, OutputsOfTasksAreToldApart) {
  const JobSpec job = over({"a", "a1"});
  for (const char* path : {"/logs/{item}{index}", "/logs/{index}{attempt}", "/logs/{item}0{index}",
                           "/logs/{item}{attempt}", "/logs/{attempt}{item}"})
    EXPECT_THAT(whyNotOutput(job, path), HasSubstr("right beside another such name")) << path;
  for (const char* path : {"/logs/{item}-{index}", "/logs/{index}/{item}{index}", "/logs/{index}.{attempt}",
                           "/logs/{item}.{attempt}"})
    EXPECT_EQ(whyNotOutput(job, path), "") << path;
}

TEST(Array, ErrorsOfTasksAreToldFromOutputsOfOthers) {
  JobSpec job = over({"a", "a.err"});
  const auto problem = [&job](const char* output, const char* error) {
    job.output = output;
    job.error = error;
    return whyNotApart(job);
  };
  for (const auto& [output, error] : {std::pair{"/l/{item}", "/l/{item}.err"},
                                      {"/l/x{index}", "/l/x{index}1"},
                                      {"/l/x{index}", "/l/x1{attempt}{index}"},
                                      {"/l/{item}/out", "/l/{index}/out"}})
    EXPECT_THAT(problem(output, error), HasSubstr("could be the file that is another task's output"))
        << error;
  for (const auto& [output, error] : {std::pair{"/l/{item}.out", "/l/{item}.err"},
                                      {"/l/{index}", "/l/{index}.err"},
                                      {"/out/{item}", "/err/{item}"},
                                      {"/l/{item}", "/l/{item}"},
                                      {"/l/{item}", ""}})
    EXPECT_EQ(problem(output, error), "") << error;
}

TEST(Array, ItemsThatNameTheSameFileInSeveralWaysAreRefused) {
  for (const char* item : {"x//a", "x/./a"})
    EXPECT_THAT(whyNotOutput(over({"x/a", item}), "/logs/{item}"), HasSubstr("takes in the item of task 1"))
        << item;
}

TEST(Array, ItsListIsBoundedWithTheJob) {
  std::vector<std::string> items(2'000, std::string(600, 'x'));
  EXPECT_THAT(checkJob(over(std::move(items)), false).error().message, HasSubstr("items: take 12"));
}

}  // namespace tarcil::array_test
