// Starts a program and hears what it says: for tests of executables. No shell in between.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tarcil {

using Environment = std::map<std::string, std::string>;

struct ProcessResult {
  int exitCode = -1;  // -1 where a signal ended it
  int signal = 0;
  std::string out, err;
};

class Process final {
 public:
  // argv[0] is the program's path. The environment holds what is given and nothing else. Throws where it
  // cannot be started.
  Process(const std::vector<std::string>& argv, const Environment& environment);
  ~Process();  // kills it if it still runs
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // Reads until `text` has appeared on stdout or stderr; false where it ended before.
  bool waitFor(std::string_view text);
  void signal(int number);
  pid_t pid() const { return pid_; }
  // What it wrote to stdout, as far as it was read.
  const std::string& saidSoFar() const { return result_.out; }
  // Nobody reads its stdout from here on.
  void closeStdout();
  // Until it has ended and all is read.
  ProcessResult finish();

 private:
  // Waits for one piece of output; false where both streams are at their end.
  bool readSome();

  pid_t pid_ = -1;
  int fds_[2] = {-1, -1};  // its stdout and stderr; -1 once at their end
  ProcessResult result_;
};

ProcessResult runProcess(const std::vector<std::string>& argv, const Environment& environment);

// Sends SIGKILL to a process that need not be a child and returns when it has ended: what it held, its locks
// too, is free then. A signal alone says nothing of when.
void killAndAwaitEnd(pid_t pid);

}  // namespace tarcil
