#include "tests/support/guarantee_trial.h"

#include <algorithm>
#include <cmath>

namespace tarcil {
namespace {

class Trial {
 public:
  Trial(GeneratedCluster& cluster, const GuaranteeTrial& trial)
      : cluster_(cluster), trial_(trial), level_(cluster.load()), rng_(trial.seed) {}

  GuaranteeResult run() {
    for (uint64_t i = 0; i < trial_.decisions; ++i) {
      const JobSpec spec = cluster_.job(trial_.tasks);
      const Decision decision = decide(spec);
      count(decision);
      if (i % trial_.scanEvery == 0) compareWithScan(spec, decision.explanation);
      turnOver(spec, decision);
    }
    return result_;
  }

 private:
  // From draws of its own.
  Decision decide(const JobSpec& spec) {
    PlacementRequest request{.spec = spec, .tasks = {}, .placedOn = {}};
    for (TaskIndex task = 0; task < spec.tasks; ++task) request.tasks.push_back({task, 0});
    request.candidates = 0;
    return chooser_.choose(cluster_.state(), request, trial_.settings, rng_());
  }

  Decision lookAtEverything(JobSpec spec, uint32_t tasks) {
    spec.policy = Policy::kGreedy;
    spec.tasks = tasks;
    return decide(spec);
  }

  void count(const Decision& decision) {
    const Explanation& explained = decision.explanation;
    ++result_.decisions;
    result_.load += cluster_.load();
    result_.draws += explained.drawn;
    result_.tasksPlaced += static_cast<double>(explained.placed);
    result_.everySlotSeen += explained.allSeen ? 1 : 0;
    result_.found += explained.enoughFound ? 1 : 0;
    result_.limited += explained.enoughFound || explained.allSeen ? 0 : 1;
  }

  void compareWithScan(const JobSpec& spec, const Explanation& explained) {
    const Explanation seen = lookAtEverything(spec, 1).explanation;
    ++result_.scanned;
    result_.p += shareAcceptable(seen);
    const double needed = std::max(std::ceil(explained.rarity * seen.freeSlots), 1.0 * spec.tasks);
    if (!lookAtEverything(spec, static_cast<uint32_t>(needed)).explanation.enoughFound) return;
    ++result_.covered;
    result_.broken += explained.enoughFound ? 0 : 1;
  }

  // A cluster in which no job finds a place must not stand still.
  void turnOver(const JobSpec& spec, const Decision& decision) {
    cluster_.place(spec, decision);
    if (decision.claims.empty() && cluster_.tasks() > 0) cluster_.endOne();
    while (cluster_.load() > level_) cluster_.endOne();
  }

  GeneratedCluster& cluster_;
  const GuaranteeTrial& trial_;
  const double level_;
  Rng rng_;
  Chooser chooser_;
  GuaranteeResult result_;
};

}  // namespace

GuaranteeResult tryGuarantee(GeneratedCluster& cluster, const GuaranteeTrial& trial) {
  return Trial(cluster, trial).run();
}

}  // namespace tarcil
