#include "env/failpoint.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace tarcil {
namespace {

struct Armed {
  std::string name;
  bool throws = false;
  std::atomic<long> passes{1};  // how often it is still reached, the killing time included
};

Armed& armed() {
  static Armed* const armed = [] {
    auto* result = new Armed;  // lives as long as the process, so that exit handlers may still get here
    const char* text = std::getenv("TARCIL_FAILPOINT");
    if (text == nullptr) return result;
    result->name = text;
    if (const auto colon = result->name.rfind(':'); colon != std::string::npos) {
      result->passes = std::strtol(result->name.c_str() + colon + 1, nullptr, 10);
      result->name.resize(colon);
    }
    result->throws = result->name.ends_with('!');
    if (result->throws) result->name.pop_back();
    return result;
  }();
  return *armed;
}

}  // namespace

void failpoint(const char* name) {
  Armed& point = armed();
  if (point.name != name || point.passes.fetch_sub(1) != 1) return;
  if (point.throws) throw std::runtime_error(std::string("failpoint ") + name);
  ::kill(::getpid(), SIGKILL);
  ::pause();
}

}  // namespace tarcil
