#include "monitor/logic/pressure/resctrl_files.h"

#include <algorithm>

namespace tarcil {

Result<uint64_t> parseCacheNumber(const KernelFile& file) {
  const auto lines = linesOf(file.text);
  if (lines.size() == 1 && (lines[0] == "Unavailable" || lines[0] == "Error")) {
    return notFound(std::string(file.name) + ": the processor has no number there");
  }
  return onlyNumber(file);
}

Status parseCacheFeatures(const KernelFile& file) {
  const auto features = linesOf(file.text);
  for (const std::string_view wanted : {"llc_occupancy", "mbm_total_bytes"}) {
    if (std::find(features.begin(), features.end(), wanted) == features.end()) {
      return notFound("resctrl does not count " + std::string(wanted) + " on this processor");
    }
  }
  return {};
}

Result<std::vector<uint64_t>> parseThreads(const KernelFile& file) {
  std::vector<uint64_t> threads;
  size_t number = 0;
  for (const std::string_view line : linesOf(file.text)) {
    ++number;
    const auto thread = numberIn(line);
    if (!thread || *thread == 0) return malformed(file, number, "not the number of a thread");
    threads.push_back(*thread);
  }
  return threads;
}

}  // namespace tarcil
