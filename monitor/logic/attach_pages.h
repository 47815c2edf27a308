// What a monitor tells the master as it attaches, in messages of bounded size: the master deals with each in
// one step of its event loop.
#pragma once

#include <cstddef>
#include <vector>

#include "core/model/launch.h"
#include "core/state/server.h"

namespace tarcil::monitor {

// More are those of an emulated cluster (docs/emulated-servers.md).
inline constexpr size_t kServersOfPage = 500;

struct AttachPage {
  std::vector<ServerFacts> servers;
  std::vector<KnownTask>
      tasks;  // on these servers; in the first page also those on servers that it has no more
};

// One or more, each with at most so many of the servers, in their order. O((servers + tasks) log servers).
std::vector<AttachPage> attachPages(const std::vector<ServerFacts>& servers,
                                    const std::vector<KnownTask>& tasks,
                                    size_t serversOfPage = kServersOfPage);

}  // namespace tarcil::monitor
