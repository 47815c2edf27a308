#include "monitor/late/late_starts.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

namespace tarcil {
namespace {

constexpr uint64_t kMicrosPerNumber = 100;
// More than a monitor begins in the time that a clock is set back by.
constexpr uint64_t kFarAbove = uint64_t{1} << 36;

}  // namespace

Result<uint64_t> nextLateStart(const std::string& folder, WallTime now) {
  const std::string path = folder + "/late-binding-start";
  uint64_t last = 0;
  std::ifstream(path) >> last;
  const auto byClock = static_cast<uint64_t>(now.time_since_epoch().count()) / kMicrosPerNumber;
  const uint64_t next = byClock > last ? byClock : last + kFarAbove;
  std::ofstream out(path + ".new");
  out << next << std::endl;
  out.close();
  if (!out || ::rename((path + ".new").c_str(), path.c_str()) != 0) {
    return invalid(path + ": cannot be written: " + strerror(errno) + "; choose a writable --data folder");
  }
  return next;
}

}  // namespace tarcil
