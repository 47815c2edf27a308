// tarcil-shim: stands over one task, so that the monitor may die and come back without losing it.
//
//   monitor -> shim -> init (process 1 of the task's namespaces) -> command
//
// The shim lives outside the task's namespaces and cgroups. It makes the cgroups, owns the output pipes,
// which a child of it in the task's cgroups empties where much comes out of them (shim/output_pump.h), passes
// signals on, and writes how the task ended. It holds the task's lock as long as it lives; the task lives no
// longer than it. Static, without a heap, stdio and exceptions: its exec is part of every task's start.
// shim/plan.h is its interface.
#include <errno.h>
#include <linux/sched.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

#include <initializer_list>
#include <new>

#include "shim/cgroups.h"
#include "shim/exit_record.h"
#include "shim/init.h"
#include "shim/lease.h"
#include "shim/output_pump.h"
#include "shim/plan_reader.h"
#include "shim/user_map.h"

namespace tarcil {
namespace {

int blockSignals() {
  sys::setSignalMask(~sys::SignalMask{0});
  sys::SignalMask watched = 0;
  for (const int signal : {SIGCHLD, SIGALRM, SIGTERM, SIGINT, SIGHUP, SIGQUIT, kRequestSignal})
    watched |= sys::maskOf(signal);
  return static_cast<int>(sys::call(SYS_signalfd4, -1, &watched, sizeof watched, SFD_CLOEXEC | SFD_NONBLOCK));
}

// So that a later monitor finds this process; the lock on the file proves that the number is still its own.
void writePid() {
  Text<24> line;
  line << static_cast<uint64_t>(sys::call(SYS_getpid)) << "\n";
  if (sys::pwrite(kLockFd, line.get(), line.size(), 0) < 0) sys::exit(kShimNoRecord);
}

// init's pid, or -1 and `report` says why.
int startInit(const Plan& plan, const InitDescriptors& fds, Report& report) {
  UserMap users;
  if (!users.open(plan, report)) return -1;
  uint64_t flags = users.cloneFlags() | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS;
  if (plan.header->network != kHostNetwork) flags |= CLONE_NEWNET;
  const long pid = cloneIntoCgroup(plan, flags);
  if (pid == 0) {
    users.await();
    runInit(plan, fds, report);
  }
  if (pid < 0) report.fail("make the task's namespaces", pid);
  if (pid == -EPERM) report.problem << " (a monitor that runs tasks needs root)";
  if (pid > 0) users.write(static_cast<int>(pid), report);
  return static_cast<int>(pid);
}

// A request carries its signal as the value; a plain signal is meant as it is.
void passOn(const signalfd_siginfo& received, int init) {
  const bool request = received.ssi_signo == static_cast<uint32_t>(kRequestSignal);
  const int signal = request ? received.ssi_int : static_cast<int>(received.ssi_signo);
  if (signal == SIGKILL) {
    sys::call(SYS_kill, init, SIGKILL);
    return;
  }
  siginfo_t info{};
  info.si_signo = kRequestSignal;
  info.si_code = SI_QUEUE;
  info.si_value.sival_int = signal;
  sys::call(SYS_rt_sigqueueinfo, init, kRequestSignal, &info);
}

// Whether init was among those that have ended.
bool reapChildren(int init, OutputPump& output) {
  bool isOver = false;
  for (long ended; (ended = sys::call(SYS_wait4, -1, 0, WNOHANG, 0)) > 0;) {
    output.noteEnd(ended);
    if (ended == init) isOver = true;
  }
  return isOver;
}

// Until init has ended, and with it every process of the task. Whether it was asked to by a plain SIGTERM:
// that is what a machine that shuts down sends to everybody.
bool superviseTask(int init, int signalFd, OutputPump& output, Lease& lease) {
  bool shutDown = false;
  for (bool running = true; running;) {
    if (lease.hasJustEnded()) sys::call(SYS_kill, init, SIGKILL);
    pollfd fds[3] = {{signalFd, POLLIN, 0}, {output.pipeFd(0), POLLIN, 0}, {output.pipeFd(1), POLLIN, 0}};
    if (sys::call(SYS_ppoll, fds, 3, 0, 0, 0) < 0) continue;
    if (fds[1].revents != 0 || fds[2].revents != 0) output.pump();
    signalfd_siginfo info{};
    // Its number may be another's once it has ended.
    while (running && fds[0].revents != 0 && sys::read(signalFd, &info, sizeof info) == sizeof info) {
      if (info.ssi_signo == SIGALRM) continue;  // the lease is looked at again
      shutDown |= info.ssi_signo == SIGTERM;
      if (info.ssi_signo != SIGCHLD) {
        passOn(info, init);
      } else if (reapChildren(init, output)) {
        running = false;
      }
    }
  }
  return shutDown;
}

struct Pipe {
  int reader = -1;
  int writer = -1;
};

// 0, or the failed call's result.
long openPipe(Pipe& pipe) {
  int ends[2];
  const long made = sys::call(SYS_pipe2, ends, O_CLOEXEC);
  if (made == 0) pipe = {ends[0], ends[1]};
  return made;
}

// What the shim and the processes that it makes write in turn.
struct Shared {
  Report report;
  OutputStream streams[OutputPump::kStreams];
  OutputFile files[OutputPump::kStreams];
};

void runTask(const Plan& plan, int directory, int signalFd, ExitRecord& record, Shared& shared) {
  Report& report = shared.report;
  Pipe out, err, lifeline;
  for (Pipe* pipe : {&out, &err, &lifeline}) {
    const long made = openPipe(*pipe);
    if (made < 0) report.fail("make a pipe", made);
  }
  for (const int fd : {out.reader, err.reader}) sys::call(SYS_fcntl, fd, F_SETFL, O_NONBLOCK);
  const uint64_t limit = plan.header->outputLimit;
  const int news = plan.header->readerSeconds > 0 ? OutputPump::openNews(directory) : -1;
  const Backlog backlog = news < 0 ? Backlog() : Backlog(limit, plan.header->readerSeconds);
  shared.streams[0] = {"stdout", directory, out.reader, limit, backlog};
  shared.streams[1] = {"stderr", directory, err.reader, limit, backlog};
  shared.files[0] = {"output", plan.outputFile};
  shared.files[1] = {"error", plan.errorFile};
  OutputPump output(plan, {shared.streams, shared.files, report}, news, lifeline.reader, lifeline.writer);
  Lease lease(plan.leaseFile);
  bool shutDown = false;
  if (report.phase != Report::Phase::kFailed && makeCgroups(plan, report) && output.openFiles()) {
    HostNetwork network;
    const bool reached = openHostNetwork(plan, network, report);
    const int init = reached ? startInit(plan,
                                         {directory, record.descriptor(), lifeline.reader, lifeline.writer,
                                          out.writer, err.writer, network},
                                         report)
                             : -1;
    closeHostNetwork(network);
    if (plan.header->secrets > 0) sys::close(kSecretsFd);
    sys::close(out.writer);
    sys::close(err.writer);
    sys::close(kStatusFd);
    if (init > 0) shutDown = superviseTask(init, signalFd, output, lease);
  }
  output.finish();
  const ExitRecord::Ends why{oomKills(plan) > 0, lease.hasEnded() || report.leaseEnded, shutDown};
  const TaskUse use = useOf(plan);
  removeCgroups(plan);
  record.write(report, why, use, shared.streams, shared.files, OutputPump::kStreams);
}

int run() {
  const int signalFd = blockSignals();
  writePid();
  for (const int fd : {kPlanFd, kLockFd, kStatusFd, kSecretsFd})
    sys::call(SYS_fcntl, fd, F_SETFD, FD_CLOEXEC);
  Plan plan{};
  if (!readPlan(kPlanFd, plan)) return kShimBadPlan;
  sys::close(kPlanFd);
  const long directory = sys::open(plan.taskDirectory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ExitRecord record;
  if (directory < 0 || !record.reserve(static_cast<int>(directory))) return kShimNoRecord;
  void* shared = sys::map(sizeof(Shared), MAP_SHARED);
  if (shared == nullptr || sys::call(SYS_chdir, "/") < 0) return kShimNoRecord;
  runTask(plan, static_cast<int>(directory), signalFd, record, *new (shared) Shared);
  return kShimDone;
}

}  // namespace
}  // namespace tarcil

int main() {
  return tarcil::run();
}
