// tarcil-shim: stands over one task, so that the monitor may die and come back without losing it.
//
//   monitor -> shim -> init (process 1 of the task's namespaces) -> command
//
// The shim lives outside the task's namespaces and cgroups. It makes the cgroups, owns the output pipes,
// passes signals on, and writes how the task ended. It holds the task's lock as long as it lives; the task
// lives no longer than it. Static, without a heap, stdio and exceptions: its exec is part of every task's
// start. shim/plan.h is its interface.
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <initializer_list>
#include <new>

#include "shim/cgroups.h"
#include "shim/exit_record.h"
#include "shim/init.h"
#include "shim/output.h"
#include "shim/plan_reader.h"

namespace tarcil {
namespace {

int blockSignals() {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  sigset_t watched;
  sigemptyset(&watched);
  for (const int signal : {SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT, kRequestSignal})
    sigaddset(&watched, signal);
  return signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
}

// So that a later monitor finds this process; the lock on the file proves that the number is still its own.
void writePid() {
  Text<24> line;
  line << static_cast<uint64_t>(getpid()) << "\n";
  if (pwrite(kLockFd, line.get(), line.size(), 0) < 0) _exit(kShimNoRecord);
}

// init's pid, or -1 and `report` says why.
pid_t startInit(const Plan& plan, const InitDescriptors& fds, Report& report) {
  clone_args args{};
  args.flags = CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC;
  args.exit_signal = SIGCHLD;
  int cgroup = -1;
  if (*plan.birthCgroup != '\0') {
    cgroup = open(plan.birthCgroup, O_PATH | O_DIRECTORY | O_CLOEXEC);
    args.flags |= CLONE_INTO_CGROUP;
    args.cgroup = static_cast<uint64_t>(cgroup);
  }
  const long pid = syscall(SYS_clone3, &args, sizeof args);
  if (pid == 0) runInit(plan, fds, report);
  if (pid < 0) {
    report.fail("make the task's namespaces", errno);
    if (errno == EPERM) report.problem << " (a monitor that runs tasks needs root)";
  }
  if (cgroup >= 0) close(cgroup);
  return static_cast<pid_t>(pid);
}

// A request carries its signal as the value; a plain signal, such as that of a machine that shuts down, is
// meant as it is.
void passOn(const signalfd_siginfo& info, pid_t init) {
  const bool request = info.ssi_signo == static_cast<uint32_t>(kRequestSignal);
  const int signal = request ? info.ssi_int : static_cast<int>(info.ssi_signo);
  if (signal == SIGKILL) {
    kill(init, SIGKILL);
    return;
  }
  sigval value{};
  value.sival_int = signal;
  sigqueue(init, kRequestSignal, value);
}

// Until init has ended, and with it every process of the task.
void superviseTask(pid_t init, int signalFd, OutputStream (&streams)[2]) {
  for (bool running = true; running;) {
    pollfd fds[3] = {
        {signalFd, POLLIN, 0}, {streams[0].pipeFd(), POLLIN, 0}, {streams[1].pipeFd(), POLLIN, 0}};
    if (poll(fds, 3, -1) < 0) continue;
    for (int i = 0; i < 2; ++i) {
      if (fds[i + 1].revents != 0) streams[i].pump();
    }
    signalfd_siginfo info{};
    while (fds[0].revents != 0 && read(signalFd, &info, sizeof info) == sizeof info) {
      if (info.ssi_signo != SIGCHLD) {
        passOn(info, init);
      } else if (waitpid(init, nullptr, WNOHANG) == init) {
        running = false;
        break;
      }
    }
  }
  // What is in the pipes, but no longer: a process outside that got hold of a write end must not keep the
  // task alive.
  for (OutputStream& stream : streams) {
    while (stream.pump()) {
    }
  }
}

struct Pipe {
  int reader = -1;
  int writer = -1;
};

bool openPipe(Pipe& pipe) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return false;
  pipe = {ends[0], ends[1]};
  return true;
}

void runTask(const Plan& plan, int directory, int signalFd, ExitRecord& record, Report& report) {
  Pipe out, err, lifeline;
  if (!openPipe(out) || !openPipe(err) || !openPipe(lifeline)) report.fail("make a pipe", errno);
  fcntl(out.reader, F_SETFL, O_NONBLOCK);
  fcntl(err.reader, F_SETFL, O_NONBLOCK);
  OutputStream streams[2] = {{"stdout", directory, out.reader, plan.header->outputLimit},
                             {"stderr", directory, err.reader, plan.header->outputLimit}};
  if (report.phase != Report::Phase::kFailed && makeCgroups(plan, report)) {
    const pid_t init = startInit(
        plan, {directory, record.descriptor(), lifeline.reader, lifeline.writer, out.writer, err.writer},
        report);
    close(out.writer);
    close(err.writer);
    close(kStatusFd);
    if (init > 0) superviseTask(init, signalFd, streams);
  }
  const bool oomKilled = oomKills(plan) > 0;
  removeCgroups(plan);
  record.write(report, oomKilled, streams, 2);
}

int run() {
  const int signalFd = blockSignals();
  writePid();
  for (const int fd : {kPlanFd, kLockFd, kStatusFd}) fcntl(fd, F_SETFD, FD_CLOEXEC);
  Plan plan{};
  if (!readPlan(kPlanFd, plan)) return kShimBadPlan;
  close(kPlanFd);
  if (chdir("/") != 0) return kShimNoRecord;
  const int directory = open(plan.taskDirectory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ExitRecord record;
  if (directory < 0 || !record.reserve(directory)) return kShimNoRecord;
  void* shared = mmap(nullptr, sizeof(Report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return kShimNoRecord;
  runTask(plan, directory, signalFd, record, *new (shared) Report);
  return kShimDone;
}

}  // namespace
}  // namespace tarcil

int main() {
  return tarcil::run();
}
