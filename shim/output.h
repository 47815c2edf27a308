// One stream of the task's output: from a pipe into a file of bounded size.
#pragma once

#include <cstdint>

#include "shim/backlog.h"
#include "shim/output_file.h"
#include "shim/text.h"

namespace tarcil {

// The file appears with the first byte. Of an output longer than the limit the newest is kept: what is older
// is given back to the disk, as a hole at the file's beginning, so that a byte stays where it is and a reader
// who follows need not know; but nothing that is still waited for (shim/backlog.h). Where the file system has
// no holes, output beyond the limit is dropped instead. So is what the disk does not take; the task never
// blocks on either, and a last line in the file says that output was dropped (where the disk takes that
// line).
class OutputStream {
 public:
  // Of no pipe: nothing comes.
  OutputStream() = default;

  // `name`: of the file below `directoryFd`. `pipeFd`: non-blocking; owned. `backlog`: of one that is taken
  // as it is written.
  OutputStream(const char* name, int directoryFd, int pipeFd, uint64_t limit, const Backlog& backlog = {})
      : name_(name), directoryFd_(directoryFd), pipeFd_(pipeFd), limit_(limit), backlog_(backlog) {}

  // -1 once every writer is gone.
  int pipeFd() const { return pipeFd_; }

  // The file is there from now on, whether anything comes or not, and processes made later write to it too.
  void openFile();

  // Moves what is in the pipe, at most one buffer full, and into `besides` where there is such a file. False:
  // nothing was there, or nothing ever will be.
  bool pump(OutputFile* besides);

  // Whether pump() is to wait for whoever takes the output, and for how many seconds at most then. Of one
  // that is taken as it is written also while the disk has no room.
  bool isFull(int64_t now) { return cut_.empty() && backlog_.isFull(written_, now, !hasRoom()); }
  // The same where only the disk counts.
  bool lacksRoom(int64_t now) { return cut_.empty() && !hasRoom() && backlog_.isFull(written_, now, true); }
  int64_t secondsLeft(int64_t now) const { return backlog_.secondsLeft(now); }

  // What is before `offset` has been taken.
  void take(uint64_t offset, int64_t now) { backlog_.take(offset, written_, now); }

  // Which output was dropped and why, for people; empty if none was.
  const char* cut() const { return cut_.get(); }
  // Whether what came last is missing, and not what is oldest.
  bool lacksItsEnd() const { return lacksItsEnd_; }

  // Notes in cut() how much of the beginning was dropped, and gives room back that it did not need. Once, at
  // the end.
  void finish();

 private:
  void store(const char* data, uint64_t size);
  bool append(const char* data, uint64_t size);
  bool makeRoom();
  bool dropUpTo(uint64_t end);
  // Whether the disk has room for what comes next; it does for an output that nobody takes, and is not asked.
  bool hasRoom();
  // `failure`: result of the call that failed; 0: the limit.
  void cutHere(long failure);

  const char* name_ = "";
  int directoryFd_ = -1;
  int pipeFd_ = -1;
  int fileFd_ = -1;
  uint64_t written_ = 0;
  uint64_t dropped_ = 0;   // bytes from the beginning that the file does not have any more
  uint64_t reserved_ = 0;  // up to where the disk has given room
  uint64_t limit_ = 0;
  bool lacksItsEnd_ = false;
  Backlog backlog_;
  Text<160> cut_;
};

}  // namespace tarcil
