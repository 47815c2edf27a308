#include "tests/support/guarantee_trial.h"

#include "core/model/sample_size.h"

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
      judgePromise(spec, decision.explanation);
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
    result_.capped += explained.enoughFound || explained.allSeen ? 0 : 1;
  }

  void judgePromise(const JobSpec& spec, const Explanation& explained) {
    const double promise = guaranteePromised(explained);
    result_.promise += promise;
    result_.found += explained.enoughFound ? 1 : 0;
    const bool promised = promise >= explained.confidence;
    const bool stated = guaranteeReached(explained) >= explained.confidence;
    if (explained.allSeen || (!promised && !stated)) return;
    const bool foundAgain = decide(spec).explanation.enoughFound;
    if (stated) {
      ++result_.stated;
      result_.statedBroken += foundAgain ? 0 : 1;
    }
    if (!promised) return;
    ++result_.promised;
    result_.brokenAgain += foundAgain ? 0 : 1;
    if (explained.enoughFound) return;
    ++result_.broken;
    const Decision best = lookAtEverything(spec, spec.tasks);
    result_.brokenForWant += best.claims.size() < spec.tasks ? 1 : 0;
  }

  void compareWithScan(const JobSpec& spec, const Explanation& explained) {
    const Decision scan = lookAtEverything(spec, 1);
    const double p = shareAcceptable(scan.explanation);
    const double half = (1 - explained.confidence) / 2;
    const double cap = guarantee(p, explained.most, trial_.tasks);
    ++result_.scanned;
    result_.p += p;
    result_.belowBound += p < lowerBound(explained.firstAcceptable, explained.firstDrawn, 1 - half) ? 1 : 0;
    result_.belowBound95 += p < lowerBound(explained.firstAcceptable, explained.firstDrawn, 0.95) ? 1 : 0;
    result_.guaranteeOfCap += cap;
    result_.capSuffices += cap >= explained.confidence ? 1 : 0;
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
