// The last steps to the command, without the init that takes them and may be killed at any moment.
#include "shim/command.h"

#include <gmock/gmock.h>
#include <sys/mman.h>

#include "monitor/container/shim_plan.h"
#include "monitor/container/task_records.h"
#include "shim/exit_record.h"
#include "tests/monitor/container/container_fixture.h"

namespace tarcil::command_test {

// Executes the command in a process of its own, which alone writes the report; the record of a shim whose
// init says no more than that.
TaskEnd endWithoutInit(const std::vector<std::string>& command, const TaskSetting& setting = {}) {
  const SystemUser root{"root", 0, 0, {0}, "/root", "/bin/sh"};
  const std::string bytes = *encodePlan(taskOf(1, command), root, setting);
  const int planFd = ::memfd_create("plan", MFD_CLOEXEC);
  EXPECT_EQ(::write(planFd, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  Plan plan{};
  EXPECT_TRUE(readPlan(planFd, plan));
  ::close(planFd);
  Report& report = *new (sys::map(sizeof(Report), MAP_SHARED)) Report;
  report.started = 1;
  const int null = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  const pid_t child = ::fork();
  if (child == 0) executeCommand(plan, {null, null}, report);
  ::waitpid(child, nullptr, 0);
  ::close(null);

  TemporaryFolder folder;
  const int directory = ::open(folder.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ExitRecord record;
  EXPECT_TRUE(record.reserve(directory));
  record.write(report, {}, TaskUse{}, nullptr, nullptr, 0);
  ::close(directory);
  return parseExitRecord(textOf(folder.path() + "/exit")).value_or(TaskEnd{});
}

TEST(Command, ThatWasExecutedHasRunThoughItsInitWasKilledBeforeItCouldSaySo) {
  SKIP_WITHOUT_CONTAINERS();
  const TaskEnd end = endWithoutInit({"true"});
  EXPECT_EQ(end.cause, EndCause::kExited);
  EXPECT_EQ(end.signal, SIGKILL);
  EXPECT_EQ(end.started, WallTime(Duration(1)));
}

TEST(Command, ThatCannotBeExecutedHasNotRun) {
  SKIP_WITHOUT_CONTAINERS();
  const TaskEnd end = endWithoutInit({"no-such-program"});
  EXPECT_EQ(end.cause, EndCause::kNeverStarted);
  EXPECT_EQ(end.started, kNever);
  EXPECT_EQ(end.exitCode, 127);
}

TEST(Command, IsNotExecutedWhereTheKernelRefusesTheFilterOfItsSystemCalls) {
  SKIP_WITHOUT_CONTAINERS();
  TaskSetting setting;
  setting.filter = std::string(8, '\xff');  // no instruction
  const TaskEnd end = endWithoutInit({"true"}, setting);
  EXPECT_EQ(end.cause, EndCause::kNeverStarted);
  EXPECT_THAT(end.problem, testing::HasSubstr("cannot limit the command's system calls"));
}

}  // namespace tarcil::command_test
