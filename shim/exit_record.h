// The file `exit`: how the task ended, in lines "key value", the last of them "complete".
//   cause exited|never-started|lost|shut-down    code N    signal N    oom 0|1    started US    ended US
//   peak BYTES    cpu US    cut TEXT    problem TEXT
// The shim writes lost where the lease has ended; the monitor does for a task of an earlier boot. shut-down:
// the machine asked everybody to end. `cut` and `problem` may be missing; times are microseconds since 1970,
// 0 for never.
#pragma once

#include "shim/cgroups.h"
#include "shim/output.h"
#include "shim/report.h"

namespace tarcil {

class ExitRecord {
 public:
  // Takes the record's room on the disk, so that a disk that the task fills does not keep its end from being
  // written. False: there is no room, or the directory cannot be written to.
  bool reserve(int directoryFd);

  // For the namespace's init, which writes the time of the start into it and renames it to `started`.
  int descriptor() const { return fileFd_; }

  // What the task ended of, beside itself.
  struct Ends {
    bool oom = false;
    bool lease = false;
    bool shutDown = false;
  };
  // Appears whole or not at all.
  void write(const Report& report, Ends ends, const TaskUse& use, const OutputStream* streams,
             const OutputFile* files, int streamCount);

 private:
  int directoryFd_ = -1;
  int fileFd_ = -1;
};

}  // namespace tarcil
