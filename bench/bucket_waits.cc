// Question: how well do the histories of buckets tell how long it takes until units come free? On a cluster
// that the scheduler keeps at its load, waits are estimated from the last two hours, for each bucket and for
// the buckets that match each kind of job, and compared with those of the hour that follows.
//
//   bucket_waits [--servers N] [--load X] [--buckets N] [--mean-s D] [--interval-s D] [--hours N] [--seed S]
//                [--curves FILE]
//
// Time is virtual. Tasks last for exponential times; where one ends, others are placed until the load
// is back.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "bench/report.h"
#include "lsh/admission.h"
#include "lsh/wait_estimate.h"
#include "tests/support/generated_cluster.h"

namespace tarcil::bench {
namespace {

struct Flags {
  GeneratedOptions cluster;
  double load = 0.85;
  uint32_t buckets = 32;
  double meanSeconds = 120;
  int intervalSeconds = 20;
  int hours = 3;  // that are observed, after the first two
  std::string curves;
};

constexpr double kHour = 3600;

// Units that came into a bucket, or went from it, at a time in seconds.
struct Flow {
  double at;
  int32_t units;
};

class Running {
 public:
  explicit Running(const Flags& flags)
      : flags_(flags),
        cluster_(flags.cluster),
        rng_(flags.cluster.seed),
        index_({.buckets = flags.buckets, .interval = std::chrono::seconds(flags.intervalSeconds)}) {
    cluster_.fillTo(flags.load);
    for (ServerId id = 0; id < flags.cluster.servers; ++id) tell(id);
    while (index_.step(1'000)) continue;
  }

  void runUntil(double seconds) {
    for (;;) {
      const double next =
          now_ - flags_.meanSeconds / static_cast<double>(cluster_.tasks()) * std::log1p(-rng_.unit());
      if (next > seconds) break;
      now_ = next;
      cluster_.endOne();
      for (ServerId id = 0; id < flags_.cluster.servers; ++id) {
        if (cluster_.state().freeUnits(id) != static_cast<uint32_t>(free_[id])) tell(id);
      }
      for (int tries = 0; cluster_.load() < flags_.load && tries < 5; ++tries) place();
      index_.step(10);
    }
    now_ = seconds;
    index_.advance(time());
  }

  const BucketIndex& index() const { return index_; }
  const GeneratedCluster& cluster() const { return cluster_; }
  double load() const { return cluster_.load(); }
  // Since forget(), by bucket.
  const std::vector<std::vector<Flow>>& flows() const { return flows_; }
  void forget() { flows_.assign(index_.buckets().size(), {}); }

 private:
  MonotonicTime time() const { return MonotonicTime(Duration(static_cast<int64_t>(now_ * 1e6))); }

  void tell(ServerId id) {
    const auto from = index_.bucketOf(id);
    index_.update(id, cluster_.state().vacancy(id), time());
    const auto free = static_cast<int32_t>(cluster_.state().freeUnits(id));
    free_.resize(flags_.cluster.servers, 0);
    flows_.resize(index_.buckets().size());
    // A second writing of what counts as coming in: units given back, and free ones that move with
    // their server.
    if (from && *from == *index_.bucketOf(id)) {
      if (free > free_[id]) flows_[*from].push_back({now_, free - free_[id]});
    } else if (from) {
      flows_[*from].push_back({now_, -std::min(free, free_[id])});
      flows_[*index_.bucketOf(id)].push_back({now_, free});
    }
    free_[id] = free;
  }

  void place() {
    const JobSpec job = cluster_.job();
    const Decision decision = chooser_.choose(
        cluster_.state(), {.spec = job, .tasks = {{0, 0}}, .placedOn = {}}, flags_.cluster.settings, rng_());
    cluster_.place(job, decision);
    for (const Claim& claim : decision.claims) tell(claim.server);
  }

  const Flags& flags_;
  GeneratedCluster cluster_;
  Rng rng_;
  Chooser chooser_;
  BucketIndex index_;
  double now_ = 0;
  std::vector<int32_t> free_;  // by server, as told last
  std::vector<std::vector<Flow>> flows_;
};

// Seconds from `start` until so many units have come, or below 0 where they do not.
double waited(const std::vector<Flow>& flows, double start, double units) {
  auto flow =
      std::lower_bound(flows.begin(), flows.end(), start, [](const Flow& f, double at) { return f.at < at; });
  for (; flow != flows.end(); ++flow) {
    units -= flow->units;
    if (units <= 0) return flow->at - start;
  }
  return -1;
}

using Masks = std::vector<uint32_t>;  // by bucket, as a history takes them

struct Outcome {
  std::vector<double> errors;  // |estimated - observed| / observed, by bucket and hour
  double within = 0, beyond = 0, waits = 0, unknown = 0, seconds = 0;
};

// Units that came into any of these buckets, by time; what moved between two of them has not come.
std::vector<Flow> merged(const std::vector<std::vector<Flow>>& flows, const Masks& masks) {
  std::map<double, int32_t> sums;
  for (size_t bucket = 0; bucket < masks.size(); ++bucket) {
    if (masks[bucket] == 0) continue;
    for (const Flow& flow : flows[bucket]) sums[flow.at] += flow.units;
  }
  std::vector<Flow> all;
  for (const auto& [at, units] : sums) all.push_back({at, units});
  return all;
}

void compare(const std::vector<std::vector<Flow>>& flows, const std::vector<WaitEstimate>& estimates,
             double from, double units, Outcome& outcome) {
  for (size_t set = 0; set < estimates.size(); ++set) {
    const WaitEstimate& estimate = estimates[set];
    if (estimate.basis != WaitEstimate::Basis::kHistory) {
      ++outcome.unknown;
      continue;
    }
    const auto seconds = [](Duration d) { return static_cast<double>(d.count()) * 1e-6; };
    // Starts only from where the hour still shows the end of nearly every wait.
    const double span = kHour - 3 * seconds(estimate.bound);
    if (span < kHour / 3) {
      ++outcome.unknown;
      continue;
    }
    double sum = 0, count = 0;
    for (int i = 0; i < 1'000; ++i) {
      const double wait = waited(flows[set], from + span * i / 1'000, units);
      if (wait < 0) continue;
      sum += wait;
      ++count;
      outcome.within += wait <= seconds(estimate.likely) ? 1 : 0;
      outcome.beyond += wait > seconds(estimate.bound) ? 1 : 0;
    }
    if (count == 0) continue;
    outcome.waits += count;
    outcome.seconds += sum;
    outcome.errors.push_back(std::abs(seconds(estimate.mean) - sum / count) / (sum / count));
  }
}

// How long it took until one unit came, from a thousand starts of the hour; ascending.
std::vector<double> waitsOf(const std::vector<Flow>& flows, double from) {
  std::vector<double> waits;
  for (int i = 0; i < 1'000; ++i) {
    const double wait = waited(flows, from + kHour / 2 * i / 1'000, 1);
    if (wait >= 0) waits.push_back(wait);
  }
  std::sort(waits.begin(), waits.end());
  return waits;
}

// Of a quick bucket, a middling and a slow one: by when what part of the waits for one unit had ended, and by
// when 19 in 20 were estimated to have (Tarcil Fig. 6).
void writeCurves(const std::string& path, const std::vector<std::vector<Flow>>& flows,
                 const std::vector<WaitEstimate>& estimates, double from) {
  std::vector<std::pair<Duration, size_t>> known;
  for (size_t bucket = 0; bucket < estimates.size(); ++bucket) {
    if (estimates[bucket].basis != WaitEstimate::Basis::kHistory) continue;
    // Nearly every wait that begins in the first half of the hour ends in it.
    if (waitsOf(flows[bucket], from).size() > 990) known.emplace_back(estimates[bucket].likely, bucket);
  }
  std::sort(known.begin(), known.end());
  std::ofstream file(path);
  file << "bucket,part,seconds,estimated 95 %\n";
  if (known.empty()) return;
  for (const double rank : {0.1, 0.5, 0.9}) {
    const auto& [likely, bucket] = known[static_cast<size_t>(rank * static_cast<double>(known.size() - 1))];
    const std::vector<double> waits = waitsOf(flows[bucket], from);
    for (int percent = 0; percent <= 100; ++percent) {
      const double wait = waits[static_cast<size_t>(percent) * (waits.size() - 1) / 100];
      file << bucket << ',' << percent / 100.0 << ',' << wait << ','
           << static_cast<double>(likely.count()) * 1e-6 << '\n';
    }
  }
}

std::vector<WaitEstimate> estimates(const BucketIndex& index, const std::vector<Masks>& sets, double units) {
  std::vector<WaitEstimate> all;
  std::vector<int64_t> came;
  for (const Masks& masks : sets) {
    index.history().sums(masks, came);
    all.push_back(estimateWait(came, index.history().interval(), {units, 1}, 0.95));
  }
  return all;
}

std::vector<Masks> singleBuckets(const Running& running) {
  const size_t count = running.index().buckets().size();
  std::vector<Masks> sets(count, Masks(count, 0));
  for (size_t bucket = 0; bucket < count; ++bucket) sets[bucket][bucket] = UINT32_MAX;
  return sets;
}

std::vector<Masks> matchingKinds(const Running& running) {
  std::vector<Masks> sets;
  Matching matching;
  for (const Profile& profile : running.cluster().kinds()) {
    const Newcomer job = newcomer(viewOn(profile, fullShare(), 1), Judging(), 1);
    match(running.index(), {.newcomers = {&job, 1}}, matching);
    sets.push_back(matching.masks);
  }
  return sets;
}

constexpr double kUnits[] = {1, 5, 20, 100};

void print(const char* what, std::vector<Outcome>& outcomes) {
  std::printf("\n%s\n%6s %12s %14s %10s %10s %12s %12s %10s\n", what, "units", "mean wait s", "error, median",
              "mean", "p90", "by `likely`", "over bound", "unknown");
  for (size_t i = 0; i < outcomes.size(); ++i) {
    Outcome& outcome = outcomes[i];
    std::vector<double>& errors = outcome.errors;
    if (errors.empty()) continue;
    std::sort(errors.begin(), errors.end());
    const double sum = std::accumulate(errors.begin(), errors.end(), 0.0);
    std::printf("%6.0f %12.2f %14.3f %10.3f %10.3f %12.3f %12.3f %10.0f\n", kUnits[i],
                outcome.seconds / outcome.waits, errors[errors.size() / 2],
                sum / static_cast<double>(errors.size()), errors[errors.size() * 9 / 10],
                outcome.within / outcome.waits, outcome.beyond / outcome.waits, outcome.unknown);
  }
}

int run(const Flags& flags) {
  printConditions();
  Running running(flags);
  running.runUntil(2 * kHour);
  std::printf(
      "%u servers of %u units, %.1f %% taken, %u buckets, intervals of %d s, tasks of %.0f s in the mean, "
      "seed %llu\n",
      flags.cluster.servers, flags.cluster.rus, 100 * running.load(), flags.buckets, flags.intervalSeconds,
      flags.meanSeconds, static_cast<unsigned long long>(flags.cluster.seed));
  std::vector<Outcome> ofBuckets(std::size(kUnits)), ofKinds(std::size(kUnits));
  for (int hour = 2; hour < 2 + flags.hours; ++hour) {
    const auto observed = [&](const std::vector<Masks>& sets) {
      std::vector<std::vector<WaitEstimate>> made;
      for (double units : kUnits) made.push_back(estimates(running.index(), sets, units));
      return made;
    };
    const std::vector<Masks> buckets = singleBuckets(running), kinds = matchingKinds(running);
    const auto forBuckets = observed(buckets), forKinds = observed(kinds);
    running.forget();
    running.runUntil((hour + 1) * kHour);
    if (hour == 2 && !flags.curves.empty()) {
      writeCurves(flags.curves, running.flows(), forBuckets[0], hour * kHour);
    }
    std::vector<std::vector<Flow>> flows;
    for (const Masks& masks : kinds) flows.push_back(merged(running.flows(), masks));
    for (size_t i = 0; i < std::size(kUnits); ++i) {
      compare(running.flows(), forBuckets[i], hour * kHour, kUnits[i], ofBuckets[i]);
      compare(flows, forKinds[i], hour * kHour, kUnits[i], ofKinds[i]);
    }
  }
  print("each bucket", ofBuckets);
  print("buckets that match a kind of job", ofKinds);
  return 0;
}

}  // namespace
}  // namespace tarcil::bench

int main(int argc, char** argv) {
  tarcil::bench::Flags flags;
  flags.cluster.servers = 400;
  flags.cluster.platforms = 1;
  CLI::App app("Compares estimated with observed times until units come free, by bucket.");
  app.add_option("--servers", flags.cluster.servers, "Of ten units each.")
      ->check(CLI::Range(10, 100'000))
      ->capture_default_str();
  app.add_option("--load", flags.load, "Share of the units that is taken.")
      ->check(CLI::Range(0.1, 1.0))
      ->capture_default_str();
  app.add_option("--buckets", flags.buckets, "Of the one platform.")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  app.add_option("--mean-s", flags.meanSeconds, "Mean time that a task takes.")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--interval-s", flags.intervalSeconds, "Length of an interval of the history.")
      ->check(CLI::Range(1, 600))
      ->capture_default_str();
  app.add_option("--hours", flags.hours, "That are observed.")
      ->check(CLI::Range(1, 1'000))
      ->capture_default_str();
  app.add_option("--seed", flags.cluster.seed, "Of everything.")->capture_default_str();
  app.add_option("--curves", flags.curves, "Write observed waits of three buckets, as CSV.");
  CLI11_PARSE(app, argc, argv);
  return tarcil::bench::run(flags);
}
