#include "monitor/container/task_view.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "tests/support/scratch_folder.h"

namespace tarcil::task_view_test {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

TEST(TaskView, HasPathsWithoutLinksAndNoneBelowAnother) {
  const ScratchFolder folder;
  folder.write("data/tasks/1", "");
  folder.write("sets/large/1", "");
  std::filesystem::create_symlink(folder.at("sets"), folder.at("link"));
  ContainerOptions options;
  options.dataDirectory = folder.at("data");
  options.shares = {folder.at("link/large"), folder.at("sets"), folder.at("not-there")};
  options.hidden = {folder.at("data/tasks")};
  const TaskView view = taskViewOf(options);
  EXPECT_THAT(view.shares, Contains(folder.at("sets")));
  EXPECT_THAT(view.shares, Not(Contains(HasSubstr("large"))));
  EXPECT_THAT(view.shares, Not(Contains(HasSubstr("not-there"))));
  EXPECT_EQ(view.hidden, std::vector{folder.at("data")});
}

TEST(TaskView, HasTheNumbersOfDevicesThatAreShared) {
  ContainerOptions options;
  options.shares = {"/dev/full"};
  EXPECT_EQ(taskViewOf(options).devices, (std::vector<DeviceNumber>{{false, 1, 7}}));
}

TEST(TaskView, RefusesPathsThatTellNothing) {
  EXPECT_TRUE(checkViewPaths({"/var/tmp", "/dev/null"}).ok());
  EXPECT_THAT(checkViewPaths({"var/tmp"}).error().message, HasSubstr("is no path that starts with /"));
  EXPECT_THAT(checkViewPaths({"/var/tmp/../../dev"}).error().message,
              HasSubstr("each task has one of its own for"));
  EXPECT_THAT(checkViewPaths({"/no-such-folder"}).error().message,
              HasSubstr("cannot be found on this machine"));
  EXPECT_THAT(checkViewPaths(std::vector<std::string>(kMaxViewOptions + 1, "/var/tmp")).error().message,
              HasSubstr("more than 32 times"));
}

}  // namespace tarcil::task_view_test
