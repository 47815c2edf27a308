// A server and its tasks as the master shows them to users.
#pragma once

#include <string>
#include <vector>

#include "cli/cluster.h"
#include "core/state/server.h"

namespace tarcil {

struct ServerTask {
  JobId job;
  TaskIndex task = 0;
  std::vector<RuIndex> rus;
  ExtraNumbers extras;
  Pressure caused{};
  Pressure tolerated{};
  std::vector<size_t> over;  // resources on which it feels more than it tolerates
};

struct ServerDetails {
  ServerFacts facts;
  ServerStatus status;
  Pressure contention{};  // as a newcomer would feel it
  std::vector<ServerTask> tasks;
};

ServerDetails readServer(wire::ServerDetails::Reader from);

// The server of this name, with its tasks. Fails as NotFound.
kj::Promise<ServerDetails> fetchServer(Client& client, const std::string& name);

}  // namespace tarcil
