// Servers that exist as timers only: the file of `tarcil up --emulate` (docs/emulated-servers.md).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/model/job.h"
#include "core/model/resources.h"

namespace tarcil {

inline constexpr uint32_t kMaxEmulatedServers = 100'000;
inline constexpr uint64_t kMaxEmulatedRus = 1'000'000;
inline constexpr uint32_t kMaxRusPerServer = 4'096;

struct EmulatedServer {
  std::string name;
  std::string platform;
  std::string rack;  // empty: in none
  uint32_t rus = 0;
  uint64_t memoryBytes = 0;
  std::map<std::string, std::string> attributes;
  Extras extras{};
  uint64_t diskBytes = 0;  // for work folders; 0: not counted

  bool operator==(const EmulatedServer&) const = default;
};

struct EmulatedServers {
  std::vector<EmulatedServer> servers;     // in the order of the file; names are unique
  std::map<std::string, Share> platforms;  // those that the file gives shares for
};

// Error: kInvalid, with one line "path:line:column: field: problem; remedy" for every problem found.
Result<EmulatedServers> readServersFile(const std::string& path);
Result<EmulatedServers> parseServers(std::string_view text, const std::string& name);

}  // namespace tarcil
