#include "shim/output_pump.h"

#include <poll.h>
#include <sys/wait.h>

#include "shim/cgroups.h"
#include "shim/sys.h"

namespace tarcil {

void OutputPump::pump() {
  if (ownReads_ < kOwnReads) {
    ++ownReads_;
  } else if (startProcess()) {
    return;
  }
  for (int i = 0; i < kStreams; ++i) streams_[i].pump();
}

bool OutputPump::startProcess() {
  for (int i = 0; i < kStreams; ++i) streams_[i].openFile();
  long pid = cloneIntoCgroup(plan_, 0);
  const bool isBornInside = pid >= 0;
  // A task that has as many processes as it may have cannot have one born among them, but moved to them.
  if (!isBornInside) pid = sys::call(SYS_clone, SIGCHLD, 0, 0, 0, 0);
  if (pid == 0) {
    enterOutputLimits(plan_, isBornInside);
    run();
  }
  process_ = pid;
  return pid > 0;
}

// Ends when the shim has closed the lifeline, or is gone.
void OutputPump::run() {
  sys::close(kLockFd);
  sys::close(lifelineWriter_);
  for (;;) {
    pollfd fds[1 + kStreams] = {
        {lifeline_, 0, 0}, {streams_[0].pipeFd(), POLLIN, 0}, {streams_[1].pipeFd(), POLLIN, 0}};
    if (sys::call(SYS_ppoll, fds, 1 + kStreams, 0, 0, 0) < 0) continue;
    for (int i = 0; i < kStreams; ++i) {
      if (fds[1 + i].revents != 0) streams_[i].pump();
    }
    if (fds[0].revents == 0) continue;
    empty();
    sys::exit(0);
  }
}

void OutputPump::empty() {
  for (int i = 0; i < kStreams; ++i) {
    while (streams_[i].pump()) {
    }
  }
}

void OutputPump::finish() {
  sys::close(lifelineWriter_);
  if (process_ > 0) sys::call(SYS_wait4, process_, 0, 0, 0);
  empty();
  for (int i = 0; i < kStreams; ++i) streams_[i].finish();
}

}  // namespace tarcil
