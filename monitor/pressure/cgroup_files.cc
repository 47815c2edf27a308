#include "monitor/pressure/cgroup_files.h"

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
