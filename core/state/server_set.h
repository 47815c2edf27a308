// The servers that a job may use, and draws from them without looking at the others.
#pragma once

#include <cstdint>
#include <vector>

#include "core/model/job.h"
#include "core/state/free_index.h"
#include "core/state/vacancy.h"

namespace tarcil {

// What a server must be and have, whatever its tasks leave of it.
struct ServerNeeds {
  std::vector<Constraint> constraints;
  Extras extras;

  bool empty() const { return constraints.empty() && extras.empty(); }
  bool operator==(const ServerNeeds&) const = default;
};

// Kept up to date by ClusterState with each change of a server.
class ServerSet {
 public:
  bool contains(ServerId server) const { return server < member_.size() && member_[server]; }

  // Members, up or not.
  uint32_t servers() const { return servers_; }
  // By platform number: how many members it has; may be shorter than the list of platforms.
  const std::vector<uint32_t>& byPlatform() const { return byPlatform_; }
  // Free units of usable members that have the extras left.
  const FreeIndex& free() const { return free_; }

  // `units` may be drawn from the server.
  void join(ServerId server, PlatformId platform, uint32_t units);
  // Requires, as the next: contains(server).
  void part(ServerId server, PlatformId platform);
  void change(ServerId server, uint32_t units) { free_.set(server, units); }

 private:
  std::vector<bool> member_;
  uint32_t servers_ = 0;
  std::vector<uint32_t> byPlatform_;
  FreeIndex free_;
};

}  // namespace tarcil
