// How a command ends: exit codes, and the exception that carries a failure up to main.
#pragma once

#include <exception>
#include <string>

#include "core/base/result.h"

namespace tarcil {

// What `tarcil` exits with; `tarcil run` has its own (commands/run.cc).
enum ExitCode : int {
  kExitDone = 0,
  kExitFailed = 1,     // failed or refused: a failed job under --wait, a refused request
  kExitBadInput = 2,   // arguments or files; nothing was sent
  kExitNoCluster = 3,  // no cluster in reach, or not allowed
  kExitNotStored = 4,  // of a master: a write to its store failed or may have failed
  kExitSignal = 128,   // and the number of the signal that ended it
};

// Thrown anywhere below main; ends the process with `code` after `message` was said on stderr.
class Failure final : public std::exception {
 public:
  Failure(int code, std::string message) : code_(code), message_(std::move(message)) {}

  int code() const { return code_; }
  const std::string& message() const { return message_; }
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  int code_;
  std::string message_;
};

// Arguments, files: whatever was wrong before anything was sent.
inline Failure badInput(std::string message) {
  return {kExitBadInput, std::move(message)};
}

// The exit code for an error that a cluster answered. Invalid too is a refusal then: files and arguments are
// checked before they are sent.
inline int exitCodeOf(ErrorCode code) {
  return code == ErrorCode::kUnavailable || code == ErrorCode::kDenied ? kExitNoCluster : kExitFailed;
}

// The value, or badInput with the error's message. For what is read from files and arguments.
template <typename T>
T requireInput(Result<T> result) {
  if (!result) throw badInput(result.error().message);
  return std::move(*result);
}

}  // namespace tarcil
