#include "monitor/pressure/task_reader.h"

#include <unistd.h>

#include "monitor/logic/pressure/cgroup_files.h"
#include "monitor/logic/pressure/machine_files.h"

namespace tarcil {
namespace {

bool canBeRead(const std::string& file) {
  return ::access(file.c_str(), R_OK) == 0;
}

Result<HardwareCounters> countersOf(const std::string& unified, const std::vector<uint32_t>& cores) {
  if (unified.empty()) return notFound("hardware counters cannot be read: no cgroup v2");
  return HardwareCounters::open(linuxPerf(unified), cores);
}

Reading<StallTimes> stallsIn(KeptFile& file) {
  const auto text = file.read();
  if (!text) return text.error();
  return parseStalls({file.path(), *text});
}

}  // namespace

TaskReader::TaskReader(CgroupDirectories task, const std::vector<uint32_t>& cores,
                       const std::vector<uint32_t>& interfaces)
    : limits_(!task.memory.empty() && canBeRead(task.memory + "/memory.limit_in_bytes") ? Version::kV1
              : !task.unified.empty() && canBeRead(task.unified + "/memory.max")        ? Version::kV2
                                                                                        : Version::kNone),
      used_(task, {}),
      limit_(limits_ == Version::kV2 ? task.unified + "/memory.max" : task.memory + "/memory.limit_in_bytes"),
      hits_(limits_ == Version::kV2 ? task.unified + "/memory.events" : task.memory + "/memory.failcnt"),
      oom_(task.memory + "/memory.oom_control"),
      cpuStall_(task.unified + "/cpu.pressure"),
      memoryStall_(task.unified + "/memory.pressure"),
      ioStall_(task.unified + "/io.pressure"),
      stalls_(!task.unified.empty()),
      traffic_(TrafficCounter::open(task.unified, interfaces)),
      hardware_(countersOf(task.unified, cores)) {}

TaskReading TaskReader::read(What what, MonotonicTime now) {
  TaskReading reading;
  reading.when = now;
  TaskCounters& counters = reading.counters;
  used_.read(counters.used);
  counters.used.network = traffic_.ok() ? traffic_->read() : Reading<TransferBytes>(traffic_.error());
  counters.used.hardware = hardware_.ok() ? Reading<HardwareCounts>(hardware_->read())
                                          : Reading<HardwareCounts>(hardware_.error());
  if (what == What::kUse) return reading;
  counters.memoryLimit = readLimit();
  if (!stalls_) {
    counters.cpuStall = counters.memoryStall = counters.ioStall =
        notFound("stalls of a task are counted by cgroup v2 only");
    return reading;
  }
  counters.cpuStall = stallsIn(cpuStall_);
  counters.memoryStall = stallsIn(memoryStall_);
  counters.ioStall = stallsIn(ioStall_);
  return reading;
}

Reading<MemoryLimit> TaskReader::readLimit() {
  if (limits_ == Version::kNone)
    return notFound("the task's memory limit is not known: no memory controller");
  const auto limit = limit_.read();
  if (!limit) return limit.error();
  const auto hits = hits_.read();
  if (!hits) return hits.error();
  const KernelFile limitFile{limit_.path(), *limit}, hitsFile{hits_.path(), *hits};
  if (limits_ == Version::kV2) return parseMemoryLimitV2(limitFile, hitsFile);
  const auto oom = oom_.read();
  if (!oom) return oom.error();
  return parseMemoryLimitV1(limitFile, hitsFile, {oom_.path(), *oom});
}

TaskClock::TaskClock(const CgroupDirectories& task)
    : unified_(!task.unified.empty()),
      file_(unified_ ? task.unified + "/cpu.stat" : task.cpuacct + "/cpuacct.usage") {}

Reading<uint64_t> TaskClock::cpuMicros() {
  const auto text = file_.read();
  if (!text) return text.error();
  const KernelFile file{file_.path(), *text};
  return unified_ ? parseCpuStat(file) : parseCpuacctUsage(file);
}

}  // namespace tarcil
