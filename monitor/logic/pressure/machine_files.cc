#include "monitor/logic/pressure/machine_files.h"

#include <array>

namespace tarcil {
namespace {

constexpr uint64_t kSectorBytes = 512;

// The numbers from field `first` on; nullopt where there are fewer than `count` of them.
std::optional<std::vector<uint64_t>> numbersFrom(const std::vector<std::string_view>& fields, size_t first,
                                                 size_t count) {
  std::vector<uint64_t> numbers;
  for (size_t i = first; i < fields.size() && numbers.size() < count; ++i) {
    const auto number = numberIn(fields[i]);
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  if (numbers.size() < count) return std::nullopt;
  return numbers;
}

}  // namespace

Result<CpuTimes> parseStat(const KernelFile& file, const std::set<uint32_t>& cores) {
  enum Column { kUser, kNice, kSystem, kIdle, kIowait, kIrq, kSoftirq, kSteal, kColumns };
  CpuTimes times;
  std::set<uint32_t> found;
  size_t number = 0;
  for (std::string_view line : linesOf(file.text)) {
    ++number;
    const auto fields = fieldsOf(line);
    if (fields.empty() || !fields[0].starts_with("cpu") || fields[0] == "cpu") continue;
    const auto core = numberIn(fields[0].substr(3));
    const auto columns = numbersFrom(fields, 1, kColumns);
    if (!core || *core > UINT32_MAX || !columns) {
      return malformed(file, number, "not a core and eight numbers");
    }
    if (!cores.empty() && !cores.contains(static_cast<uint32_t>(*core))) continue;
    found.insert(static_cast<uint32_t>(*core));
    const auto& column = *columns;
    times.busy += column[kUser] + column[kNice] + column[kSystem] + column[kIrq] + column[kSoftirq];
    times.idle += column[kIdle] + column[kIowait];
    times.steal += column[kSteal];
  }
  for (uint32_t core : cores) {
    if (!found.contains(core)) return malformed(file, number, "core " + std::to_string(core) + " is missing");
  }
  if (found.empty()) return malformed(file, number, "no core is listed");
  return times;
}

Result<MemoryUse> parseMeminfo(const KernelFile& file) {
  const auto numbers = numbersByKey(file, {"MemTotal", "MemAvailable", "Dirty", "Writeback"});
  if (!numbers) return numbers.error();
  MemoryUse use{numbers->at("MemTotal"), numbers->at("MemAvailable"),
                numbers->at("Dirty") + numbers->at("Writeback")};
  if (use.total == 0) return malformed(file, 1, "MemTotal is 0");
  return use;
}

Result<PagingCounts> parseVmstat(const KernelFile& file) {
  const auto numbers = numbersByKey(file, {"pgmajfault", "pswpin", "pswpout"});
  if (!numbers) return numbers.error();
  return PagingCounts{numbers->at("pgmajfault"), numbers->at("pswpin") + numbers->at("pswpout")};
}

Result<std::map<Device, DiskCounts>> parseDiskstats(const KernelFile& file,
                                                    const std::map<std::string, std::string>& names) {
  // After major, minor and name: reads, merged, sectors, ms; writes, merged, sectors, ms; under way, busy ms.
  enum Column { kReadSectors = 2, kWrittenSectors = 6, kBusyMs = 9, kColumns };
  std::map<Device, DiskCounts> disks;
  size_t number = 0;
  for (std::string_view line : linesOf(file.text)) {
    ++number;
    const auto fields = fieldsOf(line);
    if (fields.empty()) continue;
    const auto device = numbersFrom(fields, 0, 2);
    if (!device || fields.size() < 3 || (*device)[0] > UINT32_MAX || (*device)[1] > UINT32_MAX) {
      return malformed(file, number, "not a device");
    }
    if (!names.contains(std::string(fields[2]))) continue;
    const auto columns = numbersFrom(fields, 3, kColumns);
    if (!columns) return malformed(file, number, "fewer than ten numbers");
    const auto& column = *columns;
    disks[{static_cast<uint32_t>((*device)[0]), static_cast<uint32_t>((*device)[1])}] = {
        {column[kReadSectors] * kSectorBytes, column[kWrittenSectors] * kSectorBytes}, column[kBusyMs]};
  }
  return disks;
}

Result<TransferBytes> parseNetDev(const KernelFile& file, const std::set<std::string>& names) {
  // After the name: eight columns of what was received, bytes first, then what was sent.
  enum Column { kReceived = 0, kSent = 8, kColumns };
  TransferBytes sum;
  size_t number = 0;
  for (std::string_view line : linesOf(file.text)) {
    if (++number <= 2) continue;  // headings
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) return malformed(file, number, "not an interface");
    const auto name = fieldsOf(line.substr(0, colon));
    if (name.size() != 1) return malformed(file, number, "not an interface");
    if (!names.contains(std::string(name[0]))) continue;
    const auto columns = numbersFrom(fieldsOf(line.substr(colon + 1)), 0, kColumns);
    if (!columns) return malformed(file, number, "fewer than nine numbers");
    sum.in += (*columns)[kReceived];
    sum.out += (*columns)[kSent];
  }
  return sum;
}

Result<StallTimes> parseStalls(const KernelFile& file) {
  StallTimes times;
  bool hasSome = false;
  size_t number = 0;
  for (std::string_view line : linesOf(file.text)) {
    ++number;
    const auto fields = fieldsOf(line);
    if (fields.empty()) continue;
    const bool isSome = fields[0] == "some";
    if (!isSome && fields[0] != "full") return malformed(file, number, "neither \"some\" nor \"full\"");
    constexpr std::string_view kTotal = "total=";
    const auto total =
        fields.back().starts_with(kTotal) ? numberIn(fields.back().substr(kTotal.size())) : std::nullopt;
    if (!total) return malformed(file, number, "no total of microseconds");
    (isSome ? times.some : times.full) = *total;
    hasSome |= isSome;
  }
  if (!hasSome) return malformed(file, number, "no line \"some\"");
  return times;
}

}  // namespace tarcil
