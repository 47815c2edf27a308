// Moves the task's output from its pipes into files, at the task's own cost.
#pragma once

#include "shim/output.h"
#include "shim/plan_reader.h"

namespace tarcil {

// The shim moves the first of it itself, so that a task of few words costs no further process. What follows
// is moved by a child of the shim on the task's cores and in the cgroups that limit and count its processor
// time. What output takes of that is then the task's, and a task that writes faster than its limits allow
// waits at its pipe. The shim itself, which has to end the task, stays outside and is not slowed down by it.
class OutputPump {
 public:
  // Reads that the shim makes itself, of at most a buffer of output: ten milliseconds or so of processor
  // time.
  static constexpr uint32_t kOwnReads = 256;

  static constexpr int kStreams = 2;

  // `streams`: in memory that is shared with processes made later; not owned. `lifeline`, `lifelineWriter`:
  // of a pipe that no other process holds the write end of.
  OutputPump(const Plan& plan, OutputStream* streams, int lifeline, int lifelineWriter)
      : plan_(plan), streams_(streams), lifeline_(lifeline), lifelineWriter_(lifelineWriter) {}

  // Of stream `i`, where pump() is to be called once there is input; -1: never.
  int pipeFd(int i) const { return process_ > 0 ? -1 : streams_[i].pipeFd(); }

  // Moves what is in the pipes, or sees to it that it is moved.
  void pump();

  // This child has been reaped. Another one takes the place of the one that moved the output.
  void noteEnd(long process) {
    if (process == process_) process_ = -1;
  }

  // The task has ended: moves what is in the pipes, but no longer. A process outside that got hold of a write
  // end must not keep the task alive.
  void finish();

 private:
  // False: there can be no further process now.
  bool startProcess();
  [[noreturn]] void run();
  void empty();

  const Plan& plan_;
  OutputStream* const streams_;
  const int lifeline_;
  const int lifelineWriter_;
  uint32_t ownReads_ = 0;
  long process_ = -1;
};

}  // namespace tarcil
