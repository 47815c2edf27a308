#include "shim/init.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "shim/cgroups.h"
#include "shim/command.h"
#include "shim/lease.h"
#include "shim/mounts.h"

namespace tarcil {
namespace {

// Ends this process, and so the namespace, when the shim ends. The kernel's signal does it; the pipe is for a
// shim that ended before the signal was asked for.
void dieWithShim(const InitDescriptors& fds) {
  sys::close(kLockFd);
  sys::close(fds.lifelineWriter);
  sys::call(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  pollfd lifeline{fds.lifeline, POLLIN, 0};
  const timespec now{};
  if (sys::call(SYS_ppoll, &lifeline, 1, &now, 0, 0) != 0) sys::exit(1);
}

// When the machine's memory runs out the kernel ends tasks before anything else: shim, monitor and what else
// runs on the machine stay.
void goFirst() {
  static constexpr char kScore[] = "100";
  const long file = sys::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  sys::write(static_cast<int>(file), kScore, sizeof kScore - 1);
  sys::close(static_cast<int>(file));
}

// From here on the task counts as started, whatever happens to this process.
bool writeStarted(const InitDescriptors& fds, Report& report) {
  report.started = wallMicroseconds();
  Text<32> line;
  line << report.started << "\n";
  const long written = sys::pwrite(fds.record, line.get(), line.size(), 0);
  const long renamed = written < 0 ? written : sys::rename(fds.taskDirectory, "exit.new", "started");
  if (renamed < 0) report.fail("write 'started' into the task's directory", renamed);
  return renamed >= 0;
}

struct CommandStart {
  const Plan& plan;
  const CommandDescriptors& fds;
  Report& report;
};

void startCommand(void* argument) {
  const auto& start = *static_cast<const CommandStart*>(argument);
  executeCommand(start.plan, start.fds, start.report);
}

// The command's process id, or -1. The command is executed, or has failed to be, when this returns.
int spawnCommand(const Plan& plan, const CommandDescriptors& fds, Report& report) {
  alignas(16) static char stack[64 * 1024];
  CommandStart start{plan, fds, report};
  const long command = sys::spawnSharing(startCommand, &start, stack + sizeof stack);
  if (command < 0) report.fail("make the command's process", command);
  return report.phase == Report::Phase::kFailed ? -1 : static_cast<int>(command);
}

void tellMonitor(const Plan& plan, const Report& report) {
  Text<64> line;
  line << plan.header->allocation << " " << report.started << "\n";
  // A monitor that is gone does not read it; its successor looks for `started`.
  sys::write(kStatusFd, line.get(), line.size());
}

// With this process the kernel ends all others of the namespace.
void endWithLease(Lease& lease, Report& report) {
  if (!lease.hasJustEnded()) return;
  report.leaseEnded = true;
  sys::exit(1);
}

[[noreturn]] void watchCommand(int command, Lease& lease, Report& report) {
  const sys::SignalMask wanted = sys::maskOf(SIGCHLD) | sys::maskOf(SIGALRM) | sys::maskOf(kRequestSignal);
  for (;;) {
    endWithLease(lease, report);
    siginfo_t info{};
    const long signal = sys::call(SYS_rt_sigtimedwait, &wanted, &info, 0, sizeof wanted);
    if (signal == kRequestSignal) sys::call(SYS_kill, command, info.si_value.sival_int);
    if (signal != SIGCHLD) continue;
    int status = 0;
    for (long ended; (ended = sys::call(SYS_wait4, -1, &status, WNOHANG, 0)) > 0;) {
      if (ended != command) continue;
      report.waitStatus = status;
      report.ended = wallMicroseconds();
      report.phase = Report::Phase::kEnded;
      sys::exit(0);
    }
  }
}

}  // namespace

void runInit(const Plan& plan, const InitDescriptors& fds, Report& report) {
  dieWithShim(fds);
  Lease lease(plan.leaseFile);
  goFirst();
  sys::call(SYS_umask, 022);
  CommandDescriptors command{fds.out, fds.err};
  if (!enterLimits(plan, report) || !setUpNetwork(plan, fds.network, report) ||
      !openProgram(plan, command.program, report) || !setUpMounts(plan, report) ||
      !writeStarted(fds, report)) {
    sys::exit(1);
  }
  HostNetwork network = fds.network;
  closeHostNetwork(network);
  endWithLease(lease, report);
  const int pid = spawnCommand(plan, command, report);
  if (pid < 0) sys::exit(1);
  if (command.program >= 0) sys::close(command.program);
  tellMonitor(plan, report);
  sys::close(fds.out);
  sys::close(fds.err);
  sys::close(kStatusFd);
  watchCommand(pid, lease, report);
}

}  // namespace tarcil
