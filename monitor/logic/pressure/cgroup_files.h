// The files of a cgroup of either version that tell what is used in it. Pure, as machine_files.h.
#pragma once

#include "monitor/logic/pressure/counters.h"
#include "monitor/logic/pressure/kernel_text.h"

namespace tarcil {

// v1 cpuacct.usage: nanoseconds in the file, microseconds here.
Result<uint64_t> parseCpuacctUsage(const KernelFile& file);
// v2 cpu.stat: there without the cpu controller too.
Result<uint64_t> parseCpuStat(const KernelFile& file);

// v1 memory.usage_in_bytes and memory.stat, whose lines "total_..." include what is below.
Result<CgroupMemory> parseMemoryV1(const KernelFile& usage, const KernelFile& stat);
// v2 memory.current and memory.stat, both of all that is below.
Result<CgroupMemory> parseMemoryV2(const KernelFile& current, const KernelFile& stat);

// v1 memory.stat (lines "total_...") and v2 memory.stat.
Result<FaultCounts> parseFaultsV1(const KernelFile& stat);
Result<FaultCounts> parseFaultsV2(const KernelFile& stat);

// v2 cpu.stat: time for which the cgroup was held back for having used up its quota, in microseconds.
// kNotFound where the cpu controller is not on there.
Result<uint64_t> parseThrottled(const KernelFile& file);

// v1 memory.limit_in_bytes, memory.failcnt and memory.oom_control; oom_kill is 0 on kernels that do not count
// it. v2 memory.max and memory.events.
Result<MemoryLimit> parseMemoryLimitV1(const KernelFile& limit, const KernelFile& hits,
                                       const KernelFile& oom);
Result<MemoryLimit> parseMemoryLimitV2(const KernelFile& limit, const KernelFile& events);

// v1 blkio.throttle.io_service_bytes_recursive. Only what a task reads, and writes past the page cache: the
// kernel writes its other pages out on its own account.
Result<std::map<Device, TransferBytes>> parseBlkio(const KernelFile& file);
// v2 io.stat: all of it.
Result<std::map<Device, TransferBytes>> parseIoStat(const KernelFile& file);

}  // namespace tarcil
