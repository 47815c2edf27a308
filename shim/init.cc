#include "shim/init.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shim/cgroups.h"
#include "shim/command.h"

namespace tarcil {
namespace {

// Ends this process, and so the namespace, when the shim ends. The kernel's signal does it; the pipe is for a
// shim that ended before the signal was asked for.
void dieWithShim(const InitDescriptors& fds) {
  close(kLockFd);
  close(fds.lifelineWriter);
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  pollfd lifeline{fds.lifeline, POLLIN, 0};
  if (poll(&lifeline, 1, 0) != 0) _exit(1);
}

bool setAffinity(const Plan& plan, Report& report) {
  const auto& affinity = plan.header->affinity;
  uint64_t any = 0;
  for (const uint64_t word : affinity) any |= word;
  if (any == 0 || syscall(SYS_sched_setaffinity, 0, sizeof affinity, affinity) == 0) return true;
  report.fail("keep the task on its cores", errno);
  return false;
}

bool mountOver(const char* type, const char* point, unsigned long flags, const char* options,
               Report& report) {
  if (mount(type, point, type, flags, options) == 0) return true;
  report.fail("mount", point, errno);
  return false;
}

// Mounts of the host still arrive, none of the task's leave. /proc shows the namespace's processes; shared
// memory ends with the task.
bool setUpMounts(const Plan& plan, Report& report) {
  if (mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0) {
    report.fail("make the mounts private", errno);
    return false;
  }
  if (!mountOver("proc", "/proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr, report)) return false;
  if (access("/dev/shm", F_OK) == 0 &&
      !mountOver("tmpfs", "/dev/shm", MS_NOSUID | MS_NODEV, "mode=1777", report)) {
    return false;
  }
  Text<4096> work;
  work << plan.taskDirectory << "/work";
  const bool bound = *plan.workPoint != '\0';
  if (bound && mount(work.get(), plan.workPoint, nullptr, MS_BIND, nullptr) != 0) {
    report.fail("mount the working directory on", plan.workPoint, errno);
    return false;
  }
  if (chdir(bound ? plan.workPoint : work.get()) == 0) return true;
  report.fail("enter the task's private directory", errno);
  return false;
}

// From here on the task counts as started, whatever happens to this process.
bool writeStarted(const InitDescriptors& fds, Report& report) {
  report.started = wallMicroseconds();
  Text<32> line;
  line << report.started << "\n";
  if (pwrite(fds.record, line.get(), line.size(), 0) >= 0 &&
      renameat(fds.taskDirectory, "exit.new", fds.taskDirectory, "started") == 0) {
    return true;
  }
  report.fail("write 'started' into the task's directory", errno);
  return false;
}

// The command's process id, or -1. vfork: the command is executed, or has failed to be, when it returns.
pid_t spawnCommand(const Plan& plan, const InitDescriptors& fds, Report& report) {
  const pid_t command = vfork();
  if (command == 0) executeCommand(plan, fds.out, fds.err, report);
  if (command < 0) report.fail("make the command's process", errno);
  return report.phase == Report::Phase::kFailed ? -1 : command;
}

void tellMonitor(const Plan& plan, const Report& report) {
  Text<64> line;
  line << plan.header->allocation << " " << report.started << "\n";
  // A monitor that is gone does not read it; its successor looks for `started`.
  if (write(kStatusFd, line.get(), line.size()) < 0) return;
}

[[noreturn]] void watchCommand(pid_t command, Report& report) {
  sigset_t wanted;
  sigemptyset(&wanted);
  sigaddset(&wanted, SIGCHLD);
  sigaddset(&wanted, kRequestSignal);
  for (;;) {
    siginfo_t info{};
    const int signal = sigwaitinfo(&wanted, &info);
    if (signal == kRequestSignal) kill(command, info.si_value.sival_int);
    if (signal != SIGCHLD) continue;
    int status = 0;
    for (pid_t ended; (ended = waitpid(-1, &status, WNOHANG)) > 0;) {
      if (ended != command) continue;
      report.waitStatus = status;
      report.ended = wallMicroseconds();
      report.phase = Report::Phase::kEnded;
      _exit(0);
    }
  }
}

}  // namespace

void runInit(const Plan& plan, const InitDescriptors& fds, Report& report) {
  dieWithShim(fds);
  umask(022);
  if (!joinCgroups(plan, report) || !setAffinity(plan, report) || !setUpMounts(plan, report) ||
      !writeStarted(fds, report)) {
    _exit(1);
  }
  const pid_t command = spawnCommand(plan, fds, report);
  if (command < 0) _exit(1);
  report.phase = Report::Phase::kStarted;
  tellMonitor(plan, report);
  close(fds.out);
  close(fds.err);
  close(kStatusFd);
  watchCommand(command, report);
}

}  // namespace tarcil
