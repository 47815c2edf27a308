// Where a command is profiled: on a server that it has to itself meanwhile. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/output/server_details.h"
#include "core/base/result.h"

namespace tarcil {

// The server to profile a command on that gets so many cores: the named one, or, where `name` is empty, the
// smallest with enough cores to press from, those before others whose units are all free. NotFound or
// Invalid, with what to do, where there is none. The result points into `servers`.
Result<const ServerDetails*> serverToProfileOn(const std::vector<ServerDetails>& servers,
                                               const std::string& name, uint32_t cores);

// Where else the command's performance is measured: a server of each of at most `count` platforms other than
// `platform`, `reference` first if it is one of them, then those of which most servers can; of several
// servers one whose units are all free, then the smallest. The command may have every core there.
std::vector<const ServerDetails*> serversOfOtherPlatforms(const std::vector<ServerDetails>& servers,
                                                          const std::string& platform,
                                                          const std::string& reference, uint32_t cores,
                                                          size_t count);

// Servers with equally many units each.
struct LikeServers {
  uint32_t rus = 0;
  std::vector<std::string> names;  // at most kMaxConstraintValues
};

// That one, and those that would do as well in its place: that can, and have as many units.
Result<LikeServers> serversToProfileOn(const std::vector<ServerDetails>& servers, uint32_t cores);

}  // namespace tarcil
