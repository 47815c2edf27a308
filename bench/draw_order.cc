// Question: when should the buckets be asked where to draw: never, after a sample that drew to its limit,
// before the first draw, or after the first block of draws, as agents do?
//
//   draw_order [--servers N] [--decisions N] [--rarity X] [--seed S]
//
// Clusters that the scheduler itself fills with mixed jobs and keeps at their load; each decision of a job of
// one task is made in all four ways on the same state. What is there is told by a scan.
#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>

#include "agent/logic/likely_servers.h"
#include "bench/report.h"
#include "tests/support/generated_cluster.h"

namespace tarcil::bench {
namespace {

enum class Order : uint8_t { kNever, kAfterTheLast, kBeforeTheFirst, kAfterTheFirstBlock };
constexpr std::array<const char*, 4> kOrders = {"never", "after the last draw", "before the first draw",
                                                "after the first block"};

struct Flags {
  uint64_t decisions = 20'000;
  GeneratedOptions cluster;
};

struct Sum {
  double draws = 0, found = 0;
  double inVain = 0;  // draws of decisions that found nothing
};

class Trial {
 public:
  Trial(GeneratedCluster& cluster, const Flags& flags)
      : cluster_(cluster), flags_(flags), rng_(flags.cluster.seed), level_(cluster.load()) {
    likely_.updateAll(cluster_.state());
  }

  void run() {
    for (uint64_t i = 0; i < flags_.decisions; ++i) {
      const JobSpec spec = cluster_.job(1);
      const uint64_t seed = rng_();
      Decision kept;
      for (size_t order = 0; order < kOrders.size(); ++order)
        kept = tried(static_cast<Order>(order), spec, seed);
      scan(spec);
      turnOver(spec, kept);
    }
    report();
  }

 private:
  Decision decide(const JobSpec& spec, const QualitySettings& settings, uint64_t seed, bool asks) {
    PlacementRequest request{.spec = spec, .tasks = {{0, 0}}, .placedOn = {}};
    request.candidates = 0;
    if (asks) request.ask = [&](size_t servers) { return draw(spec, servers, seed); };
    return chooser_.choose(cluster_.state(), request, settings, seed);
  }

  std::vector<ServerId> draw(const JobSpec& spec, size_t servers, uint64_t seed) {
    Rng rng(seed);
    return likely_.draw(cluster_.state(), spec, flags_.cluster.settings, servers, rng);
  }

  // No bucket matches.
  bool isHopeless(const JobSpec& spec, uint64_t seed) {
    QualitySettings always = flags_.cluster.settings;
    always.rarity = 1;
    Rng rng(seed);
    return likely_.draw(cluster_.state(), spec, always, 1, rng).empty();
  }

  Decision decideIn(Order order, const JobSpec& spec, uint64_t seed) {
    const QualitySettings& settings = flags_.cluster.settings;
    if (order == Order::kAfterTheFirstBlock) return decide(spec, settings, seed, true);
    if (order == Order::kNever) return decide(spec, settings, seed, false);
    if (order == Order::kAfterTheLast) {
      Decision decision = decide(spec, settings, seed, false);
      if (decision.explanation.enoughFound) return decision;
      Decision second = decide(spec, settings, seed, true);
      second.explanation.drawn += decision.explanation.drawn;
      return second;
    }
    if (isHopeless(spec, seed)) return {};
    return decide(spec, settings, seed, true);
  }

  Decision tried(Order order, const JobSpec& spec, uint64_t seed) {
    Decision decision = decideIn(order, spec, seed);
    Sum& sum = sums_[static_cast<size_t>(order)];
    sum.draws += decision.explanation.drawn;
    sum.found += decision.claims.empty() ? 0 : 1;
    sum.inVain += decision.claims.empty() ? decision.explanation.drawn : 0;
    return decision;
  }

  void scan(JobSpec spec) {
    spec.policy = Policy::kGreedy;
    const Explanation seen = decide(spec, flags_.cluster.settings, 1, false).explanation;
    const double p = shareAcceptable(seen);
    p_ += p;
    there_ += seen.enoughFound ? 1 : 0;
    rare_ += p < flags_.cluster.settings.rarity ? 1 : 0;
  }

  void turnOver(const JobSpec& spec, const Decision& decision) {
    cluster_.place(spec, decision);
    for (const Claim& claim : decision.claims) likely_.update(cluster_.state(), claim.server);
    const auto endOne = [this] { likely_.update(cluster_.state(), cluster_.endOne()); };
    if (decision.claims.empty() && cluster_.tasks() > 0) endOne();
    while (cluster_.load() > level_) endOne();
  }

  void report() const {
    const auto of = static_cast<double>(flags_.decisions);
    std::printf(
        "  p %.3f in the mean; below the rarity for %.3f of the jobs; some slot acceptable for %.4f\n",
        p_ / of, rare_ / of, there_ / of);
    for (size_t order = 0; order < kOrders.size(); ++order) {
      const Sum& sum = sums_[order];
      std::printf("    %-24s %6.1f draws, %6.1f of them in vain  found %.4f\n", kOrders[order],
                  sum.draws / of, sum.inVain / of, sum.found / of);
    }
    std::fflush(stdout);
  }

  GeneratedCluster& cluster_;
  const Flags& flags_;
  Rng rng_;
  const double level_;
  Chooser chooser_;
  agent::LikelyServers likely_;
  std::array<Sum, kOrders.size()> sums_{};
  double p_ = 0, there_ = 0, rare_ = 0;
};

int run(const Flags& flags) {
  printConditions();
  std::printf("seed %llu, %llu decisions a case, rarity %g, confidence %g\n",
              static_cast<unsigned long long>(flags.cluster.seed),
              static_cast<unsigned long long>(flags.decisions), flags.cluster.settings.rarity,
              flags.cluster.settings.confidence);
  for (int percent : {30, 60, 90}) {
    GeneratedCluster cluster(flags.cluster);
    std::printf("\n%u servers, %.1f %% taken\n", flags.cluster.servers,
                100 * cluster.fillTo(percent / 100.0));
    Trial(cluster, flags).run();
  }
  return 0;
}

}  // namespace
}  // namespace tarcil::bench

int main(int argc, char** argv) {
  tarcil::bench::Flags flags;
  flags.cluster.servers = 10'000;
  CLI::App app("Compares when the buckets are asked where to draw.");
  app.add_option("--decisions", flags.decisions, "In each case.")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--servers", flags.cluster.servers, "Of ten units each.")
      ->check(CLI::Range(10, 1'000'000))
      ->capture_default_str();
  app.add_option("--rarity", flags.cluster.settings.rarity, "As in tarcil tune.")
      ->check(CLI::Range(tarcil::kMinRarity, 1.0))
      ->capture_default_str();
  app.add_option("--mean-sum", flags.cluster.meanSumWhenFull,
                 "What the tasks of a full server would press on a resource, in the mean.")
      ->check(CLI::Range(1.0, 500.0))
      ->capture_default_str();
  app.add_option("--seed", flags.cluster.seed, "Of clusters and decisions.")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  return tarcil::bench::run(flags);
}
