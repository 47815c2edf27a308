// A file of the job's choice that output goes to besides: output and error of a job file.
#pragma once

#include <cstdint>

#include "shim/text.h"

namespace tarcil {

// Opened and written by the process that moves the output, with the rights of the task's user, and never by
// the shim: a file system of the user's that hangs must not keep it from ending the task. Lies in memory that
// both share.
class OutputFile {
 public:
  // Where a message says why a file cannot be opened.
  using Problem = Text<2048>;

  // Of no path: there is none.
  OutputFile() = default;

  // `field`: of the job file. `path`: absolute, as the server sees it; empty: there is none.
  OutputFile(const char* field, const char* path) : field_(field), path_(path) {}

  const char* path() const { return path_; }
  bool isWanted() const { return *path_ != '\0'; }

  // Opens it, or makes it, to be written at its end by this process: a regular file of a disk, in a folder
  // that is there, with no symbolic link on the way. `isNew`: what it holds is removed. False: `problem` says
  // why.
  bool open(bool isNew, Problem& problem);

  // Requires: open. What the disk does not take is dropped, and all that follows.
  void write(const char* data, uint64_t size);

  // From here on nothing is written, for this reason. The first reason counts.
  void cutHere(const char* reason);

  // How much was written, and why no more, for people; empty if nothing was dropped.
  const char* cut() const { return cut_.get(); }

 private:
  const char* whyNotThis() const;

  const char* field_ = "";
  const char* path_ = "";
  int fd_ = -1;
  uint64_t written_ = 0;
  Text<256> cut_;
};

}  // namespace tarcil
