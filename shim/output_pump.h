// Moves the task's output from its pipes into files, at the task's own cost.
#pragma once

#include "shim/output.h"
#include "shim/output_file.h"
#include "shim/plan_reader.h"
#include "shim/report.h"

namespace tarcil {

// The shim moves the first of it itself, so that a task of few words costs no further process. What follows
// is moved by a child of the shim on the task's cores and in the cgroups that limit and count its processor
// time. What output takes of that is then the task's, and a task that writes faster than its limits allow
// waits at its pipe. The shim itself, which has to end the task, stays outside and is not slowed down by it.
//
// Of a streamed task that child, too, waits for whoever takes the output.
//
// Where output goes to files of the job's choice too, a child moves all of it. It has the rights of the
// task's user, and the shim waits for no disk of theirs.
class OutputPump {
 public:
  // Reads that the shim makes itself, of at most a buffer of output: ten milliseconds or so of processor
  // time.
  static constexpr uint32_t kOwnReads = 256;

  static constexpr int kStreams = 2;

  // In memory that is shared with processes made later; not owned.
  struct Shared {
    OutputStream* streams;
    OutputFile* files;  // one for each stream
    Report& report;
  };

  // Where news of what has been taken of a streamed task's output comes from (OutputTaken); -1 where there is
  // no such place.
  static int openNews(int directory);

  // `news`: of openNews(), or -1. `lifeline`, `lifelineWriter`: of a pipe that no other process holds the
  // write end of.
  OutputPump(const Plan& plan, Shared shared, int news, int lifeline, int lifelineWriter)
      : plan_(plan), shared_(shared), news_(news), lifeline_(lifeline), lifelineWriter_(lifelineWriter) {}

  // Opens the files of the job's choice, if there are any. False: the report says why it cannot be done.
  bool openFiles();

  // Of stream `i`, where pump() is to be called once there is input; -1: never.
  int pipeFd(int i) const { return process_ > 0 ? -1 : shared_.streams[i].pipeFd(); }

  // Moves what is in the pipes, or sees to it that it is moved.
  void pump();

  // This child has been reaped. Another one takes the place of the one that moved the output.
  void noteEnd(long process) {
    if (process == process_) process_ = -1;
  }

  // The task has ended, or was not started: moves what is in the pipes, but no longer. A process outside that
  // got hold of a write end must not keep the task alive.
  void finish();

 private:
  bool writesFiles() const { return shared_.files[0].isWanted() || shared_.files[1].isWanted(); }
  // Of stream `i`; null: none.
  OutputFile* fileOf(int i) const;
  // `opened`: where the first such process says that it has opened the files; -1: a later one. False: there
  // can be no further process now.
  bool startProcess(int opened);
  [[noreturn]] void run(int opened);
  void becomeWriter(bool isFirst);
  bool mayMoveHere();
  void readNews();
  void move();
  void awaitRoom(OutputStream& stream);
  void awaitProcess();
  bool moveHere(int i);

  const Plan& plan_;
  const Shared shared_;
  const int news_;
  const int lifeline_;
  const int lifelineWriter_;
  uint32_t ownReads_ = 0;
  long process_ = -1;
};

}  // namespace tarcil
