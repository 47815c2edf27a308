#include "core/state/cluster_state.h"

#include <algorithm>
#include <utility>

#include "core/state/occupancy.h"

namespace tarcil {

void ClusterState::apply(const ServerUpdate& update) {
  const bool wasKnown = known(update.id);
  if (!wasKnown && !update.facts) return;
  if (update.id >= servers_.size()) servers_.resize(size_t{update.id} + 1);
  if (update.facts) takeFacts(update.id, *update.facts);
  Server& server = servers_[update.id];
  // Facts may have moved the server to a platform with another share, which overlays depend on.
  const bool newer = !wasKnown || update.status.version > server.base.version;
  if (newer) server.base = update.status;
  if (newer || update.facts) refresh(update.id);
}

void ClusterState::takeFacts(ServerId id, const ServerFacts& facts) {
  Server& server = servers_[id];
  if (server.known) {
    if (auto it = byName_.find(server.facts.name); it != byName_.end() && it->second == id) byName_.erase(it);
    if (auto it = platforms_.find(server.facts.platform); --it->second == 0) platforms_.erase(it);
  }
  server.known = true;
  server.facts = facts;
  byName_[facts.name] = id;
  ++platforms_[facts.platform];
}

void ClusterState::setShare(const std::string& platform, const Share& share) {
  shares_[platform] = share;
  for (ServerId id = 0; id < servers_.size(); ++id) {
    const Server& server = servers_[id];
    if (!server.overlays.empty() && server.facts.platform == platform) refresh(id);
  }
}

const Share& ClusterState::shareOf(const std::string& platform) const {
  static constexpr Share kFull = fullShare();
  const auto it = shares_.find(platform);
  return it == shares_.end() ? kFull : it->second;
}

ClusterState::OverlayId ClusterState::layOver(ServerId id, const std::vector<RuIndex>& rus,
                                              const Profile& profile) {
  const OverlayId overlay = nextOverlay_++;
  const Overlay& laid =
      overlays_.emplace(overlay, Overlay{id, rus, profile.caused, profile.tolerated}).first->second;
  servers_[id].overlays.push_back(overlay);
  lay(servers_[id], laid);
  recount(id);
  return overlay;
}

void ClusterState::lift(OverlayId overlay) {
  const auto it = overlays_.find(overlay);
  if (it == overlays_.end()) return;
  const ServerId id = it->second.server;
  overlays_.erase(it);
  std::erase(servers_[id].overlays, overlay);
  refresh(id);
}

std::optional<ServerId> ClusterState::find(const std::string& name) const {
  const auto it = byName_.find(name);
  if (it == byName_.end()) return std::nullopt;
  return it->second;
}

std::optional<ServerId> ClusterState::draw(Rng& rng) const {
  if (drawable_.empty()) return std::nullopt;
  return drawable_[rng.below(drawable_.size())].server;
}

void ClusterState::lay(Server& server, const Overlay& overlay) {
  layOn(server.effective, overlay.rus, overlay.caused,
        boundOf(overlay.caused, overlay.tolerated, shareOf(server.facts.platform)));
}

void ClusterState::refresh(ServerId id) {
  Server& server = servers_[id];
  server.effective = server.base;
  for (OverlayId overlay : server.overlays) lay(server, overlays_.at(overlay));
  recount(id);
}

void ClusterState::recount(ServerId id) {
  Server& server = servers_[id];
  server.freeCount = server.effective.free.size();
  const uint32_t wanted = server.effective.up && !server.effective.cordoned ? server.freeCount : 0;
  while (server.positions.size() < wanted) {
    drawable_.push_back({id, static_cast<uint32_t>(server.positions.size())});
    server.positions.push_back(static_cast<uint32_t>(drawable_.size() - 1));
  }
  while (server.positions.size() > wanted) {
    const uint32_t hole = server.positions.back();
    const Drawable last = drawable_.back();
    // The last entry fills the hole; where the hole is the last entry itself, this changes nothing.
    drawable_[hole] = last;
    servers_[last.server].positions[last.slot] = hole;
    drawable_.pop_back();
    server.positions.pop_back();
  }
}

}  // namespace tarcil
