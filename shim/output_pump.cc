#include "shim/output_pump.h"

#include <linux/capability.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "shim/cgroups.h"
#include "shim/sys.h"

namespace tarcil {
namespace {

constexpr const char* kNotWritten = "what writes it was ended or could not be started";
constexpr const char* kNoAnswer = "its disk does not answer";

bool areSame(const char* a, const char* b) {
  while (*a != '\0' && *a == *b) ++a, ++b;
  return *a == *b;
}

// The rights to files that the task's user has, for this process. It stays root's, so that no process of the
// user can touch it. 0, or the failed call's result.
long takeRightsOfUser(const Plan& plan) {
  const PlanHeader& header = *plan.header;
  const long grouped = sys::call(SYS_setgroups, header.groups, plan.groups);
  if (grouped < 0) return grouped;
  sys::call(SYS_setfsgid, header.gid);
  sys::call(SYS_setfsuid, header.uid);
  // Such a call says only who it was before; no id is -1.
  const bool changed = sys::call(SYS_setfsgid, -1) == static_cast<long>(header.gid) &&
                       sys::call(SYS_setfsuid, -1) == static_cast<long>(header.uid);
  if (!changed) return -EPERM;
  __user_cap_header_struct version{_LINUX_CAPABILITY_VERSION_3, 0};
  const __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {};
  return sys::call(SYS_capset, &version, none);
}

// Seconds after which a full stream is looked at again: the disk may have room by then.
constexpr int64_t kLook = 1;

int64_t monotonicSeconds() {
  timespec now{};
  sys::call(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
  return now.tv_sec;
}

}  // namespace

int OutputPump::openNews(int directory) {
  // That of a directory that had another task before is as good.
  sys::call(SYS_mknodat, directory, kTakenFifo, S_IFIFO | 0600, 0);
  const long opened = sys::openAt(directory, kTakenFifo, O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
  return opened < 0 ? -1 : static_cast<int>(opened);
}

OutputFile* OutputPump::fileOf(int i) const {
  if (!shared_.files[i].isWanted()) return nullptr;
  return shared_.files + (areSame(shared_.files[0].path(), shared_.files[i].path()) ? 0 : i);
}

bool OutputPump::openFiles() {
  if (!writesFiles()) return true;
  Report& report = shared_.report;
  int opened[2];
  const long made = sys::call(SYS_pipe2, opened, O_CLOEXEC);
  if (made < 0) {
    report.fail("make a pipe", made);
    return false;
  }
  const bool started = startProcess(opened[1]);
  sys::close(opened[1]);
  pollfd news{opened[0], POLLIN, 0};
  timespec most{plan_.header->fileSeconds, 0};
  char word = 0;
  const bool answered = started && sys::call(SYS_ppoll, &news, 1, &most, 0, 0) == 1;
  const bool isOpen = answered && sys::read(opened[0], &word, 1) == 1;
  sys::close(opened[0]);
  if (isOpen) return true;
  const bool isSilent = started && !answered;
  if (isSilent) {
    sys::call(SYS_kill, process_, SIGKILL);
    process_ = -1;  // it ends when its disk lets it
  }
  if (report.phase == Report::Phase::kFailed) return false;
  report.phase = Report::Phase::kFailed;
  report.exitCode = isSilent ? 126 : 0;
  report.problem << "cannot open the files of output and error of the job: "
                 << (isSilent ? kNoAnswer : kNotWritten);
  return false;
}

void OutputPump::pump() {
  if (mayMoveHere()) {
    ++ownReads_;
  } else if (startProcess(-1)) {
    return;
  }
  for (int i = 0; i < kStreams; ++i) moveHere(i);
}

bool OutputPump::mayMoveHere() {
  const int64_t now = monotonicSeconds();
  const bool isFull = shared_.streams[0].isFull(now) || shared_.streams[1].isFull(now);
  return ownReads_ < kOwnReads && !writesFiles() && !isFull;
}

bool OutputPump::startProcess(int opened) {
  for (int i = 0; i < kStreams; ++i) shared_.streams[i].openFile();
  long pid = cloneIntoCgroup(plan_, 0);
  const bool isBornInside = pid >= 0;
  // A task that has as many processes as it may have cannot have one born among them, but moved to them.
  if (!isBornInside) pid = sys::call(SYS_clone, SIGCHLD, 0, 0, 0, 0);
  if (pid == 0) {
    enterOutputLimits(plan_, isBornInside);
    run(opened);
  }
  process_ = pid;
  return pid > 0;
}

// Ends when the shim has closed the lifeline, or is gone.
void OutputPump::run(int opened) {
  sys::close(kLockFd);
  sys::close(lifelineWriter_);
  if (writesFiles()) becomeWriter(opened >= 0);
  if (opened >= 0) {
    sys::write(opened, "", 1);
    sys::close(opened);
  }
  for (;;) move();
}

// What there is now, or comes next.
void OutputPump::move() {
  const int64_t now = monotonicSeconds();
  pollfd fds[2 + kStreams] = {{lifeline_, 0, 0}, {news_, POLLIN, 0}};
  timespec most{};
  bool isBounded = false;
  for (int i = 0; i < kStreams; ++i) {
    OutputStream& stream = shared_.streams[i];
    const bool isFull = stream.isFull(now);
    fds[2 + i] = {isFull ? -1 : stream.pipeFd(), POLLIN, 0};
    if (!isFull) continue;
    // The disk may have room before anybody takes any.
    const int64_t left = stream.secondsLeft(now) < kLook ? stream.secondsLeft(now) : kLook;
    if (!isBounded || left < most.tv_sec) most.tv_sec = left;
    isBounded = true;
  }
  if (sys::call(SYS_ppoll, fds, 2 + kStreams, isBounded ? &most : nullptr, 0, 0) < 0) return;
  if (fds[1].revents != 0) readNews();
  for (int i = 0; i < kStreams; ++i) {
    if (fds[2 + i].revents != 0) shared_.streams[i].pump(fileOf(i));
  }
  if (fds[0].revents == 0) return;
  for (int i = 0; i < kStreams; ++i) {
    do {
      awaitRoom(shared_.streams[i]);
    } while (shared_.streams[i].pump(fileOf(i)));
  }
  sys::exit(0);
}

void OutputPump::awaitRoom(OutputStream& stream) {
  while (stream.lacksRoom(monotonicSeconds())) {
    pollfd news{news_, POLLIN, 0};
    const timespec most{kLook, 0};
    if (sys::call(SYS_ppoll, &news, 1, &most, 0, 0) > 0) readNews();
  }
}

void OutputPump::readNews() {
  OutputTaken taken;
  while (sys::read(news_, &taken, sizeof taken) == sizeof taken) {
    if (taken.stream < kStreams) shared_.streams[taken.stream].take(taken.offset, monotonicSeconds());
  }
}

// Opens the files. Where the first process cannot, the task does not start; a later one goes on without.
void OutputPump::becomeWriter(bool isFirst) {
  const long taken = takeRightsOfUser(plan_);
  if (taken < 0 && isFirst) shared_.report.fail("take the rights of the task's user", taken);
  if (taken < 0) sys::exit(1);
  sys::call(SYS_umask, 022);
  for (int i = 0; i < kStreams; ++i) {
    OutputFile* const file = fileOf(i);
    OutputFile::Problem problem;
    if (file != shared_.files + i || file->open(isFirst, problem)) continue;
    if (!isFirst) {
      file->cutHere(kNotWritten);
      continue;
    }
    Report& report = shared_.report;
    report.phase = Report::Phase::kFailed;
    report.exitCode = 126;
    report.problem << problem.get() << "; " << plan_.fileRemedy;
    sys::exit(1);
  }
}

bool OutputPump::moveHere(int i) {
  const bool moved = shared_.streams[i].pump(nullptr);
  if (OutputFile* const file = fileOf(i); moved && file != nullptr) file->cutHere(kNotWritten);
  return moved;
}

// One that writes to no disk but the monitor's is waited for, however long that takes.
void OutputPump::awaitProcess() {
  const sys::SignalMask child = sys::maskOf(SIGCHLD);
  const timespec most{plan_.header->fileSeconds, 0};
  while (sys::call(SYS_wait4, process_, 0, writesFiles() ? WNOHANG : 0, 0) == 0) {
    if (sys::call(SYS_rt_sigtimedwait, &child, 0, &most, sizeof child) > 0) continue;
    sys::call(SYS_kill, process_, SIGKILL);
    for (int i = 0; i < kStreams; ++i) {
      if (OutputFile* const file = fileOf(i)) file->cutHere(kNoAnswer);
    }
    return;
  }
}

void OutputPump::finish() {
  sys::close(lifelineWriter_);
  if (process_ > 0) awaitProcess();
  for (int i = 0; i < kStreams; ++i) {
    while (moveHere(i)) {
    }
    shared_.streams[i].finish();
  }
}

}  // namespace tarcil
