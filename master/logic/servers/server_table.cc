#include "master/logic/servers/server_table.h"

#include <algorithm>
#include <functional>

namespace tarcil::master {
namespace {

bool isLessSomewhere(const auto& pressures, const auto& others) {
  return !std::equal(pressures.begin(), pressures.end(), others.begin(), std::greater_equal<>());
}

}  // namespace

ServerTable::ServerTable(std::vector<ServerRecord> records, const std::vector<PlatformRecord>& platforms,
                         uint64_t firstVersion, MonotonicTime deadline)
    : firstVersion_(firstVersion) {
  for (const PlatformRecord& platform : platforms) {
    shares_[platform.name] = platform.share;
    platformsSeen_.insert(platform.name);
  }
  std::sort(records.begin(), records.end(),
            [](const ServerRecord& a, const ServerRecord& b) { return a.id < b.id; });
  servers_.reserve(records.size());
  for (ServerRecord& record : records) {
    Server& server = servers_.emplace_back();
    byName_[record.facts.name] = record.id;
    server.status.removed = record.removed;
    if (!record.removed) {
      changePlatform("", record.facts.platform);
      losses_.set(record.id, deadline);
    }
    server.record = std::move(record);
    server.share = shareOf(server.record.facts.platform);
    server.status.cordoned = server.record.cordoned;
  }
  rebuildAll();
}

Server* ServerTable::find(const std::string& name) {
  const auto found = byName_.find(name);
  return found == byName_.end() ? nullptr : &servers_[found->second];
}

const Server* ServerTable::find(const std::string& name) const {
  const auto found = byName_.find(name);
  return found == byName_.end() ? nullptr : &servers_[found->second];
}

Server& ServerTable::add(const ServerFacts& facts, const std::string& monitor) {
  const auto id = static_cast<ServerId>(servers_.size());
  Server& server = servers_.emplace_back();
  server.record = {.id = id, .facts = facts, .monitor = monitor};
  server.share = shareOf(facts.platform);
  server.status.version = server.publishedVersion = firstVersion_;
  server.factsChanged = true;
  byName_[facts.name] = id;
  changePlatform("", facts.platform);
  rebuild(server);
  return server;
}

void ServerTable::setFacts(Server& server, const ServerFacts& facts) {
  if (server.record.facts == facts) return;
  if (!server.record.removed) changePlatform(server.record.facts.platform, facts.platform);
  server.record.facts = facts;
  server.share = shareOf(facts.platform);
  server.factsChanged = true;
  rebuild(server);
}

void ServerTable::occupy(Server& server, Resident resident) {
  tarcil::occupy(server.status, server.residents, std::move(resident), server.record.facts, server.share);
  noteChange(server);
}

void ServerTable::vacate(Server& server, AllocationId allocation) {
  tarcil::vacate(server.status, server.residents, allocation, server.record.facts, server.share);
  noteBetter(server);
}

void ServerTable::resize(Server& server, AllocationId allocation, std::vector<RuIndex> rus) {
  Resident resident = residentOf(server, allocation);
  const bool frees = rus.size() < resident.rus.size();
  resident.rus = std::move(rus);
  replace(server, std::move(resident), frees);
}

void ServerTable::charge(Server& server, AllocationId allocation, const Pressure& caused,
                         ResourceSet measured) {
  Resident& resident = residentOf(server, allocation);
  resident.measured = measured;
  for (size_t i = 0; i < caused.size(); ++i) {
    if (measured[i]) resident.most[i] = std::max(resident.most[i], caused[i]);
  }
  if (caused == resident.caused) return;
  Resident changed = resident;
  changed.caused = caused;
  replace(server, std::move(changed), isLessSomewhere(caused, resident.caused));
}

void ServerTable::setProfile(Server& server, AllocationId allocation, const Profile& profile) {
  const Resident& resident = residentOf(server, allocation);
  Resident changed = resident;
  changed.tolerated = profile.tolerated;
  for (size_t i = 0; i < kResources; ++i) {
    if (!resident.measured[i]) changed.caused[i] = profile.caused[i];
  }
  const bool isBetter = isLessSomewhere(changed.caused, resident.caused) ||
                        isLessSomewhere(resident.tolerated, changed.tolerated);
  replace(server, std::move(changed), isBetter);
}

Resident& ServerTable::residentOf(Server& server, AllocationId allocation) {
  return *std::ranges::find(server.residents, allocation, &Resident::allocation);
}

void ServerTable::replace(Server& server, Resident resident, bool isBetter) {
  tarcil::vacate(server.status, server.residents, resident.allocation, server.record.facts, server.share);
  tarcil::occupy(server.status, server.residents, std::move(resident), server.record.facts, server.share);
  isBetter ? noteBetter(server) : noteChange(server);
}

void ServerTable::rebuildAll() {
  for (Server& server : servers_) {
    rebuild(server);
    server.status.version = server.publishedVersion = firstVersion_;
    server.factsChanged = false;
  }
  changed_.clear();
}

void ServerTable::reform(Server& server) {
  tarcil::rebuild(server.status, server.residents, server.record.facts, server.share);
  const RuSet& pool = server.record.pool.held;
  for (const RuIndex ru : pool.first(pool.size())) server.status.free.erase(ru);
  server.status.allocated += claimed({}, pool.size(), byteSupplyOf(server.record.facts));
  for (size_t i = 0; i < server.poolCaused.size(); ++i) server.status.sum[i] += server.poolCaused[i];
  ++server.status.version;
}

void ServerTable::rebuild(Server& server) {
  reform(server);
  noteBetter(server);
}

void ServerTable::setPool(Server& server, late::PoolLease pool) {
  const uint32_t before = server.status.free.size();
  const bool isSame = pool.held == server.record.pool.held;
  server.record.pool = std::move(pool);
  if (isSame) return;
  reform(server);
  server.status.free.size() > before ? noteBetter(server) : noteChange(server);
}

void ServerTable::setPoolCaused(Server& server, const PressureSum& caused) {
  if (server.poolCaused == caused) return;
  const PressureSum before = std::exchange(server.poolCaused, caused);
  reform(server);
  isLessSomewhere(caused, before) ? noteBetter(server) : noteChange(server);
}

void ServerTable::rollBack(Server& server, const ServerStatus& status, size_t residents) {
  server.status = status;
  server.residents.resize(residents);
  countFree(server);
}

void ServerTable::remove(Server& server) {
  server.record.removed = server.status.removed = true;
  changePlatform(server.record.facts.platform, "");
  losses_.clear(server.record.id);
  removals_.clear(server.record.id);
  ++server.status.version;
  noteChange(server);
}

void ServerTable::setUp(Server& server, SessionId session) {
  server.session = session;
  losses_.clear(server.record.id);
  removals_.clear(server.record.id);
  if (server.record.removed) {
    server.record.removed = server.status.removed = false;
    server.factsChanged = true;  // whoever heard that it was removed may have forgotten them
    changePlatform("", server.record.facts.platform);
  }
  if (server.status.up) return;
  server.status.up = true;
  ++server.status.version;
  noteBetter(server);
}

void ServerTable::setDown(Server& server, MonotonicTime deadline) {
  server.session.reset();
  server.status.up = false;
  ++server.status.version;
  losses_.set(server.record.id, deadline);
  noteChange(server);
}

void ServerTable::setLeaving(Server& server) {
  server.status.up = false;
  ++server.status.version;
  noteChange(server);
}

void ServerTable::setBackground(Server& server, const Pressure& background) {
  if (server.status.background == background) return;
  server.status.background = background;
  ++server.status.version;
  noteBetter(server);
}

void ServerTable::refreshCordon(Server& server) {
  const bool isAside = server.trust.asideUntil != kNever;
  const bool cordoned = server.record.cordoned || isAside || !server.autoCordonReason.empty();
  const bool quarantined = isAside && !server.record.cordoned;
  if (server.status.cordoned == cordoned && server.status.quarantined == quarantined) return;
  server.status.cordoned = cordoned;
  server.status.quarantined = quarantined;
  ++server.status.version;
  noteBetter(server);
}

void ServerTable::setShare(const std::string& platform, const Share& share) {
  shares_[platform] = share;
  platformsSeen_.insert(platform);
  for (Server& server : servers_) {
    if (server.record.facts.platform != platform) continue;
    server.share = share;
    rebuild(server);
  }
}

void ServerTable::changePlatform(const std::string& from, const std::string& to) {
  if (const auto left = platforms_.find(from); left != platforms_.end() && --left->second == 0) {
    platforms_.erase(left);
  }
  if (to.empty()) return;
  ++platforms_[to];
  platformsSeen_.insert(to);
}

Status ServerTable::takesPlatforms(const std::set<std::string>& names) const {
  const auto isNew = [this](const std::string& name) { return !platformsSeen_.contains(name); };
  const auto more = static_cast<size_t>(std::ranges::count_if(names, isNew));
  if (more == 0 || platformsSeen_.size() + more <= kMaxPlatforms) return {};
  return Error{ErrorCode::kExhausted, "platform: the cluster has had " +
                                          std::to_string(platformsSeen_.size()) +
                                          " since its master's start, and takes " +
                                          std::to_string(kMaxPlatforms) + "; use names that are known"};
}

Share ServerTable::shareOf(const std::string& platform) const {
  const auto found = shares_.find(platform);
  return found == shares_.end() ? fullShare() : found->second;
}

void ServerTable::openSession(SessionId session, const std::string& monitor, std::vector<ServerId> servers) {
  sessions_[session] = {monitor, std::move(servers)};
  sessionOf_[monitor] = session;
}

void ServerTable::addToSession(SessionId session, const std::vector<ServerId>& servers) {
  auto& all = sessions_.at(session).servers;
  all.insert(all.end(), servers.begin(), servers.end());
}

std::vector<ServerId> ServerTable::closeSession(SessionId session) {
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) return {};
  std::vector<ServerId> servers = std::move(found->second.servers);
  sessionOf_.erase(found->second.monitor);
  sessions_.erase(found);
  return servers;
}

