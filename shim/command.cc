#include "shim/command.h"

#include <errno.h>
#include <linux/capability.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tarcil {
namespace {

[[noreturn]] void giveUp(Report& report, const char* what, int error) {
  report.fail(what, error);
  _exit(1);
}

// The raw calls change this process only; the C library's would, in a child of vfork, look at the parent's
// threads.
void becomeUser(const Plan& plan, Report& report) {
  const PlanHeader& header = *plan.header;
  // The bounding set goes first, while there is still the right to change it; what is beyond the kernel's
  // last capability answers EINVAL.
  for (int capability = 0; prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) == 0; ++capability) {
  }
  if (syscall(SYS_setgroups, header.groups, plan.groups) != 0) giveUp(report, "set the user's groups", errno);
  if (syscall(SYS_setresgid, header.gid, header.gid, header.gid) != 0) {
    giveUp(report, "change to the user's group", errno);
  }
  if (syscall(SYS_setresuid, header.uid, header.uid, header.uid) != 0)
    giveUp(report, "change to the user", errno);
  __user_cap_header_struct version{_LINUX_CAPABILITY_VERSION_3, 0};
  const __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {};
  if (syscall(SYS_capset, &version, none) != 0) giveUp(report, "drop capabilities", errno);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) giveUp(report, "forbid new privileges", errno);
}

// As execvp does it: looks through `path`, goes on after a folder that does not have the file, and remembers
// that one had it without the right to execute it. Returns the error that says most.
int executeFromPath(const Plan& plan) {
  const char* file = plan.arguments[0];
  if (strchr(file, '/') != nullptr || *file == '\0') {
    execve(file, plan.arguments, plan.variables);
    return errno;
  }
  int error = ENOENT;
  for (const char* folder = plan.searchPath;;) {
    const char* end = strchrnul(folder, ':');
    char name[4096];
    const size_t length = static_cast<size_t>(end - folder);
    if (length + 1 + strlen(file) < sizeof name) {
      memcpy(name, folder, length);
      name[length] = '/';
      strcpy(name + length + (length == 0 ? 0 : 1), file);  // an empty entry is the working directory
      execve(name, plan.arguments, plan.variables);
      if (errno == EACCES) {
        error = EACCES;
      } else if (errno != ENOENT && errno != ENOTDIR) {
        return errno;
      }
    }
    if (*end == '\0') return error;
    folder = end + 1;
  }
}

}  // namespace

void executeCommand(const Plan& plan, int outFd, int errFd, Report& report) {
  setsid();
  if (dup2(outFd, 1) < 0 || dup2(errFd, 2) < 0) giveUp(report, "connect the command's output", errno);
  becomeUser(plan, report);
  if (*plan.workDirectory != '\0' && chdir(plan.workDirectory) != 0) {
    report.fail("enter the working directory", plan.workDirectory, errno);
    report.problem << " (workdir of the job; it must exist on the server and be open to the task's user)";
    _exit(1);
  }
  syscall(SYS_close_range, 3u, ~0u, 0u);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);

  const int error = executeFromPath(plan);
  report.fail("execute", plan.arguments[0], error);
  report.exitCode = error == ENOENT || error == ENOTDIR ? 127 : 126;
  report.problem << " (first word of command";
  if (strchr(plan.arguments[0], '/') == nullptr) report.problem << "; PATH was " << plan.searchPath;
  report.problem << ")";
  _exit(1);
}

}  // namespace tarcil
