// One stream of the task's output: from a pipe into a file, up to a bound.
#pragma once

#include <cstdint>

#include "shim/text.h"

namespace tarcil {

// The file appears with the first byte. Output beyond the limit, or that the disk does not take, is read and
// dropped, so that the task never blocks on it, and a last line in the file says so (where the disk takes
// that line).
class OutputStream {
 public:
  // `name`: of the file below `directoryFd`. `pipeFd`: non-blocking; owned.
  OutputStream(const char* name, int directoryFd, int pipeFd, uint64_t limit)
      : name_(name), directoryFd_(directoryFd), pipeFd_(pipeFd), left_(limit) {}

  // -1 once every writer is gone.
  int pipeFd() const { return pipeFd_; }

  // Moves what is in the pipe, at most one buffer full. False: nothing was there, or nothing ever will be.
  bool pump();

  // Why output was dropped, for people; empty if none was.
  const char* cut() const { return cut_.get(); }

 private:
  void store(const char* data, uint64_t size);
  // `failure`: result of the call that failed; 0: the limit.
  void cutHere(long failure);

  const char* name_;
  int directoryFd_;
  int pipeFd_;
  int fileFd_ = -1;
  uint64_t written_ = 0;
  uint64_t left_;
  Text<160> cut_;
};

}  // namespace tarcil
