// An agent's copy of the shared state: absolute server states, with the agent's own claims in flight laid
// over them.
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

// Single-threaded; holds no clock and does no I/O. About 12 bytes per free unit besides the servers
// themselves.
class ClusterState {
 public:
  // One laid-over claim.
  using OverlayId = uint64_t;

  // Takes a server's absolute state if its version is above the one held. Facts, where present, are always
  // taken. An update of an unknown server is ignored unless it brings facts: a snapshot with them is on its
  // way.
  void apply(const ServerUpdate& update);

  void setShare(const std::string& platform, const Share& share);
  const Share& shareOf(const std::string& platform) const;  // fullShare() for an unlisted platform

  // Lays a claim of `rus` by a task with this profile over the server until lift(). Later apply()s of the
  // server keep it laid over. Requires: known(server).
  OverlayId layOver(ServerId server, const std::vector<RuIndex>& rus, const Profile& profile);
  // Does nothing for an overlay that is not there. O(overlays on its server).
  void lift(OverlayId overlay);

  // One above the highest number known.
  size_t size() const { return servers_.size(); }
  // Whether this number is known. Numbers below size() may be unknown for a moment while a snapshot arrives.
  bool known(ServerId server) const { return server < servers_.size() && servers_[server].known; }
  // For the rest, Requires: known(server). References hold until the next call that changes the state.
  const ServerFacts& facts(ServerId server) const { return servers_[server].facts; }
  // Base state with every overlay applied; its version is the base's.
  const ServerStatus& status(ServerId server) const { return servers_[server].effective; }
  uint32_t freeUnits(ServerId server) const { return servers_[server].freeCount; }

  std::optional<ServerId> find(const std::string& name) const;

  // How many known servers, up or not, each platform has; only platforms that have one.
  const std::map<std::string, uint32_t>& platforms() const { return platforms_; }

  // Free units on servers that are up and not cordoned.
  uint64_t freeUnits() const { return drawable_.size(); }

  // The server of a unit drawn uniformly from the free units of servers that are up and not cordoned; nullopt
  // where there is none. O(1).
  std::optional<ServerId> draw(Rng& rng) const;

 private:
  struct Server {
    bool known = false;
    ServerFacts facts;
    ServerStatus base;
    ServerStatus effective;
    uint32_t freeCount = 0;           // of `effective`
    std::vector<uint32_t> positions;  // in drawable_, of this server's entries
    std::vector<OverlayId> overlays;
  };
  struct Overlay {
    ServerId server = 0;
    std::vector<RuIndex> rus;
    Pressure caused{};
    Pressure tolerated{};
  };
  // One entry per free unit that may be drawn: its server, and which of the server's positions points back
  // here.
  struct Drawable {
    ServerId server;
    uint32_t slot;
  };

  void takeFacts(ServerId id, const ServerFacts& facts);
  void lay(Server& server, const Overlay& overlay);
  // Forms `effective` anew from base and overlays.
  void refresh(ServerId id);
  // Brings freeCount and drawable_ in line with `effective`. O(change of the number of free units).
  void recount(ServerId id);

  std::vector<Server> servers_;
  std::unordered_map<std::string, ServerId> byName_;
  std::map<std::string, uint32_t> platforms_;
  std::map<std::string, Share> shares_;
  std::unordered_map<OverlayId, Overlay> overlays_;
  OverlayId nextOverlay_ = 1;
  std::vector<Drawable> drawable_;
};

}  // namespace tarcil
