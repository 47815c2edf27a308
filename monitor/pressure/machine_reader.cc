#include "monitor/pressure/machine_reader.h"

#include <net/if.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "monitor/logic/pressure/machine_files.h"

namespace tarcil {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> namesIn(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

std::string firstWord(const std::string& file) {
  std::string word;
  std::ifstream(file) >> word;
  return word;
}

template <typename Parse>
auto parsed(KeptFile& file, Parse parse) -> decltype(parse(KernelFile{})) {
  const auto text = file.read();
  if (!text) return text.error();
  return parse(KernelFile{file.path(), *text});
}

std::set<std::string> namesOf(const std::vector<NetworkInterface>& interfaces) {
  std::set<std::string> names;
  for (const NetworkInterface& interface : interfaces) names.insert(interface.name);
  return names;
}

bool isPhysical(const std::string& folder) {
  std::error_code error;
  return fs::exists(folder + "/device", error);
}

}  // namespace

std::optional<NetworkInterface> interfaceNamed(const std::string& sys, const std::string& name) {
  const std::string folder = sys + "/class/net/" + name;
  const uint64_t index =
      numberIn(firstWord(folder + "/ifindex")).value_or(uint64_t{::if_nametoindex(name.c_str())});
  if (index == 0 || index > UINT32_MAX) return std::nullopt;
  // In megabits; a negative number, or an error at reading, where nobody knows.
  const double megabits = static_cast<double>(numberIn(firstWord(folder + "/speed")).value_or(0));
  return NetworkInterface{name, static_cast<uint32_t>(index), megabits * 1e6 / 8};
}

std::vector<NetworkInterface> physicalInterfaces(const std::string& sys) {
  std::vector<NetworkInterface> interfaces;
  for (const std::string& name : namesIn(sys + "/class/net")) {
    if (!isPhysical(sys + "/class/net/" + name)) continue;
    if (auto interface = interfaceNamed(sys, name)) interfaces.push_back(std::move(*interface));
  }
  return interfaces;
}

std::map<std::string, std::string> physicalDisks(const std::string& sys) {
  std::map<std::string, std::string> disks;
  for (const std::string& name : namesIn(sys + "/block")) {
    if (isPhysical(sys + "/block/" + name)) disks.emplace(name, firstWord(sys + "/block/" + name + "/dev"));
  }
  return disks;
}

std::optional<std::string> diskNamed(const std::string& sys, const std::string& name) {
  std::string number = firstWord(sys + "/block/" + name + "/dev");
  if (number.empty()) return std::nullopt;
  return number;
}

uint64_t lastLevelCacheBytes(const std::string& sys) {
  uint64_t bytes = 0, highest = 0;
  std::set<std::string> counted;  // a cache stands below each core that uses it
  for (const std::string& core : namesIn(sys + "/devices/system/cpu")) {
    const std::string caches = sys + "/devices/system/cpu/" + core + "/cache";
    for (const std::string& index : namesIn(caches)) {
      const std::string folder = caches + "/" + index;
      const uint64_t level = numberIn(firstWord(folder + "/level")).value_or(0);
      std::string size = firstWord(folder + "/size");
      if (level < highest || !size.ends_with('K')) continue;
      size.pop_back();
      if (level > highest) {
        highest = level;
        bytes = 0;
        counted.clear();
      }
      if (counted.insert(firstWord(folder + "/shared_cpu_list")).second) {
        bytes += numberIn(size).value_or(0) * 1024;
      }
    }
  }
  return bytes;
}

MachineReader::MachineReader(const MachinePaths& paths, const std::set<uint32_t>& cores,
                             const std::map<std::string, std::string>& disks,
                             const std::vector<NetworkInterface>& interfaces)
    : cores_(cores),
      disks_(disks),
      interfaces_(namesOf(interfaces)),
      stat_(paths.proc + "/stat"),
      meminfo_(paths.proc + "/meminfo"),
      vmstat_(paths.proc + "/vmstat"),
      diskstats_(paths.proc + "/diskstats"),
      netDev_(paths.proc + "/net/dev"),
      cpuStall_(paths.proc + "/pressure/cpu"),
      memoryStall_(paths.proc + "/pressure/memory"),
      ioStall_(paths.proc + "/pressure/io") {}

void MachineReader::read(MachineCounters& counters) {
  counters.cpu = parsed(stat_, [this](const KernelFile& file) { return parseStat(file, cores_); });
  counters.memory = parsed(meminfo_, parseMeminfo);
  counters.paging = parsed(vmstat_, parseVmstat);
  if (disks_.empty()) {
    counters.disks = notFound("this machine has no physical disk");
  } else {
    counters.disks = parsed(diskstats_, [this](const KernelFile& f) { return parseDiskstats(f, disks_); });
  }
  if (interfaces_.empty()) {
    counters.network = notFound("this machine has no physical network interface");
  } else {
    counters.network = parsed(netDev_, [this](const KernelFile& f) { return parseNetDev(f, interfaces_); });
  }
  counters.cpuStall = parsed(cpuStall_, parseStalls);
  counters.memoryStall = parsed(memoryStall_, parseStalls);
  counters.ioStall = parsed(ioStall_, parseStalls);
}

}  // namespace tarcil
