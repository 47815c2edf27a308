#include "sim/policies/central.h"

#include <algorithm>

namespace tarcil::sim {

CentralPolicy::CentralPolicy(World& world, const CentralOptions& options, Rng rng)
    : world_(world), options_(options), rng_(rng) {
  const std::vector<SimServer>& servers = world_.servers();
  free_.resize(servers.size());
  for (ServerNumber server = 0; server < servers.size(); ++server) {
    if (options_.choice == Central::kLeastLoaded) byLoad_.emplace(1, server);
    setFree(server, servers[server].capacity());
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

}  // namespace tarcil::sim
