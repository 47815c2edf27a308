#include "agent/late/late_servers.h"

#include <algorithm>
#include <iterator>

#include "core/model/constraint.h"
#include "latebinding/names.h"

namespace tarcil {
namespace {

bool meetsAll(const ServerNeeds& needs, const LateServer& server) {
  return timesFitting(server.unitShare, {}, needs.bytes) > 0 &&
         std::ranges::all_of(needs.constraints, [&server](const Constraint& constraint) {
           return meets(constraint, server.attributes);
         });
}

}  // namespace

LateServers::Change LateServers::apply(const ServerUpdate& update) {
  Change change;
  const bool offersNone =
      update.facts && !update.facts->attributes.contains(std::string(late::kServerAttribute));
  if (update.status.removed || offersNone) {
    const auto found = servers_.find(update.id);
    if (found == servers_.end()) return {};
    unlist(found->second);
    servers_.erase(found);
    return {.address = true};
  }
  if (update.facts) {
    const auto found = servers_.find(update.id);
    if (found != servers_.end()) unlist(found->second);
    LateServer& server = servers_[update.id];
    change.address = server.address != update.facts->address;
    server.id = update.id;
    server.name = update.facts->name;
    server.address = update.facts->address;
    server.attributes = constraintAttributes(*update.facts);
    server.unitShare = byteSupplyOf(*update.facts).unitShare;
    byName_[server.name] = server.id;
    byRack_[update.facts->rack].insert(server.id);
  }
  const auto found = servers_.find(update.id);
  if (found == servers_.end()) return {};
  LateServer& server = found->second;
  change.cordon = server.isCordoned != update.status.cordoned;
  server.isCordoned = update.status.cordoned;
  change.surroundings = server.sum != update.status.sum || server.background != update.status.background;
  server.sum = update.status.sum;
  server.background = update.status.background;
  return change;
}

const LateServer* LateServers::find(ServerId server) const {
  const auto found = servers_.find(server);
  return found == servers_.end() ? nullptr : &found->second;
}

const LateServer* LateServers::find(const std::string& name) const {
  const auto found = byName_.find(name);
  return found == byName_.end() ? nullptr : find(found->second);
}

void LateServers::setUp(ServerId server) {
  groups_.setUp(server);
  const LateServer* facts = find(server);
  for (const Group& group : inUse_) {
    if (facts != nullptr && meetsAll(group.needs, *facts)) groups_.set(group.number, meeting(group.needs));
  }
}

late::GroupNumber LateServers::group(const ServerNeeds& needs) {
  if (needs.empty()) return late::kAllServers;
  for (Group& group : inUse_) {
    if (group.needs != needs) continue;
    ++group.users;
    return group.number;
  }
  inUse_.push_back({groups_.make(meeting(needs)), needs, 1});
  return inUse_.back().number;
}

void LateServers::drop(late::GroupNumber number) {
  const auto found = std::find_if(inUse_.begin(), inUse_.end(),
                                  [number](const Group& group) { return group.number == number; });
  if (found == inUse_.end() || --found->users > 0) return;
  groups_.drop(number);
  inUse_.erase(found);
}

std::vector<ServerId> LateServers::meeting(const ServerNeeds& needs) const {
  std::vector<ServerId> servers;
  if (const Constraint* list = listIn(needs.constraints)) {
    std::ranges::copy_if(listedBy(*list), std::back_inserter(servers),
                         [&](ServerId id) { return meetsAll(needs, *find(id)); });
    return servers;
  }
  for (const auto& [id, server] : servers_) {
    if (meetsAll(needs, server)) servers.push_back(id);
  }
  return servers;
}

std::vector<ServerId> LateServers::listedBy(const Constraint& list) const {
  std::set<ServerId> ids;
  for (const std::string& value : list.values) {
    if (list.attribute == kServerAttribute) {
      if (const LateServer* server = find(value)) ids.insert(server->id);
    } else if (const auto rack = byRack_.find(value); rack != byRack_.end()) {
      ids.insert(rack->second.begin(), rack->second.end());
    }
  }
  return {ids.begin(), ids.end()};
}

void LateServers::unlist(const LateServer& server) {
  byName_.erase(server.name);
  const auto rack = byRack_.find(server.attributes.at(std::string(kRackAttribute)));
  rack->second.erase(server.id);
  if (rack->second.empty()) byRack_.erase(rack);
}

}  // namespace tarcil
