#include "shim/cgroups.h"

#include <errno.h>
#include <linux/sched.h>

#include "shim/device_filter.h"

namespace tarcil {
namespace {

// 0, or the failed call's result.
long writeValue(const char* file, const char* value) {
  const long fd = sys::open(file, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return fd;
  size_t size = 0;
  while (value[size] != '\0') ++size;
  const long written = sys::write(static_cast<int>(fd), value, size);
  sys::close(static_cast<int>(fd));
  return written < 0 ? written : 0;
}

// The beginning of a file of the kernel; empty where there is none.
class KernelText {
 public:
  explicit KernelText(const char* file) {
    const long fd = *file == '\0' ? -ENOENT : sys::open(file, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    const long size = sys::read(static_cast<int>(fd), text_, sizeof text_ - 1);
    sys::close(static_cast<int>(fd));
    text_[size < 0 ? 0 : size] = '\0';
  }
  const char* get() const { return text_; }

 private:
  char text_[512] = {};
};

// That the text begins with; 0 where there is none.
uint64_t numberAt(const char* text) {
  uint64_t number = 0;
  for (; '0' <= *text && *text <= '9'; ++text) number = number * 10 + static_cast<uint64_t>(*text - '0');
  return number;
}

// The number behind `key` in a text of lines "key number"; 0 if it is not there.
uint64_t numberAfter(const char* text, const char* key) {
  while (*text != '\0') {
    const char* expected = key;
    while (*expected != '\0' && *text == *expected) ++text, ++expected;
    if (*expected == '\0' && *text == ' ') return numberAt(text + 1);
    while (*text != '\0' && *text++ != '\n') {
    }
  }
  return 0;
}

bool denyDevices(const Plan& plan, Report& report) {
  if (plan.header->deviceFilter == 0) return true;
  const long attached = attachDeviceFilter(plan.birthCgroup, plan.deviceFilter, plan.header->deviceFilter);
  if (attached < 0) report.fail("keep the task from devices in the cgroup", plan.birthCgroup, attached);
  return attached >= 0;
}

bool setAffinity(const Plan& plan, Report& report) {
  const auto& affinity = plan.header->affinity;
  uint64_t any = 0;
  for (const uint64_t word : affinity) any |= word;
  if (any == 0) return true;
  const long result = sys::call(SYS_sched_setaffinity, 0, sizeof affinity, affinity);
  if (result < 0) report.fail("keep the task on its cores", result);
  return result >= 0;
}

}  // namespace

bool makeCgroups(const Plan& plan, Report& report) {
  for (uint32_t i = 0; i < plan.header->directories; ++i) {
    const long made = sys::call(SYS_mkdirat, AT_FDCWD, plan.directories[i], 0755);
    if (made == 0 || made == -EEXIST) continue;
    report.fail("make the cgroup", plan.directories[i], made);
    return false;
  }
  for (uint32_t i = 0; i < plan.header->settings; ++i) {
    const long written = writeValue(plan.settings[i].file, plan.settings[i].value);
    if (written == 0) continue;
    report.fail("set the limit", plan.settings[i].file, written);
    report.problem << " (value " << plan.settings[i].value << ")";
    return false;
  }
  return denyDevices(plan, report);
}

long cloneIntoCgroup(const Plan& plan, uint64_t flags) {
  clone_args args{};
  args.flags = flags;
  args.exit_signal = SIGCHLD;
  const bool born = *plan.birthCgroup != '\0';
  const long cgroup = born ? sys::open(plan.birthCgroup, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
  if (born) {
    args.flags |= CLONE_INTO_CGROUP;
    args.cgroup = static_cast<uint64_t>(cgroup);
  }
  const long pid = sys::call(SYS_clone3, &args, sizeof args);
  if (cgroup >= 0) sys::close(static_cast<int>(cgroup));
  return pid;
}

bool enterLimits(const Plan& plan, Report& report) {
  for (uint32_t i = 0; i < plan.header->joins; ++i) {
    const long written = writeValue(plan.joins[i], "0");
    if (written == 0) continue;
    report.fail("join the cgroup", plan.joins[i], written);
    return false;
  }
  return setAffinity(plan, report);
}

void enterOutputLimits(const Plan& plan, bool isBornInside) {
  if (!isBornInside && *plan.birthCgroup != '\0') {
    Text<4096> procs;
    procs << plan.birthCgroup << "/cgroup.procs";
    writeValue(procs.get(), "0");
  }
  // In the order of the plan: where the task is about to be throttled, the monitor finds this process in one
  // of the first, or this process finds the last.
  for (uint32_t i = 0; i < plan.header->outputJoins; ++i) writeValue(plan.outputJoins[i], "0");
  Report unread;
  setAffinity(plan, unread);
}

uint64_t oomKills(const Plan& plan) {
  return numberAfter(KernelText(plan.oomFile).get(), "oom_kill");
}

TaskUse useOf(const Plan& plan) {
  const KernelText peak(plan.peakFile), cpu(plan.cpuFile);
  const bool isNanoseconds = '0' <= *cpu.get() && *cpu.get() <= '9';
  return {numberAt(peak.get()),
          isNanoseconds ? numberAt(cpu.get()) / 1000 : numberAfter(cpu.get(), "usage_usec")};
}

void removeCgroups(const Plan& plan) {
  for (uint32_t i = plan.header->directories; i-- > 0;) {
    // The last process may still be leaving its cgroup when its exit is already seen; what is left after that
    // is swept by the monitor.
    const timespec pause{0, 1'000'000};
    for (int tries = 0; tries < 50; ++tries) {
      if (sys::call(SYS_unlinkat, AT_FDCWD, plan.directories[i], AT_REMOVEDIR) != -EBUSY) break;
      sys::call(SYS_nanosleep, &pause, 0);
    }
  }
}

}  // namespace tarcil
