// Who shares a disk out by the weights of cgroups. The file of a weight is there as soon as the kernel knows
// somebody who reads it; it does something only on the disks that this one serves.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tarcil {

// A file of a cgroup that takes a weight.
struct WeightFile {
  const char* name;
  uint32_t most;          // that it takes
  const char* scheduler;  // of a disk that heeds it; null: io.cost does, whatever the disk's scheduler
};

// In the order in which they are preferred where nothing else decides.
inline constexpr WeightFile kWeightFilesV1[] = {{"blkio.bfq.weight", 1000, "bfq"},
                                                {"blkio.weight", 1000, "cfq"}};
inline constexpr WeightFile kWeightFilesV2[] = {{"io.bfq.weight", 1000, "bfq"},
                                                {"io.weight", 10000, nullptr}};

// The one in force by the text of a disk's queue/scheduler, "none [mq-deadline] bfq"; empty: none is marked.
std::string_view schedulerInForce(std::string_view text);

// Disks, as MAJOR:MINOR, for which io.cost is switched on by the text of the root cgroup's io.cost.qos.
std::set<std::string> disksUnderIoCost(std::string_view text);

// Names of the physical disks below `sys` on which the file's weight does nothing. `ioCost`: the text of
// io.cost.qos, empty where there is none.
std::vector<std::string> disksWithout(const WeightFile& file, const std::string& sys,
                                      std::string_view ioCost);

}  // namespace tarcil
