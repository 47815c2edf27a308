#include "classifier/kernels/machine.h"

#include <sched.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif

#include <algorithm>
#include <charconv>
#include <fstream>

#include "classifier/kernels/memory_left.h"

namespace tarcil {
namespace {

constexpr uint64_t kTypicalTlbEntries = 1536;
constexpr int kMaxCores = 4096;

std::string firstLine(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// What stands behind "key<spaces>:" or "key:" in the first line that begins so.
std::string valueOf(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const size_t value = line.find_first_not_of(" \t:", key.size());
    return value == std::string::npos ? "" : line.substr(value);
  }
  return "";
}

std::string coreFolder(const std::string& sys, int core) {
  return sys + "/devices/system/cpu/cpu" + std::to_string(core);
}

std::vector<int> allowedCores() {
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return {};
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  }
  return cores;
}

// The caches of a core. The last level counts as such only where more than one physical core shares it, or no
// lower one is there.
void readCaches(const std::string& sys, Machine& machine) {
  for (int index = 0; index < 8; ++index) {
    const std::string cache = coreFolder(sys, machine.cores.front()) + "/cache/index" + std::to_string(index);
    const std::string level = firstLine(cache + "/level"), type = firstLine(cache + "/type");
    const uint64_t bytes = bytesIn(firstLine(cache + "/size"));
    if (level == "1") (type == "Instruction" ? machine.l1iBytes : machine.l1dBytes) = bytes;
    if (level == "2") machine.l2Bytes = bytes;
    if (level == "3") machine.llcBytes = bytes;
  }
}

// Entries of the second-level TLB for data, as the processor says; 0 where it does not.
uint64_t processorsTlbEntries() {
#ifdef __x86_64__
  unsigned a = 0, b = 0, c = 0, d = 0;
  uint64_t most = 0;
  // Intel: leaf 0x18 lists the address translation caches: ways in b, sets in c, type in d.
  for (unsigned sub = 0; sub < 16 && __get_cpuid_count(0x18, sub, &a, &b, &c, &d); ++sub) {
    const bool isThere = (d & 0x1f) != 0, ofSmallPages = (b & 1) != 0, ofData = (d & 0x1f) != 2;
    if (isThere && ofSmallPages && ofData) most = std::max<uint64_t>(most, uint64_t{b >> 16} * c);
  }
  // AMD: leaf 0x80000006, second-level TLB for data of small pages.
  if (most == 0 && __get_cpuid(0x80000006, &a, &b, &c, &d)) most = (b >> 16) & 0xfff;
  return most;
#else
  return 0;
#endif
}

}  // namespace

std::vector<int> coresIn(const std::string& list) {
  std::vector<int> cores;
  const char* at = list.data();
  const char* const end = at + list.size();
  while (at < end) {
    int first = 0;
    auto read = std::from_chars(at, end, first);
    if (read.ec != std::errc() || first < 0) return {};
    int last = first;
    if (read.ptr < end && *read.ptr == '-') read = std::from_chars(read.ptr + 1, end, last);
    if (read.ec != std::errc() || last < first || last >= kMaxCores) return {};
    for (int core = first; core <= last; ++core) cores.push_back(core);
    if (read.ptr < end && *read.ptr != ',') return {};
    at = read.ptr + 1;
  }
  return cores;
}

uint64_t bytesIn(const std::string& size) {
  uint64_t bytes = 0;
  const auto [unit, error] = std::from_chars(size.data(), size.data() + size.size(), bytes);
  if (error != std::errc()) return 0;
  const std::string rest(unit, size.data() + size.size());
  const int shift = rest.empty()                                   ? 0
                    : rest == "K" || rest == "kB" || rest == " kB" ? 10
                    : rest == "M"                                  ? 20
                                                                   : -1;
  return shift < 0 || bytes > (uint64_t{1} << 40) ? 0 : bytes << shift;
}

std::vector<int> siblingsOf(int core, const std::string& sys) {
  std::vector<int> threads = coresIn(firstLine(coreFolder(sys, core) + "/topology/thread_siblings_list"));
  std::erase(threads, core);
  return threads;
}

Machine readMachine(const std::string& sys, const std::string& proc) {
  Machine machine;
  machine.processor = valueOf(proc + "/cpuinfo", "model name");
  machine.cores = allowedCores();
  if (machine.cores.empty()) machine.cores = {0};
  for (int core : machine.cores) {
    const std::vector<int> siblings = siblingsOf(core, sys);
    const bool isFirst = std::none_of(siblings.begin(), siblings.end(), [&machine, core](int other) {
      return other < core &&
             std::find(machine.cores.begin(), machine.cores.end(), other) != machine.cores.end();
    });
    if (isFirst) machine.firstThreads.push_back(core);
  }
  readCaches(sys, machine);
  machine.tlbEntries = processorsTlbEntries();
  if (machine.tlbEntries == 0) machine.tlbEntries = kTypicalTlbEntries;
  machine.memoryBytes = memoryInAll({.proc = proc, .cgroups = sys + "/fs/cgroup"});
  return machine;
}

}  // namespace tarcil
