#include "monitor/container/machine_support.h"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tarcil {

bool hasHardwareCounters() {
  perf_event_attr wanted{};
  wanted.size = sizeof wanted;
  wanted.type = PERF_TYPE_HARDWARE;
  wanted.config = PERF_COUNT_HW_INSTRUCTIONS;
  wanted.disabled = 1;
  const long fd = ::syscall(SYS_perf_event_open, &wanted, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  if (fd < 0) return false;
  ::close(static_cast<int>(fd));
  return true;
}

bool hasResctrl(const std::string& resctrl) {
  return ::access((resctrl + "/schemata").c_str(), F_OK) == 0;
}

}  // namespace tarcil
