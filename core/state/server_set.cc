#include "core/state/server_set.h"

namespace tarcil {

void ServerSet::join(ServerId server, PlatformId platform, const Units& units, uint32_t drawable) {
  if (server >= member_.size()) member_.resize(size_t{server} + 1);
  member_[server] = true;
  ++servers_;
  if (platform >= byPlatform_.size()) byPlatform_.resize(size_t{platform} + 1);
  ++byPlatform_[platform];
  change(server, {}, units, drawable);
}

void ServerSet::part(ServerId server, PlatformId platform, const Units& units) {
  member_[server] = false;
  --servers_;
  --byPlatform_[platform];
  change(server, units, {}, 0);
}

void ServerSet::change(ServerId server, const Units& before, const Units& after, uint32_t drawable) {
  usableUnits_ += uint64_t{after.usable} - before.usable;
  freeUnits_ += uint64_t{after.free} - before.free;
  free_.set(server, drawable);
}

}  // namespace tarcil
