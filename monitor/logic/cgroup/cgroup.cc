#include "monitor/logic/cgroup/cgroup.h"

#include <sstream>

namespace tarcil {
namespace {

// Mount tables write blanks, tabs, newlines and backslashes as \ooo.
std::string unescape(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size()) {
      result += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
      i += 3;
    } else {
      result += text[i];
    }
  }
  return result;
}

}  // namespace

CgroupMounts parseCgroupMounts(std::string_view mounts) {
  CgroupMounts result;
  std::istringstream lines{std::string(mounts)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string device, point, type, options;
    if (!(fields >> device >> point >> type >> options)) continue;
    if (type == "cgroup2" && result.v2.empty()) result.v2 = unescape(point);
    if (type != "cgroup") continue;
    // Controllers stand among the mount options; options that are none do no harm under their own names.
    std::istringstream words(options);
    for (std::string word; std::getline(words, word, ',');) {
      const bool counts = word == kCpuacct || word == kBlkio;
      if (word == kCpu || word == kCpuset || word == kMemory || word == kPids || counts)
        result.v1.emplace(word, unescape(point));
    }
  }
  return result;
}

std::vector<std::string> parseWords(std::string_view text) {
  std::vector<std::string> result;
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word;) result.push_back(std::move(word));
  return result;
}

std::string coreList(const std::vector<uint32_t>& cores) {
  std::string result;
  for (size_t first = 0; first < cores.size();) {
    size_t last = first;
    while (last + 1 < cores.size() && cores[last + 1] == cores[last] + 1) ++last;
    if (!result.empty()) result += ',';
    result += std::to_string(cores[first]);
    if (last > first) result += '-' + std::to_string(cores[last]);
    first = last + 1;
  }
  return result;
}

std::string cgroupName(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || (c == '.' && !result.empty());
    result += plain ? c : '_';
  }
  return result.empty() ? "_" : result;
}

}  // namespace tarcil
