#include "core/state/server_set.h"

namespace tarcil {

void ServerSet::join(ServerId server, PlatformId platform, uint32_t units) {
  if (server >= member_.size()) member_.resize(size_t{server} + 1);
  member_[server] = true;
  ++servers_;
  if (platform >= byPlatform_.size()) byPlatform_.resize(size_t{platform} + 1);
  ++byPlatform_[platform];
  free_.set(server, units);
}

void ServerSet::part(ServerId server, PlatformId platform) {
  member_[server] = false;
  --servers_;
  --byPlatform_[platform];
  free_.set(server, 0);
}

}  // namespace tarcil
