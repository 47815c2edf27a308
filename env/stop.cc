#include "env/stop.h"

#include <cstdio>
#include <cstdlib>
#include <new>

#include "core/base/failure.h"
#include "env/messages.h"

namespace tarcil {
namespace {

// Made beforehand, since there is no memory when they are needed; never destroyed, since that may be at the
// very end.
std::string& lastWords() {
  static std::string& words = *new std::string;
  return words;
}

[[noreturn]] void endWithLastWords() {
  (void)std::fwrite(lastWords().data(), 1, lastWords().size(), stderr);
  std::_Exit(kExitFailed);
}

}  // namespace

void stopProcess(const char* what, const kj::Exception& why) {
  say(std::string(what) + " failed: " + kj::str(why).cStr());
  say("the process ends, since it could only go on half alive; nothing that was answered is lost");
  std::_Exit(kExitFailed);
}

void stopWithoutMemory(const std::string& name) {
  lastWords() = "tarcil: " + name +
                ": no memory is left (ulimit -v, or the machine's); the process ends, and nothing that was "
                "answered is lost\n";
  std::set_new_handler(endWithLastWords);
}

}  // namespace tarcil
