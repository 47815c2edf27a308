#include "env/machine.h"

#include <sched.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <set>

namespace tarcil {

std::vector<uint32_t> coresOfThisMachine() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<uint32_t> cores;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return {0};
  for (uint32_t core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  }
  return cores;
}

Result<std::vector<uint32_t>> coresToUse(const std::vector<uint32_t>& asked) {
  std::vector<uint32_t> present = coresOfThisMachine();
  if (asked.empty()) return present;
  std::set<uint32_t> used;
  for (const uint32_t core : asked) {
    if (std::find(present.begin(), present.end(), core) == present.end()) {
      return invalid("--cores: this machine has no core " + std::to_string(core) +
                     " to use; `nproc` counts them");
    }
    if (!used.insert(core).second) return invalid("--cores: " + std::to_string(core) + " is there twice");
  }
  return asked;
}

uint64_t memoryOfThisMachine() {
  return static_cast<uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

std::optional<uint64_t> freeDiskBytes(const std::string& folder) {
  struct statvfs disk {};
  if (::statvfs(folder.c_str(), &disk) != 0) return std::nullopt;
  return uint64_t{disk.f_bavail} * disk.f_frsize;
}

}  // namespace tarcil
