#include "env/clock.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

namespace tarcil::clock_test {

using namespace std::chrono_literals;

// A machine that has slept cannot be had at will: a time namespace in which the clock that runs on meanwhile
// is ahead stands for it.
TEST(SystemClock, RunsOnWhileTheMachineSleeps) {
  const MonotonicTime before = systemClock().now().steady;
  enum Answer : int { kRanOn, kStoodStill, kNoTimeNamespace };
  const pid_t child = ::fork();
  if (child == 0) {
    if (::unshare(CLONE_NEWTIME) != 0) ::_exit(kNoTimeNamespace);
    std::ofstream offsets("/proc/self/timens_offsets");
    if (!(offsets << "boottime 3600 0" << std::flush)) ::_exit(kNoTimeNamespace);
    const pid_t inside = ::fork();  // only children are in it
    if (inside == 0) ::_exit(systemClock().now().steady - before > 59min ? kRanOn : kStoodStill);
    int status = 0;
    ::waitpid(inside, &status, 0);
    ::_exit(WEXITSTATUS(status));
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WEXITSTATUS(status) == kNoTimeNamespace) GTEST_SKIP() << "no time namespace can be made here";
  EXPECT_EQ(WEXITSTATUS(status), kRanOn);
}

}  // namespace tarcil::clock_test
