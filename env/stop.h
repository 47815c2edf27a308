// The end of a role's process where it could only go on half alive: something failed that nothing makes good,
// such as a timer that would never fire again. Whoever supervises the role starts it again, and it goes on
// from what is on disk or at its peers.
#pragma once

#include <kj/async.h>
#include <kj/exception.h>

#include <string>
#include <utility>

namespace tarcil {

// Says on stderr what failed and why, and ends the process at once with exit code 1, without taking anything
// down.
[[noreturn]] void stopProcess(const char* what, const kj::Exception& why);

// From here on memory that is not to be had ends the process in the same way, with a message that begins with
// `name`: an exception would leave something half done in a process that goes on with it.
void stopWithoutMemory(const std::string& name);

// Runs `act`; what it throws ends the process.
template <typename Act>
void runOrStop(const char* what, Act&& act) {
  KJ_IF_MAYBE (why, kj::runCatchingExceptions(std::forward<Act>(act))) stopProcess(what, *why);
}

// For eagerlyEvaluate(): of what never fails, or whose failure would go unnoticed.
inline auto stopsIfFailed(const char* what) {
  return [what](kj::Exception&& why) { stopProcess(what, why); };
}

// The same for a task set, whose promises handle the failures of calls themselves.
class StopsIfFailed final : public kj::TaskSet::ErrorHandler {
 public:
  explicit StopsIfFailed(const char* what) : what_(what) {}
  void taskFailed(kj::Exception&& why) override { stopProcess(what_, why); }

 private:
  const char* const what_;
};

}  // namespace tarcil
