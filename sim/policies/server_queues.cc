#include "sim/policies/server_queues.h"

#include <algorithm>
#include <cmath>

namespace tarcil::sim {

ServerQueues::ServerQueues(World& world, const ServerQueuesOptions& options, Rng rng)
    : world_(world), options_(options), rng_(rng) {
  const std::vector<SimServer>& servers = world_.servers();
  for (ServerNumber server = 0; server < servers.size(); ++server) {
    serverOfUnit_.insert(serverOfUnit_.end(), servers[server].capacity(), server);
  }
  queues_.resize(servers.size());
  drawnFor_.resize(servers.size());
  behind_.resize(world_.workload().work.size());
}

void ServerQueues::jobArrived(JobNumber job) {
  if (options_.sampling == Sampling::kPerTask || options_.sampling == Sampling::kBatch)
    return world_.send(options_.oneWay, {.kind = kProbed, .a = job});
  const SimJob& arrived = world_.job(job);
  draw(arrived.tasks, arrived.rus);
  for (uint32_t i = 0; i < arrived.tasks; ++i) {
    world_.send(options_.toStart, {.kind = kTaskArrives, .a = arrived.firstTask + i, .b = drawn_[i]});
  }
}

void ServerQueues::taskEnded(TaskNumber, ServerNumber server) {
  startWhatFits(server);
}

void ServerQueues::received(const Message& message) {
  if (message.kind == kProbed) {
    place(message.a);
  } else if (options_.sampling == Sampling::kRandomRetry && message.c + 1 < kMaxTries &&
             !hasRoom(message.a, message.b)) {
    tryElsewhere(message.a, message.c + 1);
  } else {
    enqueue(message.a, message.b);
  }
}

void ServerQueues::draw(size_t count, uint32_t rus) {
  const std::vector<SimServer>& servers = world_.servers();
  drawn_.clear();
  size_t fitting = 0;
  for (const SimServer& server : servers) fitting += server.capacity() >= rus ? 1 : 0;
  while (drawn_.size() < count) {
    // A round of distinct servers.
    ++draws_;
    const size_t round = std::min(count - drawn_.size(), fitting);
    for (size_t found = 0; found < round;) {
      const ServerNumber server = serverOfUnit_[rng_.below(serverOfUnit_.size())];
      if (drawnFor_[server] == draws_ || servers[server].capacity() < rus) continue;
      drawnFor_[server] = draws_;
      drawn_.push_back(server);
      ++found;
    }
  }
}

void ServerQueues::place(JobNumber number) {
  const SimJob& job = world_.job(number);
  const bool perTask = options_.sampling == Sampling::kPerTask;
  const auto own = static_cast<uint32_t>(std::ceil(options_.probeRatio));
  const auto together = static_cast<size_t>(std::ceil(options_.probeRatio * job.tasks));
  draw(perTask ? size_t{own} * job.tasks : together, job.rus);
  loads_.clear();
  for (uint32_t i = 0; i < drawn_.size(); ++i) loads_.emplace_back(loadOf(drawn_[i], job.rus), i);
  const auto send = [this, &job](uint32_t task, uint32_t index) {
    world_.send(2 * options_.oneWay, {.kind = kTaskArrives, .a = job.firstTask + task, .b = drawn_[index]});
  };
  if (perTask) {
    for (uint32_t task = 0; task < job.tasks; ++task) {
      const auto first = loads_.begin() + size_t{task} * own;
      send(task, std::min_element(first, first + own)->second);
    }
    return;
  }
  // Drawn in an order of chance, so the number decides ties by chance.
  const auto end = loads_.begin() + job.tasks;
  if (end != loads_.end()) std::nth_element(loads_.begin(), end, loads_.end());
  for (uint32_t task = 0; task < job.tasks; ++task) send(task, loads_[task].second);
}

double ServerQueues::loadOf(ServerNumber server, uint32_t rus) const {
  const int32_t free = world_.freeUnits(server);
  const double units = world_.servers()[server].capacity();
  if (queues_[server].length == 0 && free >= static_cast<int32_t>(rus)) return -free / units;
  return queues_[server].length / units;
}

void ServerQueues::tryElsewhere(TaskNumber task, uint32_t tries) {
  draw(1, world_.job(world_.jobOf(task)).rus);
  world_.send(2 * options_.oneWay, {.kind = kTaskArrives, .a = task, .b = drawn_.front(), .c = tries});
}

bool ServerQueues::hasRoom(TaskNumber task, ServerNumber server) const {
  const auto rus = static_cast<int32_t>(world_.job(world_.jobOf(task)).rus);
  return queues_[server].length == 0 && world_.freeUnits(server) >= rus;
}

void ServerQueues::enqueue(TaskNumber task, ServerNumber server) {
  Queue& queue = queues_[server];
  behind_[task] = kNobody;
  (queue.length == 0 ? queue.first : behind_[queue.last]) = task;
  queue.last = task;
  ++queue.length;
  startWhatFits(server);
}

void ServerQueues::startWhatFits(ServerNumber server) {
  Queue& queue = queues_[server];
  while (queue.length > 0) {
    const TaskNumber task = queue.first;
    const auto rus = static_cast<int32_t>(world_.job(world_.jobOf(task)).rus);
    if (world_.freeUnits(server) < rus) return;
    queue.first = behind_[task];
    --queue.length;
    world_.start(task, server);
  }
}

}  // namespace tarcil::sim
