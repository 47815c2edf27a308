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
  ByteResources bytes{};  // that a task asks for, or less of it: 0 asks for no more than its units' share

  bool empty() const { return constraints.empty() && extras.empty() && bytes == ByteResources{}; }
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
  // Free units of usable members that have the extras and the bytes left; where `bytes` asks for none, those
  // of which the share of memory and disk is left.
  const FreeIndex& free() const { return free_; }
  // Units of usable members, free or not; free ones, also where extras or bytes are lacking for them.
  uint64_t usableUnits() const { return usableUnits_; }
  uint64_t freeUnits() const { return freeUnits_; }
  uint64_t usedUnits() const { return usableUnits_ - freeUnits_; }

  // Of one member: all of its units where it is up and not cordoned, and those of them that are free.
  struct Units {
    uint16_t usable = 0;
    uint16_t free = 0;
  };

  // `drawable` of the free units may be drawn.
  void join(ServerId server, PlatformId platform, const Units& units, uint32_t drawable);
  // Requires, as the next: contains(server), and these are the units that it was last said to have.
  void part(ServerId server, PlatformId platform, const Units& units);
  void change(ServerId server, const Units& before, const Units& after, uint32_t drawable);

 private:
  std::vector<bool> member_;
  uint64_t usableUnits_ = 0, freeUnits_ = 0;
  uint32_t servers_ = 0;
  std::vector<uint32_t> byPlatform_;
  FreeIndex free_;
};

}  // namespace tarcil
