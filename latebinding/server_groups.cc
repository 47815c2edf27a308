#include "latebinding/server_groups.h"

#include <algorithm>
#include <utility>

namespace tarcil::late {

void ServerGroups::setUp(ServerId server) {
  if (isUp(server)) return;
  if (server >= up_.size()) up_.resize(server + 1);
  up_[server] = true;
  groups_[kAllServers].push_back(server);
}

void ServerGroups::setDown(ServerId server) {
  if (!isUp(server)) return;
  up_[server] = false;
  for (auto& group : groups_) std::erase(group, server);
}

GroupNumber ServerGroups::make(std::span<const ServerId> servers) {
  if (dropped_.empty()) {
    dropped_.push_back(static_cast<GroupNumber>(groups_.size()));
    groups_.emplace_back();
  }
  const GroupNumber group = dropped_.back();
  dropped_.pop_back();
  set(group, servers);
  return group;
}

void ServerGroups::set(GroupNumber group, std::span<const ServerId> servers) {
  groups_[group].assign(servers.begin(), servers.end());
  std::erase_if(groups_[group], [this](ServerId server) { return !isUp(server); });
}

void ServerGroups::drop(GroupNumber group) {
  groups_[group].clear();
  dropped_.push_back(group);
}

std::span<const ServerId> ServerGroups::sample(GroupNumber group, size_t count, Rng& rng) {
  std::vector<ServerId>& servers = groups_[group];
  count = std::min(count, servers.size());
  for (size_t i = 0; i < count; ++i) {
    std::swap(servers[i], servers[i + rng.below(servers.size() - i)]);
  }
  return {servers.data(), count};
}

}  // namespace tarcil::late
