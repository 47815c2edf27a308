// Question: is the promise of a sample kept? Of the decisions for jobs to which at least one free slot in so
// many is acceptable (--rarity), as a scan of all shows: how many did not find enough?
//
//   guarantee [--decisions N] [--servers N] [--rarity X] [--confidence X] [--cap N] [--mean-sum X] [--seed S]
//
// Clusters that the scheduler itself fills with mixed jobs and keeps at their load: each decision is placed,
// and random tasks end. Exits with 1 where more promises were broken than eps explains.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "bench/report.h"
#include "tests/support/guarantee_trial.h"

namespace tarcil::bench {
namespace {

struct Flags {
  uint64_t decisions = 100'000;
  GeneratedOptions cluster;
};

double share(double count, uint64_t of) {
  return of == 0 ? 0 : count / static_cast<double>(of);
}

void printShare(const char* what, uint64_t hits, uint64_t of) {
  const Interval interval = shareInterval(hits, of);
  std::printf("    %-46s %7llu of %7llu: %.6f  [%.6f, %.6f]\n", what, static_cast<unsigned long long>(hits),
              static_cast<unsigned long long>(of), share(static_cast<double>(hits), of), interval.low,
              interval.high);
}

// False where more were broken than eps explains.
bool report(const GuaranteeResult& result, uint32_t tasks, double eps) {
  std::printf("  m = %u: load %.3f, p %.3f, %.2f draws a task, %.4f of the tasks placed\n", tasks,
              share(result.load, result.decisions), share(result.p, result.scanned),
              share(result.draws, result.decisions * tasks),
              share(result.tasksPlaced, result.decisions * tasks));
  printShare("promised, then not found", result.broken, result.covered);
  printShare("the limit of draws was reached in vain", result.limited, result.decisions);
  printShare("every free slot was drawn", result.everySlotSeen, result.decisions);
  std::printf("    found: %.4f of the decisions\n", share(result.found, result.decisions));
  std::fflush(stdout);
  return shareInterval(result.broken, result.covered).low <= eps;
}

int run(const Flags& flags) {
  printConditions();
  const QualitySettings& settings = flags.cluster.settings;
  const double eps = 1 - settings.confidence;
  std::printf(
      "seed %llu, %llu decisions a case, rarity %g, eps %g, cap %s, floor %u; shares with their 95 %% "
      "interval "
      "(Clopper, Pearson)\n",
      static_cast<unsigned long long>(flags.cluster.seed), static_cast<unsigned long long>(flags.decisions),
      settings.rarity, eps, settings.cap ? std::to_string(*settings.cap).c_str() : "none", settings.floor);
  bool sound = true;
  for (int percent : {30, 60, 80, 90}) {
    GeneratedCluster cluster(flags.cluster);
    const double load = cluster.fillTo(percent / 100.0);
    std::printf(
        "\n%u servers of %u units, %.1f %% taken; pressure of a server's tasks on a resource, mean: %.1f of "
        "99\n",
        flags.cluster.servers, flags.cluster.rus, 100 * load, cluster.meanSum());
    for (uint32_t tasks : {1, 8, 100}) {
      const GuaranteeTrial trial{
          .tasks = tasks, .decisions = flags.decisions, .settings = settings, .seed = flags.cluster.seed};
      sound = report(tryGuarantee(cluster, trial), tasks, eps) && sound;
    }
  }
  if (!sound) std::printf("\nMore promises were broken than eps explains.\n");
  return sound ? 0 : 1;
}

}  // namespace
}  // namespace tarcil::bench

int main(int argc, char** argv) {
  tarcil::bench::Flags flags;
  flags.cluster.servers = 10'000;
  CLI::App app("Counts how often the guarantee of a decision was broken.");
  app.add_option("--decisions", flags.decisions, "Decisions in each case.")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--servers", flags.cluster.servers, "Of ten units each.")
      ->check(CLI::Range(10, 1'000'000))
      ->capture_default_str();
  app.add_option("--cap", flags.cluster.settings.cap, "Most draws per task.")->check(CLI::Range(1, 10'000));
  app.add_option("--rarity", flags.cluster.settings.rarity, "Share of acceptable slots that is promised for.")
      ->check(CLI::Range(tarcil::kMinRarity, 1.0))
      ->capture_default_str();
  app.add_option("--confidence", flags.cluster.settings.confidence, "1 - eps.")
      ->check(CLI::Range(0.5, 0.999999))
      ->capture_default_str();
  app.add_option("--mean-sum", flags.cluster.meanSumWhenFull,
                 "What the tasks of a full server would press on a resource, in the mean.")
      ->check(CLI::Range(1.0, 500.0))
      ->capture_default_str();
  app.add_option("--seed", flags.cluster.seed, "Of clusters and decisions.")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  return tarcil::bench::run(flags);
}
