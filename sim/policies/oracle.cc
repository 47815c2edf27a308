#include "sim/policies/oracle.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

namespace tarcil::sim {
namespace {

constexpr Duration kLeastWait = std::chrono::milliseconds(1);

double microsOf(Duration duration) {
  return static_cast<double>(duration.count());
}

}  // namespace

double Recent::deviation() const {
  return std::sqrt(variance_);
}

Oracle::Oracle(World& world) : world_(world) {
  const std::vector<SimServer>& servers = world_.servers();
  for (ServerNumber server = 0; server < servers.size(); ++server) {
    const PlatformNumber platform = servers[server].platform;
    if (platform >= byPlatform_.size()) byPlatform_.resize(platform + size_t{1});
    byPlatform_[platform].push_back(server);
    mostUnits_ = std::max(mostUnits_, servers[server].units);
  }
  const GroundTruth& truth = *world_.truth();
  for (ApplicationNumber application = 0; application < truth.applications(); ++application) {
    for (size_t number = 0; number < byPlatform_.size(); ++number) {
      const auto platform = static_cast<PlatformNumber>(number);
      const double alone = truth.alone(application, platform);
      companyHelps_ = companyHelps_ || truth.fastest(application, platform, mostUnits_) > alone;
    }
  }
}

void Oracle::jobArrived(JobNumber number) {
  const SimJob& job = world_.job(number);
  for (TaskNumber task = job.firstTask; task < job.firstTask + job.tasks; ++task) {
    if (startedAtBest(task)) continue;
    waitingLike(task).emplace(world_.workload().work[task], task);
    ++waitingTasks_;
    lookAgainLater(task);
  }
}

void Oracle::received(const Message& message) {
  const TaskNumber task = message.a;
  const auto entry = std::pair(world_.workload().work[task], task);
  Alike& alike = waitingLike(task);
  if (!alike.contains(entry)) return;
  if (!startedAtBest(task)) return lookAgainLater(task);
  alike.erase(entry);
  --waitingTasks_;
}

void Oracle::taskEnded(TaskNumber, ServerNumber server) {
  endInterval_.add(microsOf(world_.now() - lastEnd_));
  lastEnd_ = world_.now();
  while (waitingTasks_ > 0) {
    Alike* from = nullptr;
    double most = 0;
    for (auto& [kind, alike] : waiting_) {
      if (alike.empty() || world_.freeUnits(server) < static_cast<int32_t>(kind.second)) continue;
      const Offer offer = offerOf(server, alike.begin()->second);
      if (offer.gain / offer.micros <= most || isWorthWaiting(offer)) continue;
      most = offer.gain / offer.micros;
      from = &alike;
    }
    if (from == nullptr) return;
    const TaskNumber task = from->begin()->second;
    from->erase(from->begin());
    --waitingTasks_;
    world_.start(task, server);
  }
}

Oracle::Alike& Oracle::waitingLike(TaskNumber task) {
  const SimJob& job = world_.job(world_.jobOf(task));
  return waiting_[{job.application, job.rus}];
}

bool Oracle::startedAtBest(TaskNumber task) {
  const Offer offer = best(task);
  const bool waits = offer.gain <= 0 || isWorthWaiting(offer);
  offers_.add(offer.gain);
  if (!waits) world_.start(task, offer.server);
  return !waits;
}

void Oracle::lookAgainLater(TaskNumber task) {
  world_.send(std::max(kLeastWait, Duration(static_cast<int64_t>(wait()))), {.a = task});
}

double Oracle::wait() const {
  return (waitingTasks_ + 1) * endInterval_.mean();
}

bool Oracle::isWorthWaiting(const Offer& offer) const {
  const double expected = std::min(1.0, offers_.mean() - offers_.deviation());
  return offer.gain < expected * offer.micros / (offer.micros + wait());
}

Oracle::Offer Oracle::best(TaskNumber task) {
  const SimJob& job = world_.job(world_.jobOf(task));
  const auto alone = [this, &job](PlatformNumber platform) {
    return world_.truth()->alone(job.application, platform);
  };
  platforms_.resize(byPlatform_.size());
  std::iota(platforms_.begin(), platforms_.end(), PlatformNumber{0});
  std::sort(platforms_.begin(), platforms_.end(),
            [&alone](PlatformNumber a, PlatformNumber b) { return alone(a) > alone(b); });
  Offer best;
  for (const PlatformNumber platform : platforms_) {
    const double most = alone(platform);
    for (const ServerNumber server : byPlatform_[platform]) {
      if (!companyHelps_ && best.gain >= most) return best;
      if (world_.freeUnits(server) < static_cast<int32_t>(job.rus)) continue;
      const Offer offer = offerOf(server, task);
      if (offer.gain > best.gain) best = offer;
    }
  }
  return best;
}

Oracle::Offer Oracle::offerOf(ServerNumber server, TaskNumber task) {
  const SimJob& job = world_.job(world_.jobOf(task));
  const auto there = world_.runningOn(server);
  const auto before = world_.speedsOn(server);
  together_.assign(there.begin(), there.end());
  together_.push_back(job.application);
  speeds_.resize(together_.size());
  world_.truth()->speedsOn(server, world_.servers()[server].platform, together_, speeds_);
  const size_t residents = world_.servers()[server].residents.size();
  for (size_t i = residents; i < before.size(); ++i) speeds_[i] *= world_.paceOf(world_.tasksOn(server)[i]);
  speeds_.back() *= world_.paceOf(task);
  Offer offer{.server = server, .gain = speeds_.back()};
  for (size_t i = 0; i < before.size(); ++i) offer.gain -= before[i] - speeds_[i];
  offer.micros =
      microsOf(world_.now() - job.arrival) + microsOf(world_.workload().work[task]) / speeds_.back();
  return offer;
}

}  // namespace tarcil::sim
