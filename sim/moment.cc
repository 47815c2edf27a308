#include "sim/moment.h"

#include <algorithm>

namespace tarcil::sim {

Moment momentOf(const World& world, SimTime at) {
  Moment moment{.seconds = static_cast<double>(at.count()) * 1e-6, .heldByStream = world.heldByStream()};
  if (world.truth() == nullptr) return moment;
  const std::vector<SimServer>& servers = world.servers();
  for (ServerNumber server = 0; server < servers.size(); ++server) {
    const auto tasks = world.tasksOn(server);
    const auto speeds = world.speedsOn(server);
    for (size_t i = servers[server].residents.size(); i < tasks.size(); ++i) {
      const auto step = static_cast<size_t>(speeds[i] * kQualitySteps);
      moment.byQuality[std::min(step, kQualitySteps - 1)] += world.job(world.jobOf(tasks[i])).rus;
    }
  }
  return moment;
}

}  // namespace tarcil::sim
