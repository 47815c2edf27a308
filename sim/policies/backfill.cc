#include "sim/policies/backfill.h"

#include <algorithm>
#include <queue>
#include <utility>

namespace tarcil::sim {

Backfill::Backfill(World& world, const CentralOptions& options) : world_(world), options_(options) {
  for (const SimServer& server : world_.servers()) free_.push_back(server.capacity());
}

void Backfill::jobArrived(JobNumber job) {
  waiting_.push_back({job, world_.job(job).firstTask});
  startWhatFits();
}

void Backfill::taskEnded(TaskNumber task, ServerNumber server) {
  world_.send(options_.launch.toRelease, {.kind = kReleased, .a = task, .b = server});
}

void Backfill::received(const Message& message) {
  if (message.kind == kStart) return world_.start(message.a, message.b);
  free_[message.b] += world_.job(world_.jobOf(message.a)).rus;
  const auto ended = std::find_if(running_.begin(), running_.end(),
                                  [&message](const Running& one) { return one.task == message.a; });
  *ended = running_.back();
  running_.pop_back();
  startWhatFits();
}

uint32_t Backfill::tasksOf(const Waiting& waiting) const {
  const SimJob& job = world_.job(waiting.job);
  uint64_t slots = 0;
  for (const SimServer& server : world_.servers()) slots += server.capacity() / job.rus;
  const uint32_t left = job.firstTask + job.tasks - waiting.next;
  return static_cast<uint32_t>(std::min<uint64_t>(left, slots));
}

SimTime Backfill::endOf(const Waiting& waiting, uint32_t tasks) const {
  const auto first = world_.workload().work.begin() + waiting.next;
  return world_.now() + *std::max_element(first, first + tasks);
}

std::vector<ServerNumber> Backfill::room(std::vector<uint32_t> free, uint32_t rus, uint32_t tasks) const {
  const auto part = [this, &free](ServerNumber server) {
    return static_cast<double>(free[server]) / world_.servers()[server].units;
  };
  std::priority_queue<std::pair<double, ServerNumber>> byPart;
  for (ServerNumber server = 0; server < free.size(); ++server) {
    if (free[server] >= rus) byPart.emplace(part(server), server);
  }
  std::vector<ServerNumber> servers;
  while (servers.size() < tasks && !byPart.empty()) {
    const ServerNumber server = byPart.top().second;
    byPart.pop();
    servers.push_back(server);
    free[server] -= rus;
    if (free[server] >= rus) byPart.emplace(part(server), server);
  }
  if (servers.size() < tasks) servers.clear();
  return servers;
}

Backfill::Reservation Backfill::reservationFor(const Waiting& first) const {
  const uint32_t rus = world_.job(first.job).rus, tasks = tasksOf(first);
  std::vector<Running> byEnd = running_;
  std::sort(byEnd.begin(), byEnd.end(), [](const Running& a, const Running& b) { return a.ends < b.ends; });
  Reservation reservation{.from = world_.now(), .spare = free_};
  uint64_t slots = 0;
  for (const uint32_t units : reservation.spare) slots += units / rus;
  for (const Running& next : byEnd) {
    // With all that end at that time.
    if (slots >= tasks && next.ends > reservation.from) break;
    uint32_t& units = reservation.spare[next.server];
    slots -= units / rus;
    units += world_.job(world_.jobOf(next.task)).rus;
    slots += units / rus;
    reservation.from = std::max(reservation.from, next.ends);
  }
  for (const ServerNumber server : room(reservation.spare, rus, tasks)) reservation.spare[server] -= rus;
  return reservation;
}

void Backfill::start(Waiting& waiting, const std::vector<ServerNumber>& servers) {
  const uint32_t rus = world_.job(waiting.job).rus;
  busyUntil_ = std::max(busyUntil_, world_.now()) + options_.decision.of(1, free_.size());
  for (const ServerNumber server : servers) {
    const TaskNumber task = waiting.next++;
    free_[server] -= rus;
    running_.push_back({world_.now() + world_.workload().work[task], task, server});
    world_.send(busyUntil_ - world_.now() + options_.launch.toStart,
                {.kind = kStart, .a = task, .b = server});
  }
}

void Backfill::startWhatFits() {
  const auto hasStarted = [this](const Waiting& waiting) {
    const SimJob& job = world_.job(waiting.job);
    return waiting.next == job.firstTask + job.tasks;
  };
  while (!waiting_.empty()) {
    Waiting& first = waiting_.front();
    const std::vector<ServerNumber> servers = room(free_, world_.job(first.job).rus, tasksOf(first));
    if (servers.empty()) break;
    start(first, servers);
    if (hasStarted(first)) waiting_.pop_front();
  }
  if (waiting_.size() < 2) return;
  Reservation reservation = reservationFor(waiting_.front());
  const size_t depth = std::min(waiting_.size(), kMaxDepth + 1);
  for (size_t i = 1; i < depth; ++i) {
    Waiting& later = waiting_[i];
    const uint32_t rus = world_.job(later.job).rus, tasks = tasksOf(later);
    const bool endsBefore = endOf(later, tasks) <= reservation.from;
    std::vector<uint32_t> usable = free_;
    for (size_t server = 0; !endsBefore && server < usable.size(); ++server) {
      usable[server] = std::min(usable[server], reservation.spare[server]);
    }
    const std::vector<ServerNumber> servers = room(std::move(usable), rus, tasks);
    start(later, servers);
    for (const ServerNumber server : servers) {
      if (!endsBefore) reservation.spare[server] -= rus;
    }
  }
  std::erase_if(waiting_, hasStarted);
}

}  // namespace tarcil::sim
