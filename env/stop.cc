#include "env/stop.h"

#include <cstdlib>
#include <string>

#include "core/base/failure.h"
#include "env/messages.h"

namespace tarcil {

void stopProcess(const char* what, const kj::Exception& why) {
  say(std::string(what) + " failed: " + kj::str(why).cStr());
  say("the process ends, since it could only go on half alive; nothing that was answered is lost");
  std::_Exit(kExitFailed);
}

}  // namespace tarcil
