// What the namespace's init tells the shim: a page that both share, complete when init has ended.
#pragma once

#include <string.h>
#include <time.h>

#include <cstdint>

#include "shim/text.h"

namespace tarcil {

// Microseconds since 1970.
inline uint64_t wallMicroseconds() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000 + static_cast<uint64_t>(now.tv_nsec) / 1'000;
}

struct Report {
  enum class Phase : int {
    kPreparing,  // the command has not been executed
    kFailed,     // and never will be: `problem` says why
    kStarted,    // executed
    kEnded,      // `waitStatus` says how
  };

  Phase phase = Phase::kPreparing;
  int waitStatus = 0;
  int exitCode = 0;  // with kFailed: what a Unix shell would return, 127 or 126; else 0
  uint64_t started = 0;
  uint64_t ended = 0;
  Text<2048> problem;

  // "cannot WHAT: reason", and there is no way back.
  void fail(const char* what, int error) {
    phase = Phase::kFailed;
    problem.clear();
    problem << "cannot " << what << ": " << strerrordesc_np(error);
  }
  void fail(const char* what, const char* name, int error) {
    phase = Phase::kFailed;
    problem.clear();
    problem << "cannot " << what << " '" << name << "': " << strerrordesc_np(error);
  }
};

}  // namespace tarcil
