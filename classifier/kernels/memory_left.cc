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

// The names that a version of cgroups has for what is asked here.
struct MemoryFiles {
  const char* limit;
  const char* used;
  const char* cache;  // entry of memory.stat
};
constexpr MemoryFiles kVersion1 = {"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"};
constexpr MemoryFiles kVersion2 = {"memory.max", "memory.current", "inactive_file"};

// Calls visit(folder, files) for each cgroup that bounds this process' memory, of either version.
template <typename Visit>
void forEachCgroup(const MemoryPaths& paths, Visit visit) {
  const auto climb = [&visit](const std::string& root, std::string group, const MemoryFiles& files) {
    while (true) {
      visit(root + group, files);
      if (group.empty() || group == "/") return;
      group.resize(group.rfind('/'));
    }
  };
  std::ifstream groups(paths.proc + "/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1),
                      group = line.substr(second + 1);
    if (controllers.empty()) {
      for (const char* root : {"", "/unified"}) climb(paths.cgroups + root, group, kVersion2);
    } else if (("," + controllers + ",").find(",memory,") != std::string::npos) {
      climb(paths.cgroups + "/memory", group, kVersion1);
    }
  }
}

}  // namespace

uint64_t memoryLeft(const MemoryPaths& paths) {
  uint64_t left = entryOf(paths.proc + "/meminfo", "MemAvailable:") << 10;
  forEachCgroup(paths, [&left](const std::string& folder, const MemoryFiles& files) {
    const auto limit = numberIn(folder + "/" + files.limit), used = numberIn(folder + "/" + files.used);
    if (!limit || !used) return;
    const uint64_t hard = *used - std::min(*used, entryOf(folder + "/memory.stat", files.cache));
    left = std::min(left, *limit - std::min(*limit, hard));
  });
  return left;
}

uint64_t memoryInAll(const MemoryPaths& paths) {
  uint64_t all = entryOf(paths.proc + "/meminfo", "MemTotal:") << 10;
  forEachCgroup(paths, [&all](const std::string& folder, const MemoryFiles& files) {
    if (const auto limit = numberIn(folder + "/" + files.limit)) all = std::min(all, *limit);
  });
  return all;
}

}  // namespace tarcil
