#include "monitor/logic/pressure/cgroup_files.h"

#include <algorithm>
#include <array>

namespace tarcil {
namespace {

// "8:16"
std::optional<Device> deviceIn(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto major = numberIn(text.substr(0, colon)), minor = numberIn(text.substr(colon + 1));
  if (!major || !minor || *major > UINT32_MAX || *minor > UINT32_MAX) return std::nullopt;
  return Device{static_cast<uint32_t>(*major), static_cast<uint32_t>(*minor)};
}

Result<CgroupMemory> parseMemory(const KernelFile& used, const KernelFile& stat,
                                 const std::array<std::string_view, 2>& reclaimable,
                                 const std::array<std::string_view, 2>& dirty) {
  const auto bytes = onlyNumber(used);
  if (!bytes) return bytes.error();
  const auto numbers = numbersByKey(stat, {reclaimable[0], reclaimable[1], dirty[0], dirty[1]});
  if (!numbers) return numbers.error();
  const auto sum = [&numbers](const auto& keys) { return numbers->at(keys[0]) + numbers->at(keys[1]); };
  // The two files are read one after the other, so the part may be larger than the whole.
  return CgroupMemory{*bytes, std::min(*bytes, sum(reclaimable)), sum(dirty)};
}

Result<FaultCounts> parseFaults(const KernelFile& stat, std::string_view all, std::string_view major) {
  const auto numbers = numbersByKey(stat, {all, major});
  if (!numbers) return numbers.error();
  return FaultCounts{numbers->at(all), numbers->at(major)};
}

// "No limit" is the largest number of whole pages there.
constexpr uint64_t kNoLimitV1 = uint64_t{1} << 62;

}  // namespace

Result<uint64_t> parseCpuacctUsage(const KernelFile& file) {
  const auto nanoseconds = onlyNumber(file);
  if (!nanoseconds) return nanoseconds.error();
  return *nanoseconds / 1000;
}

Result<uint64_t> parseCpuStat(const KernelFile& file) {
  const auto numbers = numbersByKey(file, {"usage_usec"});
  if (!numbers) return numbers.error();
  return numbers->at("usage_usec");
}

Result<CgroupMemory> parseMemoryV1(const KernelFile& usage, const KernelFile& stat) {
  return parseMemory(usage, stat, {"total_inactive_file", "total_active_file"},
                     {"total_dirty", "total_writeback"});
}

Result<CgroupMemory> parseMemoryV2(const KernelFile& current, const KernelFile& stat) {
  return parseMemory(current, stat, {"inactive_file", "active_file"}, {"file_dirty", "file_writeback"});
}

Result<FaultCounts> parseFaultsV1(const KernelFile& stat) {
  return parseFaults(stat, "total_pgfault", "total_pgmajfault");
}

Result<FaultCounts> parseFaultsV2(const KernelFile& stat) {
  return parseFaults(stat, "pgfault", "pgmajfault");
}

Result<uint64_t> parseThrottled(const KernelFile& file) {
  if (file.text.find("throttled_usec") == std::string_view::npos) {
    return notFound("the cpu controller is not on: nothing can be throttled there");
  }
  const auto numbers = numbersByKey(file, {"throttled_usec"});
  if (!numbers) return numbers.error();
  return numbers->at("throttled_usec");
}

Result<MemoryLimit> parseMemoryLimitV1(const KernelFile& limit, const KernelFile& hits,
                                       const KernelFile& oom) {
  const auto bytes = onlyNumber(limit);
  if (!bytes) return bytes.error();
  const auto count = onlyNumber(hits);
  if (!count) return count.error();
  uint64_t kills = 0;
  if (oom.text.find("oom_kill ") != std::string_view::npos) {
    const auto numbers = numbersByKey(oom, {"oom_kill"});
    if (!numbers) return numbers.error();
    kills = numbers->at("oom_kill");
  }
  return MemoryLimit{*bytes >= kNoLimitV1 ? 0 : *bytes, *count, kills};
}

Result<MemoryLimit> parseMemoryLimitV2(const KernelFile& limit, const KernelFile& events) {
  const bool none = limit.text == "max\n" || limit.text == "max";
  const auto bytes = none ? Result<uint64_t>(uint64_t{0}) : onlyNumber(limit);
  if (!bytes) return bytes.error();
  const auto numbers = numbersByKey(events, {"max", "oom_kill"});
  if (!numbers) return numbers.error();
  return MemoryLimit{*bytes, numbers->at("max"), numbers->at("oom_kill")};
}

Result<std::map<Device, TransferBytes>> parseBlkio(const KernelFile& file) {
  std::map<Device, TransferBytes> disks;
  size_t number = 0;
  for (std::string_view line : linesOf(file.text)) {
    ++number;
    const auto fields = fieldsOf(line);
    if (fields.empty() || fields[0] == "Total") continue;
    const auto device = deviceIn(fields[0]);
    const auto bytes = fields.size() == 3 ? numberIn(fields[2]) : std::nullopt;
    if (!device || !bytes) return malformed(file, number, "not a device, a kind and a number");
    if (fields[1] == "Read") disks[*device].in = *bytes;
    if (fields[1] == "Write") disks[*device].out = *bytes;
  }
  return disks;
}

Result<std::map<Device, TransferBytes>> parseIoStat(const KernelFile& file) {
  std::map<Device, TransferBytes> disks;
  size_t number = 0;
  for (std::string_view line : linesOf(file.text)) {
    ++number;
    const auto fields = fieldsOf(line);
    if (fields.empty()) continue;
    const auto device = deviceIn(fields[0]);
    if (!device) return malformed(file, number, "not a device");
    for (size_t i = 1; i < fields.size(); ++i) {
      const size_t equals = fields[i].find('=');
      if (equals == std::string_view::npos) return malformed(file, number, "no key=number");
      const std::string_view key = fields[i].substr(0, equals);
      if (key != "rbytes" && key != "wbytes") continue;
      const auto bytes = numberIn(fields[i].substr(equals + 1));
      if (!bytes) return malformed(file, number, std::string(key) + ": no number");
      (key == "rbytes" ? disks[*device].in : disks[*device].out) = *bytes;
    }
  }
  return disks;
}

}  // namespace tarcil
