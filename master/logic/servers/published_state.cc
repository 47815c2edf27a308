#include "master/logic/servers/published_state.h"

#include <algorithm>
#include <utility>

namespace tarcil {

PublishedState::PublishedState(std::vector<ServerUpdate> servers, const QualitySettings& settings,
                               const std::vector<PlatformRecord>& platforms)
    : servers_(std::move(servers)), settings_(settings) {
  for (const PlatformRecord& platform : platforms) take(platform);
  for (const ServerUpdate& server : servers_) {
    count(server, Sign::kAdd);
    noteForChecksum(server.id, /*withFacts=*/true);
  }
}

void PublishedState::take(ServerUpdate update) {
  const ServerId id = update.id;
  if (id >= servers_.size()) servers_.resize(id + 1);
  ServerUpdate& server = servers_[id];
  if (server.facts) count(server, Sign::kSubtract);
  server.id = id;
  server.status = std::move(update.status);
  const bool withFacts = update.facts.has_value();
  if (withFacts) {
    server.facts = std::move(update.facts);
    ++factsVersion_;
  }
  count(server, Sign::kAdd);
  noteForChecksum(id, withFacts);
}

StateChecksum PublishedState::checksum() {
  for (ServerId id : stale_) {
    Part& part = parts_[id];
    const StateChecksum before = part.sums;
    part.sums.statuses = checksumOf(id, servers_[id].status);
    if (part.hasStaleFacts) part.sums.facts = checksumOf(id, *servers_[id].facts);
    checksum_.statuses += part.sums.statuses - before.statuses;
    checksum_.facts += part.sums.facts - before.facts;
    part.isStale = part.hasStaleFacts = false;
  }
  stale_.clear();
  return checksum_;
}

void PublishedState::noteForChecksum(ServerId id, bool withFacts) {
  if (id >= parts_.size()) parts_.resize(id + 1);
  parts_[id].hasStaleFacts |= withFacts;
  if (std::exchange(parts_[id].isStale, true)) return;
  stale_.push_back(id);
}

void PublishedState::count(const ServerUpdate& server, Sign sign) {
  const auto add = [sign](uint64_t& to, uint64_t amount) { to += sign == Sign::kAdd ? amount : -amount; };
  const ServerStatus& status = server.status;
  if (status.removed) return;
  // Units that the server no longer has stay with their tasks until those end.
  const uint64_t free = status.free.size();
  const uint64_t held = server.facts->rus - std::min<uint64_t>(free, server.facts->rus);
  add(counts_.heldUnits, held);
  add(status.up && !status.cordoned ? counts_.freeUnits : counts_.idleUnits, free);
  add(!status.up ? counts_.down : status.cordoned ? counts_.cordoned : counts_.up, 1);
}

}  // namespace tarcil
