// A server and its tasks as the master shows them to users.
#pragma once

#include <string>
#include <vector>

#include "cli/cluster.h"
#include "core/model/performance.h"
#include "core/state/server.h"
#include "core/state/server_pressure.h"

namespace tarcil {

struct ServerTask {
  JobId job;
  JobNumber number = 0;
  TaskIndex task = 0;
  AllocationId allocation = 0;
  std::vector<RuIndex> rus;
  ExtraNumbers extras;
  Pressure caused{};       // by its profile
  Pressure charged{};      // what placement takes it to cause
  ResourceSet measured{};  // of `charged`; the others are its profile's
  Pressure tolerated{};
  std::vector<size_t> over;  // resources on which it feels more than it tolerates
  Throttle throttle;
  std::optional<Reached> performance;  // of a watched task, once it is known
};

struct ServerDetails {
  ServerFacts facts;
  ServerStatus status;
  Pressure contention{};  // as a newcomer would feel it
  std::string reason;     // why it takes no new tasks; empty where it does, or is only down
  bool draining = false;
  WallTime drainAt = kNever;           // draining: until then tasks may go on by themselves
  WallTime asideUntil = kNever;        // end of its quarantine
  uint64_t refusedClaims = 0;          // since the master's start
  uint32_t neverStarted = 0;           // launches in a row that failed by its own fault
  std::vector<RuIndex> pool;           // units that late-bound tasks run on
  PressureSum poolCaused{};            // by these tasks together
  std::vector<AbsentPressure> absent;  // what the background does not hold
  std::vector<ServerTask> tasks;
  std::vector<TaskViolation> violations;  // of tasks that perform badly
  std::optional<uint32_t> bucket{};       // as `tarcil buckets` numbers them; none where it takes no tasks
  bool autoCordoned = false;              // kept from new tasks for one of them
};

ServerDetails readServerDetails(wire::ServerDetails::Reader from);

// In a word: up, down, cordoned, draining, drained, quarantined, shielded.
std::string stateOf(const ServerDetails& server);

struct ServerList {
  std::vector<ServerDetails> servers;
  std::string warning;  // of the master, for people; empty where nothing is wrong
};
// All servers of the cluster, by number, without their tasks: an answer for each 500.
ServerList fetchServers(Cluster& cluster);

// The server of this name, with its tasks. Fails as NotFound.
kj::Promise<ServerDetails> fetchServer(Client& client, const std::string& name);

}  // namespace tarcil
