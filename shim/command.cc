#include "shim/command.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <initializer_list>

namespace tarcil {
namespace {

[[noreturn]] void giveUp(Report& report, const char* what, long result) {
  report.fail(what, result);
  sys::exit(1);
}

constexpr uint64_t bit(int capability) {
  return uint64_t{1} << capability;
}

// What a program needs that makes a container: mounts and devices, files of whoever owns them, and to become
// the task's user without capabilities.
constexpr uint64_t kMakingContainers = bit(CAP_SYS_ADMIN) | bit(CAP_MKNOD) | bit(CAP_CHOWN) |
                                       bit(CAP_FOWNER) | bit(CAP_DAC_OVERRIDE) | bit(CAP_SETUID) |
                                       bit(CAP_SETGID) | bit(CAP_SETPCAP) | bit(CAP_KILL);

// What is beyond the kernel's last capability answers EINVAL.
void keepBounding(uint64_t kept) {
  for (int capability = 0; capability < 64; ++capability) {
    if ((kept & bit(capability)) == 0) sys::call(SYS_prctl, PR_CAPBSET_DROP, capability, 0, 0, 0);
  }
}

// Those of ordinary programs, whatever the monitor has. A task goes before nobody; it may ask for more
// descriptors, and for dumps of memory, as a program in a shell may.
void limitProcesses() {
  struct Limit {
    int resource;
    uint64_t soft, hard;
  };
  for (const Limit& limit :
       {Limit{RLIMIT_RTPRIO, 0, 0}, Limit{RLIMIT_NICE, 0, 0}, Limit{RLIMIT_NOFILE, 1024, RLIM64_INFINITY},
        Limit{RLIMIT_CORE, 0, RLIM64_INFINITY}}) {
    rlimit64 now{};
    if (sys::call(SYS_prlimit64, 0, limit.resource, static_cast<void*>(nullptr), &now) < 0) continue;
    const uint64_t hard = now.rlim_max < limit.hard ? now.rlim_max : limit.hard;
    const rlimit64 wanted{limit.soft < hard ? limit.soft : hard, hard};
    sys::call(SYS_prlimit64, 0, limit.resource, &wanted, static_cast<void*>(nullptr));
  }
}

void becomeUser(const Plan& plan, Report& report) {
  const PlanHeader& header = *plan.header;
  // The bounding set goes first, while there is still the right to change it.
  keepBounding(0);
  const long groups = sys::call(SYS_setgroups, header.groups, plan.groups);
  if (groups < 0) giveUp(report, "set the user's groups", groups);
  const long group = sys::call(SYS_setresgid, header.gid, header.gid, header.gid);
  if (group < 0) giveUp(report, "change to the user's group", group);
  const long user = sys::call(SYS_setresuid, header.uid, header.uid, header.uid);
  if (user < 0) giveUp(report, "change to the user", user);
  __user_cap_header_struct version{_LINUX_CAPABILITY_VERSION_3, 0};
  const __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {};
  const long dropped = sys::call(SYS_capset, &version, none);
  if (dropped < 0) giveUp(report, "drop capabilities", dropped);
  const long forbidden = sys::call(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (forbidden < 0) giveUp(report, "forbid new privileges", forbidden);
}

// The calls of the shim that follow, up to the execution, are among those that the filter lets pass.
void limitSystemCalls(const Plan& plan, Report& report) {
  if (plan.header->filter == 0) return;
  const sock_fprog program{static_cast<unsigned short>(plan.header->filter),
                           static_cast<sock_filter*>(plan.filter)};
  // The filter is no defence against Spectre, so it need not slow the task down as if it were.
  const long limited =
      sys::call(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program);
  if (limited < 0) giveUp(report, "limit the command's system calls", limited);
}

// In place of /dev/null, with the rights of the task's user. Who names a FIFO may not keep the start waiting.
void openInput(const char* file, Report& report) {
  const long opened = sys::open(file, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  struct stat status {};
  const bool isRegular = opened >= 0 && sys::call(SYS_fstat, opened, &status) == 0 && S_ISREG(status.st_mode);
  if (isRegular && sys::call(SYS_dup3, opened, 0, 0) == 0) return;
  report.fail("read", file, opened < 0 ? opened : -EINVAL);
  report.exitCode = 126;
  report.problem << " (input of the job; it must be a regular file there, and the task's user may read it)";
  sys::exit(1);
}

bool hasSlash(const char* text) {
  while (*text != '\0' && *text != '/') ++text;
  return *text == '/';
}

long execute(const char* file, const Plan& plan) {
  return sys::call(SYS_execve, file, plan.arguments, plan.variables);
}

// As execvp does it: looks through PATH, goes on after a folder that does not have the file, and remembers
// that one had it without the right to execute it. Returns the failure that says most.
long executeFromPath(const Plan& plan) {
  const char* file = plan.arguments[0];
  if (hasSlash(file) || *file == '\0') return execute(file, plan);
  long worst = -ENOENT;
  for (const char* folder = plan.searchPath;; ++folder) {
    Text<4096> name;
    for (; *folder != '\0' && *folder != ':'; ++folder) name.add(*folder);
    if (!name.empty()) name << "/";  // an empty entry is the working directory
    name << file;
    const long result = name.full() ? -ENAMETOOLONG : execute(name.get(), plan);
    if (result == -EACCES) {
      worst = result;
    } else if (result != -ENOENT && result != -ENOTDIR && result != -ENAMETOOLONG) {
      return result;
    }
    if (*folder == '\0') return worst;
  }
}

long executeProgram(int program, const Plan& plan) {
  return sys::call(SYS_execveat, program, "", plan.arguments, plan.variables, AT_EMPTY_PATH);
}

// Everything from 3 on but `kept`, which goes with the execution.
void closeAllBut(int kept) {
  if (kept > 3) sys::call(SYS_close_range, 3u, static_cast<unsigned>(kept) - 1, 0u);
  sys::call(SYS_close_range, kept < 3 ? 3u : static_cast<unsigned>(kept) + 1, ~0u, 0u);
}

}  // namespace

bool openProgram(const Plan& plan, int& program, Report& report) {
  if (*plan.program == '\0') return true;
  const long opened = sys::open(plan.program, O_PATH | O_CLOEXEC);
  program = static_cast<int>(opened);
  if (opened < 0) report.fail("find", plan.program, opened);
  return opened >= 0;
}

void executeCommand(const Plan& plan, const CommandDescriptors& fds, Report& report) {
  sys::call(SYS_setsid);
  if (sys::call(SYS_dup3, fds.out, 1, 0) < 0 || sys::call(SYS_dup3, fds.err, 2, 0) < 0) {
    giveUp(report, "connect the command's output", -EMFILE);
  }
  limitProcesses();
  const bool privileged = plan.header->privileges != kNoPrivileges;
  if (privileged) {
    keepBounding(kMakingContainers);
  } else {
    becomeUser(plan, report);
  }
  if (*plan.workDirectory != '\0') {
    const long entered = sys::call(SYS_chdir, plan.workDirectory);
    if (entered < 0) {
      report.fail("enter the working directory", plan.workDirectory, entered);
      report.exitCode = 126;
      report.problem << " (workdir of the job; it must exist on the server and be open to the task's user; "
                        "/tmp is the task's own)";
      sys::exit(1);
    }
  }
  if (*plan.inputFile != '\0') openInput(plan.inputFile, report);
  closeAllBut(fds.program);
  sys::setSignalMask(0);
  if (!privileged) limitSystemCalls(plan, report);

  // Before the execution and not after it: once it has happened, nobody may be left to say so.
  report.phase = Report::Phase::kStarted;
  const long result = fds.program < 0 ? executeFromPath(plan) : executeProgram(fds.program, plan);
  report.fail("execute", fds.program < 0 ? plan.arguments[0] : plan.program, result);
  report.exitCode = result == -ENOENT || result == -ENOTDIR ? 127 : 126;
  report.problem << " (first word of command";
  if (!hasSlash(plan.arguments[0])) report.problem << "; PATH was " << plan.searchPath;
  report.problem << ")";
  sys::exit(1);
}

}  // namespace tarcil
