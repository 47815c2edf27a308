#include "classifier/kernels/memory_left.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>

namespace tarcil {
namespace {

std::optional<uint64_t> numberIn(const std::string& path) {
  uint64_t number = 0;
  if (std::ifstream(path) >> number) return number;
  return std::nullopt;  // also for "max"
}

// The number after `key` in a file of "key number" lines; 0 where there is none.
uint64_t entryOf(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  std::string name;
  for (uint64_t number = 0; file >> name >> number; file.ignore(64, '\n')) {
    if (name == key) return number;
  }
  return 0;
}

// What the limits of this cgroup and those above it leave.
uint64_t leftIn(const std::string& root, std::string group, const char* limitFile, const char* usedFile,
                const char* cacheEntry) {
  uint64_t left = UINT64_MAX;
  while (true) {
    const std::string folder = root + group;
    const auto limit = numberIn(folder + "/" + limitFile), used = numberIn(folder + "/" + usedFile);
    if (limit && used) {
      const uint64_t hard = *used - std::min(*used, entryOf(folder + "/memory.stat", cacheEntry));
      left = std::min(left, *limit - std::min(*limit, hard));
    }
    if (group.empty() || group == "/") return left;
    group.resize(group.rfind('/'));
  }
}

}  // namespace

uint64_t memoryLeft(const MemoryPaths& paths) {
  uint64_t left = entryOf(paths.proc + "/meminfo", "MemAvailable:") << 10;
  std::ifstream groups(paths.proc + "/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1),
                      group = line.substr(second + 1);
    if (controllers.empty()) {
      for (const char* root : {"", "/unified"}) {
        left = std::min(left,
                        leftIn(paths.cgroups + root, group, "memory.max", "memory.current", "inactive_file"));
      }
    } else if (("," + controllers + ",").find(",memory,") != std::string::npos) {
      left = std::min(left, leftIn(paths.cgroups + "/memory", group, "memory.limit_in_bytes",
                                   "memory.usage_in_bytes", "total_inactive_file"));
    }
  }
  return left;
}

}  // namespace tarcil
