// Kernels as processes.
#include "classifier/kernels/press.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>

namespace tarcil::press_test {

using testing::ElementsAre;
using testing::HasSubstr;

PressPlan planOf(Resource resource) {
  PressPlan plan;
  plan.kernel.resource = resource;
  plan.kernel.machine = readMachine();
  plan.cores = {plan.kernel.machine.cores.front()};
  return plan;
}

// Until more has been done than now; the test's own time limit is the only one.
void waitForWork(const Press& press) {
  const double before = press.done().work;
  while (press.done().work <= before) ::usleep(100);
}

bool isAsleep(pid_t pid) {
  for (const auto& task : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task")) {
    std::ifstream file(task.path() / "stat");
    std::string line;
    std::getline(file, line);
    if (line[line.rfind(')') + 2] != 'S') return false;
  }
  return true;
}

TEST(Press, WorksWhileItsDialIsUpAndSleepsWhileItIsDown) {
  auto press = Press::start(planOf(Resource::kCore));
  ASSERT_TRUE(press) << press.error().message;
  ASSERT_TRUE(press->set(99).ok());
  waitForWork(*press);
  ASSERT_TRUE(press->set(0).ok());
  const double before = press->done().work;
  while (!isAsleep(press->pid())) ::usleep(100);
  EXPECT_EQ(press->done().work, before);
  ASSERT_TRUE(press->set(50).ok());
  waitForWork(*press);
}

// By name: a sanitizer has threads of its own.
std::set<std::string> pressingThreads(const Press& press) {
  std::set<std::string> names;
  for (const auto& task :
       std::filesystem::directory_iterator("/proc/" + std::to_string(press.pid()) + "/task")) {
    std::ifstream file(task.path() / "comm");
    std::string name;
    std::getline(file, name);
    if (name.starts_with("press-")) names.insert(name);
  }
  return names;
}

TEST(Press, HasAThreadOnEachCoreButForDisksAndMemory) {
  PressPlan plan = planOf(Resource::kCore);
  plan.cores = {plan.cores[0], plan.cores[0], plan.cores[0]};
  auto core = Press::start(plan);
  ASSERT_TRUE(core && core->set(1).ok());
  EXPECT_THAT(pressingThreads(*core), ElementsAre("press-0-core", "press-1-core", "press-2-core"));
  plan.kernel.resource = Resource::kMemoryCapacity;
  auto memory = Press::start(plan);
  ASSERT_TRUE(memory && memory->set(1).ok());
  EXPECT_THAT(pressingThreads(*memory), ElementsAre("press-0-memory_"));
}

TEST(Press, IsGoneWhenItsHandleIs) {
  pid_t pid = 0;
  {
    auto press = Press::start(planOf(Resource::kCore));
    ASSERT_TRUE(press && press->set(99).ok());
    pid = press->pid();
    EXPECT_EQ(::kill(pid, 0), 0);
  }
  EXPECT_EQ(::kill(pid, 0), -1);
}

TEST(Press, DiesWithWhoeverStartedIt) {
  ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0);  // so that the orphan comes to us
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t owner = ::fork();
  if (owner == 0) {
    auto press = Press::start(planOf(Resource::kCore));
    const pid_t pid = press && press->set(10).ok() ? press->pid() : -1;
    [[maybe_unused]] const ssize_t written = ::write(ends[1], &pid, sizeof pid);
    ::pause();
  }
  pid_t pid = -1;
  ASSERT_EQ(::read(ends[0], &pid, sizeof pid), static_cast<ssize_t>(sizeof pid));
  ASSERT_GT(pid, 0);
  ::kill(owner, SIGKILL);
  int status = 0;
  EXPECT_EQ(::waitpid(owner, &status, 0), owner);
  EXPECT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

TEST(Press, SaysWhatWentWrong) {
  PressPlan plan = planOf(Resource::kDiskBandwidth);
  plan.kernel.scratch = "/nonexistent";
  auto press = Press::start(plan);
  ASSERT_TRUE(press) << press.error().message;
  const Status status = press->set(10);
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, HasSubstr("disk_bandwidth"));
  EXPECT_THAT(status.error().message, HasSubstr("/nonexistent"));
}

TEST(Press, ThatIsKilledIsNoticed) {
  auto press = Press::start(planOf(Resource::kCore));
  ASSERT_TRUE(press && press->set(1).ok());
  ::kill(press->pid(), SIGKILL);
  EXPECT_THAT(press->set(99).error().message, HasSubstr("died"));
}

}  // namespace tarcil::press_test
