// An agent's copy of the shared state: absolute server states, with the agent's own claims in flight laid over them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/rng.h"
#include "core/model/profile.h"
#include "core/state/claim.h"
#include "core/state/server.h"

namespace tarcil {

// Single-threaded; holds no clock and does no I/O.
class ClusterState {
 public:
  // One laid-over claim.
  using OverlayId = uint64_t;

  // Takes a server's absolute state if it is newer than the one held (or the server is new: facts required then).
  void apply(const ServerUpdate& update);

  void setShare(const std::string& platform, const Share& share);
  const Share& shareOf(const std::string& platform) const;  // fullShare() for an unlisted platform

  // Lays a claim of `rus` units by a task with this profile over the server until lift(). Later apply()s of the server
  // keep it laid over.
  OverlayId layOver(ServerId server, const std::vector<RuIndex>& rus, const Profile& profile);
  void lift(OverlayId overlay);

  size_t size() const { return servers_.size(); }
  // Whether this number is known. Numbers below size() may be unknown for a moment while a snapshot arrives.
  bool known(ServerId server) const;
  const ServerFacts& facts(ServerId server) const { return servers_[server].facts; }
  // Base state with every overlay applied; its version is the base's.
  const ServerStatus& status(ServerId server) const { return servers_[server].effective; }
  std::optional<ServerId> find(const std::string& name) const;
  uint32_t freeUnits(ServerId server) const { return servers_[server].freeCount; }

  // Free units on servers that are up and not cordoned.
  uint64_t freeUnits() const { return drawable_.size(); }

  // The server of a unit drawn uniformly from the free units of servers that are up and not cordoned; nullopt where
  // there is none. O(1).
  std::optional<ServerId> draw(Rng& rng) const;

 private:
  struct Server {
    bool known = false;
    ServerFacts facts;
    ServerStatus base;
    ServerStatus effective;
    uint32_t freeCount = 0;
    std::vector<uint32_t> positions;  // in drawable_, of this server's entries
  };
  struct Overlay {
    ServerId server = 0;
    std::vector<RuIndex> rus;
    Profile profile;
  };

  void refresh(ServerId server);
  void setDrawable(ServerId server, uint32_t count);

  std::vector<Server> servers_;
  std::unordered_map<std::string, ServerId> byName_;
  std::map<std::string, Share> shares_;
  std::map<OverlayId, Overlay> overlays_;
  std::unordered_multimap<ServerId, OverlayId> overlaysOf_;
  OverlayId nextOverlay_ = 1;
  // One entry per free unit that may be drawn: its server, and which of the server's positions_ points back here.
  struct Drawable {
    ServerId server;
    uint32_t slot;
  };
  std::vector<Drawable> drawable_;
};

}  // namespace tarcil
