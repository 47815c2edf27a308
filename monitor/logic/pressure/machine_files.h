// The files in /proc that tell of a server as a whole. Pure: text in, values or an error with its place out.
#pragma once

#include <set>
#include <string>

#include "monitor/logic/pressure/counters.h"
#include "monitor/logic/pressure/kernel_text.h"

namespace tarcil {

// /proc/stat: of these cores; empty: of all. A core that the file does not have is an error.
Result<CpuTimes> parseStat(const KernelFile& file, const std::set<uint32_t>& cores);

Result<MemoryUse> parseMeminfo(const KernelFile& file);

Result<PagingCounts> parseVmstat(const KernelFile& file);

// /proc/diskstats: of the devices of these names (the keys); one that is not there is left out (it was
// taken away).
Result<std::map<Device, DiskCounts>> parseDiskstats(const KernelFile& file,
                                                    const std::map<std::string, std::string>& names);

// /proc/net/dev: of the interfaces of these names together; one that is not there counts nothing.
Result<TransferBytes> parseNetDev(const KernelFile& file, const std::set<std::string>& names);

// /proc/pressure/cpu, memory, io, and the files *.pressure of a cgroup. Old kernels have no line "full" for
// cpu: 0.
Result<StallTimes> parseStalls(const KernelFile& file);

}  // namespace tarcil
