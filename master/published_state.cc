#include "master/published_state.h"

#include <algorithm>
#include <utility>

#include "core/state/state_checksum.h"

namespace tarcil {

PublishedState::PublishedState(std::vector<ServerUpdate> servers, const QualitySettings& settings,
                               const std::vector<PlatformRecord>& platforms)
    : servers_(std::move(servers)), settings_(settings) {
  for (const PlatformRecord& platform : platforms) take(platform);
  for (const ServerUpdate& server : servers_) {
    count(server, Sign::kAdd);
    noteForChecksum(server.id);
  }
}

void PublishedState::take(ServerUpdate update) {
  const ServerId id = update.id;
  if (id >= servers_.size()) servers_.resize(id + 1);
  ServerUpdate& server = servers_[id];
  if (server.facts) count(server, Sign::kSubtract);
  server.id = id;
  server.status = std::move(update.status);
  if (update.facts) server.facts = std::move(update.facts);
  count(server, Sign::kAdd);
  noteForChecksum(id);
}

uint64_t PublishedState::checksum() {
  for (ServerId id : stale_) {
    const uint64_t sum = checksumOf(id, servers_[id].status);
    checksum_ += sum - parts_[id].sum;
    parts_[id] = {sum, false};
  }
  stale_.clear();
  return checksum_;
}

void PublishedState::noteForChecksum(ServerId id) {
  if (id >= parts_.size()) parts_.resize(id + 1);
  if (parts_[id].isStale) return;
  parts_[id].isStale = true;
  stale_.push_back(id);
}

void PublishedState::count(const ServerUpdate& server, Sign sign) {
  const auto add = [sign](uint64_t& to, uint64_t amount) { to += sign == Sign::kAdd ? amount : -amount; };
  const ServerStatus& status = server.status;
  // Units that the server no longer has stay with their tasks until those end.
  const uint64_t free = status.free.size();
  const uint64_t held = server.facts->rus - std::min<uint64_t>(free, server.facts->rus);
  add(counts_.heldUnits, held);
  add(status.up && !status.cordoned ? counts_.freeUnits : counts_.idleUnits, free);
  add(!status.up ? counts_.down : status.cordoned ? counts_.cordoned : counts_.up, 1);
}

}  // namespace tarcil
