// What agents may see: servers, settings, platforms and shares of users, as far as they are on disk.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/decide/options.h"
#include "core/model/contention.h"
#include "core/state/server.h"
#include "core/state/state_checksum.h"
#include "master/logic/events.h"
#include "master/store/store.h"

namespace tarcil {

// Updated with each change that is released. Servers are numbered from 0.
class PublishedState {
 public:
  // Requires: every server with facts, in order.
  PublishedState(std::vector<ServerUpdate> servers, const QualitySettings& settings,
                 const std::vector<PlatformRecord>& platforms);

  // Replaces the server's state, and its facts where the update has some, as that of a new server must.
  // O(units of the server).
  void take(ServerUpdate update);
  void take(const QualitySettings& settings) { settings_ = settings; }
  void take(const master::PublishQueue& queue) { queue_ = queue; }
  void take(const PlatformRecord& platform) { platforms_[platform.name] = platform.share; }
  void take(const master::PublishShares& set) { shares_[set.user] = set.shares; }

  size_t servers() const { return servers_.size(); }
  // Rises with each change of some server's facts.
  uint64_t factsVersion() const { return factsVersion_; }
  // With facts.
  const ServerUpdate& server(ServerId id) const { return servers_[id]; }
  const QualitySettings& settings() const { return settings_; }
  // As agents were told last.
  const master::PublishQueue& queue() const { return queue_; }
  // By name; only platforms whose share was set.
  const std::map<std::string, Share>& platforms() const { return platforms_; }

  // By user; only those whose shares were set.
  const std::map<std::string, uint32_t>& shares() const { return shares_; }

  // Of all servers. O(servers that changed since the last call).
  StateChecksum checksum();

  // Every server that is not removed and every unit of it counts once: a server as up, cordoned (also by
  // quarantine) or down; a unit as held by a task, as free on a server that takes tasks, or as idle on one
  // that does not.
  struct Counts {
    uint64_t up = 0, cordoned = 0, down = 0;               // servers
    uint64_t freeUnits = 0, heldUnits = 0, idleUnits = 0;  // resource units
    bool operator==(const Counts&) const = default;
  };
  const Counts& counts() const { return counts_; }

 private:
  enum class Sign { kAdd, kSubtract };
  void count(const ServerUpdate& server, Sign sign);

  void noteForChecksum(ServerId id, bool withFacts);

  uint64_t factsVersion_ = 1;
  std::vector<ServerUpdate> servers_;
  QualitySettings settings_;
  master::PublishQueue queue_;
  std::map<std::string, Share> platforms_;
  std::map<std::string, uint32_t> shares_;
  Counts counts_;

  // The checksum as of the last call, and the servers whose parts of it are out of date.
  StateChecksum checksum_;
  struct Part {
    StateChecksum sums;
    bool isStale = false, hasStaleFacts = false;
  };
  std::vector<Part> parts_;
  std::vector<ServerId> stale_;
};

}  // namespace tarcil
