#include "sim/policies/central.h"

#include <algorithm>
#include <numeric>

namespace tarcil::sim {

CentralPolicy::CentralPolicy(World& world, const CentralOptions& options, Rng rng)
    : world_(world), options_(options), rng_(rng) {
  const std::vector<SimServer>& servers = world_.servers();
  free_.resize(servers.size());
  for (ServerNumber server = 0; server < servers.size(); ++server) {
    if (options_.choice == Central::kLeastLoaded) byLoad_.emplace(1, server);
    setFree(server, servers[server].capacity());
    const PlatformNumber platform = servers[server].platform;
    if (platform >= byPlatform_.size()) byPlatform_.resize(platform + size_t{1});
    byPlatform_[platform].push_back(server);
  }
}

void CentralPolicy::setFree(ServerNumber server, uint32_t units) {
  const double all = world_.servers()[server].units;
  if (options_.choice == Central::kLeastLoaded) {
    byLoad_.erase({1 - free_[server] / all, server});
    byLoad_.emplace(1 - units / all, server);
  } else if (options_.choice == Central::kAny) {
    index_.set(server, units);
  }
  free_[server] = units;
}

void CentralPolicy::jobArrived(JobNumber job) {
  const SimJob& arrived = world_.job(job);
  for (uint32_t i = 0; i < arrived.tasks; ++i) waiting_.push_back(arrived.firstTask + i);
  startWhatFits();
}

void CentralPolicy::taskEnded(TaskNumber task, ServerNumber server) {
  const Message free{.kind = kFree, .a = server, .b = world_.job(world_.jobOf(task)).rus};
  options_.oneWay.count() > 0 ? world_.send(options_.oneWay, free) : received(free);
}

void CentralPolicy::received(const Message& message) {
  if (message.kind == kStart) return world_.start(message.a, message.b);
  setFree(message.a, free_[message.a] + message.b);
  startWhatFits();
}

void CentralPolicy::startWhatFits() {
  while (!waiting_.empty()) {
    const TaskNumber task = waiting_.front();
    const SimJob& job = world_.job(world_.jobOf(task));
    const ServerNumber server = choose(job);
    if (server == kNone) return;
    waiting_.pop_front();
    setFree(server, free_[server] - job.rus);
    busyUntil_ = std::max(busyUntil_, world_.now()) + options_.perTask;
    const Message start{.kind = kStart, .a = task, .b = server};
    const Duration delay = busyUntil_ - world_.now() + options_.oneWay;
    delay.count() > 0 ? world_.send(delay, start) : received(start);
  }
}

ServerNumber CentralPolicy::choose(const SimJob& job) {
  switch (options_.choice) {
    case Central::kLeastLoaded:
      return leastLoaded(job.rus);
    case Central::kBestTruth:
      return bestByTruth(job);
    case Central::kAny:
      break;
  }
  const FreeIndex::Draws draws(index_, job.rus);
  return draws.empty() ? kNone : draws.next(rng_).server;
}

ServerNumber CentralPolicy::leastLoaded(uint32_t rus) const {
  for (const auto& [load, server] : byLoad_) {
    if (load >= 1) break;
    if (free_[server] >= rus) return server;
  }
  return kNone;
}

ServerNumber CentralPolicy::bestByTruth(const SimJob& job) {
  GroundTruth& truth = *world_.truth();
  std::vector<PlatformNumber> platforms(byPlatform_.size());
  std::iota(platforms.begin(), platforms.end(), PlatformNumber{0});
  std::sort(platforms.begin(), platforms.end(), [&](PlatformNumber a, PlatformNumber b) {
    return truth.alone(job.application, a) > truth.alone(job.application, b);
  });
  // So little is not worth a further look.
  constexpr double kEnough = 0.002;
  ServerNumber best = kNone;
  double most = 0;
  for (PlatformNumber platform : platforms) {
    const double bound = truth.alone(job.application, platform);
    const std::vector<ServerNumber>& servers = byPlatform_[platform];
    const size_t from = servers.empty() ? 0 : rng_.below(servers.size());
    for (size_t i = 0; i < servers.size(); ++i) {
      if (best != kNone && most >= bound - kEnough) return best;
      const ServerNumber server = servers[(from + i) % servers.size()];
      if (free_[server] < job.rus) continue;
      const double here = gain(job, server);
      if (best == kNone || here > most) {
        best = server;
        most = here;
      }
    }
  }
  return best;
}

double CentralPolicy::gain(const SimJob& job, ServerNumber server) {
  const auto there = world_.runningOn(server);
  const auto before = world_.speedsOn(server);
  together_.assign(there.begin(), there.end());
  together_.push_back(job.application);
  speeds_.resize(together_.size());
  world_.truth()->speedsOn(server, world_.servers()[server].platform, together_, speeds_);
  double gain = speeds_.back();
  for (size_t i = 0; i < before.size(); ++i) gain -= before[i] - speeds_[i];
  return gain;
}

}  // namespace tarcil::sim
