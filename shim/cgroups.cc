#include "shim/cgroups.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

namespace tarcil {
namespace {

// 0, or errno.
int writeValue(const char* file, const char* value) {
  const int fd = open(file, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return errno;
  const int error = write(fd, value, strlen(value)) < 0 ? errno : 0;
  close(fd);
  return error;
}

}  // namespace

bool makeCgroups(const Plan& plan, Report& report) {
  for (uint32_t i = 0; i < plan.header->directories; ++i) {
    if (mkdir(plan.directories[i], 0755) == 0 || errno == EEXIST) continue;
    report.fail("make the cgroup", plan.directories[i], errno);
    return false;
  }
  for (uint32_t i = 0; i < plan.header->settings; ++i) {
    const int error = writeValue(plan.settings[i].file, plan.settings[i].value);
    if (error == 0) continue;
    report.fail("set the limit", plan.settings[i].file, error);
    report.problem << " (value " << plan.settings[i].value << ")";
    return false;
  }
  return true;
}

bool joinCgroups(const Plan& plan, Report& report) {
  for (uint32_t i = 0; i < plan.header->joins; ++i) {
    const int error = writeValue(plan.joins[i], "0");
    if (error == 0) continue;
    report.fail("join the cgroup", plan.joins[i], error);
    return false;
  }
  return true;
}

uint64_t oomKills(const Plan& plan) {
  if (*plan.oomFile == '\0') return 0;
  const int fd = open(plan.oomFile, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  char text[512];
  const ssize_t size = read(fd, text + 1, sizeof text - 2);
  close(fd);
  if (size <= 0) return 0;
  // A line of its own: v1 has "oom_kill_disable" before it, v2 "oom" and "oom_group_kill" around it.
  text[0] = '\n';
  text[size + 1] = '\0';
  const char* line = strstr(text, "\noom_kill ");
  return line == nullptr ? 0 : strtoull(line + strlen("\noom_kill "), nullptr, 10);
}

void removeCgroups(const Plan& plan) {
  for (uint32_t i = plan.header->directories; i-- > 0;) {
    // The last process may still be leaving its cgroup when its exit is already seen; what is left after that
    // is swept by the monitor.
    const timespec pause{0, 1'000'000};
    for (int tries = 0; rmdir(plan.directories[i]) != 0 && errno == EBUSY && tries < 50; ++tries) {
      nanosleep(&pause, nullptr);
    }
  }
}

}  // namespace tarcil