std::vector<ServerId> ServerTable::serversOf(SessionId session) const {
  const auto found = sessions_.find(session);
  return found == sessions_.end() ? std::vector<ServerId>{} : found->second.servers;
}

std::vector<ServerId> ServerTable::closeSessionOf(const std::string& monitor) {
  const auto found = sessionOf_.find(monitor);
  return found == sessionOf_.end() ? std::vector<ServerId>{} : closeSession(found->second);
}

std::optional<MonotonicTime> ServerTable::nextDeadline() const {
  std::optional<MonotonicTime> earliest;
  for (const Deadlines* deadlines : {&losses_, &removals_, &drains_, &quarantines_, &autoCordons_}) {
    const std::optional<MonotonicTime> next = deadlines->next();
    if (next && (!earliest || *next < *earliest)) earliest = next;
  }
  return earliest;
}

void ServerTable::noteChange(Server& server) {
  changed_.push_back(server.record.id);
  countFree(server);
}

void ServerTable::countFree(Server& server) {
  const bool takesTasks = server.status.up && !server.status.cordoned;
  const uint32_t before = std::exchange(server.countedFree, takesTasks ? server.status.free.size() : 0);
  freeUnits_ = freeUnits_ - before + server.countedFree;
}

void ServerTable::noteBetter(Server& server) {
  noteChange(server);
  better_ |= server.status.up && !server.status.cordoned;
}

std::vector<ServerUpdate> ServerTable::takeUpdates() {
  std::vector<ServerUpdate> updates;
  size_t looked = 0;
  for (; looked < changed_.size() && updates.size() < kUpdatesAtOnce; ++looked) {
    const ServerId id = changed_[looked];
    Server& server = servers_[id];
    if (server.status.version == server.publishedVersion) continue;  // told already, or rolled back
    server.publishedVersion = server.status.version;
    ServerUpdate& update = updates.emplace_back();
    update.id = id;
    update.status = server.status;
    if (server.factsChanged) update.facts = server.record.facts;
    server.factsChanged = false;
  }
  changed_.erase(changed_.begin(), changed_.begin() + static_cast<ptrdiff_t>(looked));
  return updates;
}

}  // namespace tarcil::master
