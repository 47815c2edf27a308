// What agents may see of the servers: their states as far as they are on disk.
#pragma once

#include <vector>

#include "core/state/server.h"

namespace tarcil {

// Kept up to date with each state that is released, with counts for metrics. Index is the ServerId.
class PublishedState {
 public:
  // Requires: every server with facts, in order.
  explicit PublishedState(std::vector<ServerUpdate> servers);

  // Replaces the server's state, and its facts where the update brings some. A server that is new brings
  // facts. O(units of the server).
  void take(ServerUpdate update);

  size_t size() const { return servers_.size(); }
  // With facts.
  const ServerUpdate& at(ServerId server) const { return servers_[server]; }

  // Every server and every unit counts once: a server as up, cordoned (or set aside) or down; a unit as held
  // by a task, or as free on a server that takes tasks, or as free and yet of no use.
  struct Counts {
    uint64_t up = 0, cordoned = 0, down = 0;               // servers
    uint64_t freeUnits = 0, heldUnits = 0, idleUnits = 0;  // resource units
    bool operator==(const Counts&) const = default;
  };
  const Counts& counts() const { return counts_; }

 private:
  enum class Sign { kAdd, kSubtract };
  void count(const ServerUpdate& server, Sign sign);

  std::vector<ServerUpdate> servers_;
  Counts counts_;
};

}  // namespace tarcil
