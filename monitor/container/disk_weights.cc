#include "monitor/container/disk_weights.h"

#include <fstream>
#include <sstream>

#include "monitor/pressure/machine_reader.h"

namespace tarcil {

std::string_view schedulerInForce(std::string_view text) {
  const size_t begin = text.find('[');
  const size_t end = text.find(']');
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) return {};
  return text.substr(begin + 1, end - begin - 1);
}

std::set<std::string> disksUnderIoCost(std::string_view text) {
  std::set<std::string> disks;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string disk, word;
    for (words >> disk; words >> word;) {
      if (word == "enable=1") disks.insert(disk);
    }
  }
  return disks;
}

std::vector<std::string> disksWithout(const WeightFile& file, const std::string& sys,
                                      std::string_view ioCost) {
  const std::set<std::string> underIoCost = disksUnderIoCost(ioCost);
  std::vector<std::string> result;
  for (const auto& [name, device] : physicalDisks(sys)) {
    std::string schedulers;
    std::getline(std::ifstream(sys + "/block/" + name + "/queue/scheduler"), schedulers);
    const bool heeds = file.scheduler == nullptr ? underIoCost.contains(device)
                                                 : schedulerInForce(schedulers) == file.scheduler;
    if (!heeds) result.push_back(name);
  }
  return result;
}

}  // namespace tarcil
