#include "sim/policies/scored_choice.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace tarcil::sim {
namespace {

double freePart(const Fill& fill) {
  return static_cast<double>(fill.free) / fill.units;
}

class HighestScore final : public ServerChoice {
 public:
  HighestScore(const World& world, Score score, Rng rng)
      : world_(world),
        score_(score),
        rng_(rng),
        fills_(world.servers().size()),
        serversOf_(world.workload().jobs.size()) {}

  void hasFree(ServerNumber server, uint32_t units) override {
    fills_[server] = {.units = units, .free = units};
  }
  void taken(TaskNumber task, ServerNumber server) override {
    fills_[server].free -= jobOf(task).rus;
    serversOf_[world_.jobOf(task)].push_back(server);
  }
  void released(TaskNumber task, ServerNumber server) override {
    fills_[server].free += jobOf(task).rus;
    std::vector<ServerNumber>& servers = serversOf_[world_.jobOf(task)];
    servers.erase(std::find(servers.begin(), servers.end(), server));
  }

  Choice choose(TaskNumber task) override {
    const SimJob& job = jobOf(task);
    const std::vector<ServerNumber>& others = serversOf_[world_.jobOf(task)];
    for (const ServerNumber server : others) ++fills_[server].ofJob;
    Choice choice;
    double highest = -std::numeric_limits<double>::infinity();
    uint32_t alike = 0;
    for (ServerNumber server = 0; server < fills_.size(); ++server) {
      Fill fill = fills_[server];
      if (fill.free < job.rus) continue;
      ++choice.looked;
      fill.free -= job.rus;
      fill.jobTasks = job.tasks;
      const double score = score_(fill);
      if (score < highest) continue;
      alike = score > highest ? 1 : alike + 1;
      highest = score;
      if (rng_.below(alike) == 0) choice.server = server;
    }
    for (const ServerNumber server : others) fills_[server].ofJob = 0;
    return choice;
  }

 private:
  const SimJob& jobOf(TaskNumber task) const { return world_.job(world_.jobOf(task)); }

  const World& world_;
  const Score score_;
  Rng rng_;
  std::vector<Fill> fills_;                           // by server, without a further task
  std::vector<std::vector<ServerNumber>> serversOf_;  // by job, of each of its tasks
};

}  // namespace

double mostAllocated(const Fill& fill) {
  return std::floor(100 * (1 - freePart(fill)));
}

double leastAllocated(const Fill& fill) {
  return std::floor(100 * freePart(fill));
}

double bestFit(const Fill& fill) {
  constexpr double kMost = 18;
  const double fit = std::clamp(20 - 2 * std::pow(10, freePart(fill)), 0.0, kMost) / kMost;
  if (fill.ofJob == 0) return fit;
  return (fit - static_cast<double>(fill.ofJob + 1) / fill.jobTasks) / 2;
}

std::unique_ptr<ServerChoice> highestScore(const World& world, Score score, Rng rng) {
  return std::make_unique<HighestScore>(world, score, rng);
}

}  // namespace tarcil::sim
