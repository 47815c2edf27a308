#include "monitor/pressure/cgroup_reader.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "monitor/logic/pressure/cgroup_files.h"

namespace tarcil {
namespace {

bool isThere(const std::string& directory, const char* file) {
  return !directory.empty() && ::access((directory + file).c_str(), R_OK) == 0;
}

// False where the blkio controller is not there, or does not count on each of the disks.
bool startsCounting(const std::string& blkio, const std::vector<std::string>& disks) {
  constexpr const char* kNoLimit = " 4611686018427387904";  // bytes per second
  if (!isThere(blkio, "/blkio.throttle.io_service_bytes_recursive")) return false;
  return std::all_of(disks.begin(), disks.end(), [&blkio](const std::string& disk) {
    std::ofstream limit(blkio + "/blkio.throttle.read_bps_device");
    limit << disk << kNoLimit << std::flush;
    return limit.good();
  });
}

}  // namespace

CgroupReader::CgroupReader(const CgroupDirectories& from, const std::vector<std::string>& disks)
    : cpu_(isThere(from.unified, "/cpu.stat")        ? Version::kV2
           : isThere(from.cpuacct, "/cpuacct.usage") ? Version::kV1
                                                     : Version::kNone),
      memory_(isThere(from.memory, "/memory.usage_in_bytes") ? Version::kV1
              : isThere(from.unified, "/memory.current")     ? Version::kV2
                                                             : Version::kNone),
      disks_(startsCounting(from.blkio, disks)   ? Version::kV1
             : isThere(from.unified, "/io.stat") ? Version::kV2
                                                 : Version::kNone),
      cpuFile_(cpu_ == Version::kV2 ? from.unified + "/cpu.stat" : from.cpuacct + "/cpuacct.usage"),
      memoryUsed_(memory_ == Version::kV2 ? from.unified + "/memory.current"
                                          : from.memory + "/memory.usage_in_bytes"),
      memoryStat_((memory_ == Version::kV2 ? from.unified : from.memory) + "/memory.stat"),
      diskFile_(disks_ == Version::kV2 ? from.unified + "/io.stat"
                                       : from.blkio + "/blkio.throttle.io_service_bytes_recursive") {}

void CgroupReader::read(CgroupCounters& counters) {
  if (cpu_ == Version::kNone) {
    counters.cpuMicros = notFound("the tasks' CPU time is not known: no cgroup v2 and no cpuacct");
  } else if (const auto text = cpuFile_.read(); !text) {
    counters.cpuMicros = counters.throttledMicros = text.error();
  } else {
    const KernelFile file{cpuFile_.path(), *text};
    counters.cpuMicros = cpu_ == Version::kV2 ? parseCpuStat(file) : parseCpuacctUsage(file);
    if (cpu_ == Version::kV2) counters.throttledMicros = parseThrottled(file);
  }
  if (cpu_ != Version::kV2) counters.throttledMicros = notFound("nothing throttles tasks on cgroup v1");

  const auto noMemory = [&counters](const Error& reason) {
    counters.memory = reason;
    counters.faults = reason;
  };
  if (memory_ == Version::kNone) {
    noMemory(notFound("the tasks' memory is not known: no memory controller"));
  } else if (const auto used = memoryUsed_.read(); !used) {
    noMemory(used.error());
  } else if (const auto stat = memoryStat_.read(); !stat) {
    noMemory(stat.error());
  } else {
    const bool isV2 = memory_ == Version::kV2;
    const KernelFile usedFile{memoryUsed_.path(), *used}, statFile{memoryStat_.path(), *stat};
    counters.memory = isV2 ? parseMemoryV2(usedFile, statFile) : parseMemoryV1(usedFile, statFile);
    counters.faults = isV2 ? parseFaultsV2(statFile) : parseFaultsV1(statFile);
  }

  if (disks_ == Version::kNone) {
    counters.disks = notFound("the tasks' disk traffic is not known: no io or blkio controller");
  } else if (const auto text = diskFile_.read(); !text) {
    counters.disks = text.error();
  } else {
    const KernelFile file{diskFile_.path(), *text};
    counters.disks = disks_ == Version::kV2 ? parseIoStat(file) : parseBlkio(file);
  }
}

}  // namespace tarcil
