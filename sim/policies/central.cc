#include "sim/policies/central.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace tarcil::sim {

CentralPolicy::CentralPolicy(World& world, std::unique_ptr<ServerChoice> choice,
                             const CentralOptions& options)
    : world_(world), choice_(std::move(choice)), options_(options) {
  const std::vector<SimServer>& servers = world_.servers();
  for (ServerNumber server = 0; server < servers.size(); ++server) {
    choice_->hasFree(server, servers[server].capacity());
  }
}

void CentralPolicy::jobArrived(JobNumber number) {
  const SimJob& job = world_.job(number);
  for (TaskNumber task = job.firstTask; task < job.firstTask + job.tasks; ++task) {
    queues_[choice_->queueOf(task)].push_back(task);
  }
  startWhatFits();
  if (const auto bound = choice_->boundOf(job.firstTask)) world_.send(*bound, {.kind = kBound});
}

void CentralPolicy::taskEnded(TaskNumber task, ServerNumber server) {
  const Message released{.kind = kReleased, .a = task, .b = server};
  const Duration delay = options_.launch.toRelease;
  delay.count() > 0 ? world_.send(delay, released) : received(released);
}

void CentralPolicy::received(const Message& message) {
  if (message.kind == kStart) return world_.start(message.a, message.b);
  if (message.kind == kReleased) choice_->released(message.a, message.b);
  startWhatFits();
}

void CentralPolicy::startWhatFits() {
  // The first of each queue, in the order of arrival; tasks are numbered so.
  std::map<TaskNumber, uint64_t> firsts;
  for (const auto& [name, queue] : queues_) {
    if (!queue.empty()) firsts.emplace(queue.front(), name);
  }
  while (!firsts.empty()) {
    const auto [task, name] = *firsts.begin();
    firsts.erase(firsts.begin());
    if (!placed(task)) continue;
    std::deque<TaskNumber>& queue = queues_[name];
    queue.pop_front();
    if (!queue.empty()) firsts.emplace(queue.front(), name);
  }
}

bool CentralPolicy::placed(TaskNumber task) {
  const Choice choice = choice_->choose(task);
  ++counts_.decisions;
  busyUntil_ = std::max(busyUntil_, world_.now()) + options_.decision.of(1, choice.looked);
  if (choice.server == kNoServer) return false;
  choice_->taken(task, choice.server);
  const Message start{.kind = kStart, .a = task, .b = choice.server};
  const Duration deciding = busyUntil_ - world_.now();
  counts_.decisionMicros.push_back(static_cast<float>(deciding.count()));
  const Duration delay = deciding + options_.launch.toStart;
  delay.count() > 0 ? world_.send(delay, start) : received(start);
  return true;
}

}  // namespace tarcil::sim
