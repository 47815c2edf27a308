// What the namespace's init tells the shim: a page that both share, complete when init has ended.
#pragma once

#include <cstdint>

#include "shim/error_text.h"
#include "shim/sys.h"
#include "shim/text.h"

namespace tarcil {

// Microseconds since 1970.
inline uint64_t wallMicroseconds() {
  timespec now{};
  sys::call(SYS_clock_gettime, CLOCK_REALTIME, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000 + static_cast<uint64_t>(now.tv_nsec) / 1'000;
}

struct Report {
  enum class Phase : int {
    kPreparing,  // the command has not been executed
    kFailed,     // and never will be: `problem` says why
    kStarted,    // executed, or as good as that: it becomes kFailed where the execution fails
    kEnded,      // `waitStatus` says how
  };

  Phase phase = Phase::kPreparing;
  int waitStatus = 0;
  // With kFailed: what a Unix shell would return, 127 or 126, where the job asked for what is not there;
  // else 0.
  int exitCode = 0;
  uint64_t started = 0;
  uint64_t ended = 0;
  bool leaseEnded = false;  // init has ended the task for it
  Text<2048> problem;

  // "cannot WHAT 'NAME': reason", and there is no way back. `result`: of the system call that failed, an
  // error number with its sign changed.
  void fail(const char* what, const char* name, long result) {
    phase = Phase::kFailed;
    problem.clear();
    problem << "cannot " << what;
    if (name != nullptr) problem << " '" << name << "'";
    problem << ": " << Failure{result};
  }
  void fail(const char* what, long result) { fail(what, nullptr, result); }
};

}  // namespace tarcil
