// Question: into how many buckets, and by which hash, should servers go for admission control? How much do
// servers of one bucket differ in what they are to a job, by how much does the share p of acceptable free
// units err that buckets tell, and what do updates, decisions and histories cost?
//
//   buckets [--servers N] [--timed-servers N] [--hashes N] [--seed S]
//
// Clusters that the scheduler itself fills with mixed jobs on four platforms; every kind of job asks.
#include <malloc.h>
#include <CLI/CLI.hpp>

#include <cmath>
#include <cstdio>
#include <limits>
#include <vector>

#include "bench/other_hashes.h"
#include "bench/report.h"
#include "lsh/admission.h"
#include "tests/support/generated_cluster.h"

namespace tarcil::bench {
namespace {

constexpr uint32_t kCounts[] = {8, 16, 20, 32, 64, 128, 256};
constexpr double kTarget = 0.95;

struct Flags {
  GeneratedOptions cluster;
  uint32_t timedServers = 100'000;
  uint32_t hashes = 5;  // seeds of each hash, of which the mean is told
};

// One kind of job as every platform sees it.
struct Asking {
  std::vector<Newcomer> newcomers;
  std::vector<Newcomer> careless;  // the same, not looking at the neighbours
  double least = kTarget;

  Suitor suitor() const { return {newcomers, least, 1}; }
};

Asking asking(const ClusterState& state, const Profile& profile) {
  Asking made;
  double best = 0;
  for (size_t p = 0; p < state.platformCount(); ++p) {
    const auto platform = static_cast<PlatformId>(p);
    const double factor = platformFactor(profile, state.platformName(platform));
    const JobView view = viewOn(profile, state.share(platform), factor);
    Judging judging;
    made.newcomers.push_back(newcomer(view, judging, 1));
    judging.protectNeighbours = false;
    made.careless.push_back(newcomer(view, judging, 1));
    best = std::max(best, factor);
  }
  made.least = kTarget * best;
  return made;
}

std::vector<Asking> allKinds(const GeneratedCluster& cluster) {
  std::vector<Asking> all;
  for (const Profile& profile : cluster.kinds()) all.push_back(asking(cluster.state(), profile));
  return all;
}

bool acceptable(const std::vector<Newcomer>& newcomers, double least, const Vacancy& vacancy) {
  const Newcomer& newcomer = newcomers[vacancy.platform];
  const Glance seen = glance(newcomer, vacancy);
  return seen.obstacle == Obstacle::kNone && expectedPerformance(newcomer, seen) >= least;
}

// Of the variance of "acceptable" over free units, the part within buckets, summed over jobs.
struct Spread {
  double within = 0, all = 0;

  double unexplained() const { return all > 0 ? within / all : 0; }
};

struct Fit {
  Spread spread, careless;
  double error = 0, bias = 0;  // of p, summed over jobs
  double p = 0;
  double jobs = 0;
};

// What units of each bucket are to one job, by a look at all of them.
class Truth {
 public:
  Truth(std::span<const Vacancy> vacancies, std::span<const uint32_t> buckets, size_t count)
      : vacancies_(vacancies), buckets_(buckets), count_(count) {}

  // p, and the spread added.
  double look(const std::vector<Newcomer>& newcomers, double least, Spread& spread) const {
    std::vector<double> free(count_, 0), good(count_, 0);
    double allFree = 0, allGood = 0;
    for (size_t i = 0; i < vacancies_.size(); ++i) {
      const double units = vacancies_[i].free;
      free[buckets_[i]] += units;
      allFree += units;
      if (units == 0 || !acceptable(newcomers, least, vacancies_[i])) continue;
      good[buckets_[i]] += units;
      allGood += units;
    }
    const double p = allGood / allFree;
    spread.all += allFree * p * (1 - p);
    for (size_t b = 0; b < count_; ++b) {
      if (free[b] > 0) spread.within += good[b] * (1 - good[b] / free[b]);
    }
    return p;
  }

 private:
  std::span<const Vacancy> vacancies_;
  std::span<const uint32_t> buckets_;
  size_t count_;
};

// p as admission tells it, of any buckets: those whose mean is acceptable, times the share that bears
// the job.
double estimated(const std::vector<Bucket>& buckets, uint32_t perPlatform, const Asking& job) {
  double free = 0, good = 0;
  for (size_t b = 0; b < buckets.size(); ++b) {
    const auto platform = static_cast<PlatformId>(b / perPlatform);
    const Bucket& bucket = buckets[b];
    if (bucket.free() == 0) continue;
    free += bucket.free();
    Vacancy mean;
    mean.contention = bucket.mean();
    mean.platform = platform;
    mean.free = mean.rus = 1;
    mean.usable = true;
    if (!acceptable(job.careless, job.least, mean)) continue;
    good += bucket.free() * static_cast<double>(bucket.bearing(burden(job.newcomers[platform])));
  }
  return good / free;
}

void measure(const GeneratedCluster& cluster, std::span<const Hash> hashes, uint32_t perPlatform, Fit& fit) {
  const std::span<const Vacancy> vacancies = cluster.state().vacancies();
  std::vector<Bucket> buckets(hashes.size() * perPlatform);
  std::vector<uint32_t> numbers;
  for (const Vacancy& vacancy : vacancies) {
    numbers.push_back(vacancy.platform * perPlatform + hashes[vacancy.platform](vacancy.contention));
    buckets[numbers.back()].enter(bucketMember(vacancy));
  }
  const Truth truth(vacancies, numbers, buckets.size());
  for (const Asking& job : allKinds(cluster)) {
    const double p = truth.look(job.newcomers, job.least, fit.spread);
    truth.look(job.careless, job.least, fit.careless);
    const double error = estimated(buckets, perPlatform, job) - p;
    fit.error += std::abs(error);
    fit.bias += error;
    fit.p += p;
    ++fit.jobs;
  }
}

Hash hyperplanes(std::span<const Pressure> vectors, uint32_t buckets, uint64_t seed) {
  Centre centre{};
  for (size_t i = 0; i < kResources; ++i) {
    int64_t sum = 0;
    for (const Pressure& vector : vectors) sum += vector[i];
    centre[i] = static_cast<int32_t>(sum * kCentreUnit / static_cast<int64_t>(vectors.size()));
  }
  const Hyperplanes planes(buckets, seed);
  return [planes, offsets = planes.offsets(centre)](const Pressure& vector) {
    return planes.bucketOf(vector, offsets);
  };
}

Hash rawHyperplanes(std::span<const Pressure>, uint32_t buckets, uint64_t seed) {
  const Hyperplanes planes(buckets, seed);
  return [planes, offsets = planes.offsets({})](const Pressure& vector) {
    return planes.bucketOf(vector, offsets);
  };
}

constexpr struct {
  const char* name;
  Hash (*make)(std::span<const Pressure>, uint32_t, uint64_t);
} kHashes[] = {{"hyperplanes", hyperplanes},
               {"hyperplanes, not centred", rawHyperplanes},
               {"random coordinates", randomCoordinates},
               {"p-stable", pStable}};

void compareHashes(const Flags& flags, double load) {
  GeneratedCluster cluster(flags.cluster);
  const double reached = cluster.fillTo(load);
  std::vector<std::vector<Pressure>> byPlatform(cluster.state().platformCount());
  for (const Vacancy& vacancy : cluster.state().vacancies()) {
    byPlatform[vacancy.platform].push_back(vacancy.contention);
  }
  std::printf("\n%u servers of %u units, %.1f %% taken; %u seeds of each hash, %zu kinds of jobs\n",
              flags.cluster.servers, flags.cluster.rus, 100 * reached, flags.hashes, cluster.kinds().size());
  std::printf("%-26s %8s %12s %22s %8s %10s %10s\n", "hash", "buckets", "unexplained",
              "and without neighbours", "p", "error of p", "its bias");
  for (const auto& hash : kHashes) {
    for (uint32_t count : kCounts) {
      Fit fit;
      for (uint64_t seed = 1; seed <= flags.hashes; ++seed) {
        std::vector<Hash> made;
        for (const auto& vectors : byPlatform) made.push_back(hash.make(vectors, count, seed));
        measure(cluster, made, count, fit);
      }
      std::printf("%-26s %8u %12.3f %22.3f %8.3f %10.4f %+10.4f\n", hash.name, count,
                  fit.spread.unexplained(), fit.careless.unexplained(), fit.p / fit.jobs,
                  fit.error / fit.jobs, fit.bias / fit.jobs);
    }
  }
}

// The least of several runs of `work`, which does `count` of what is measured.
template <typename Work>
double leastNs(double count, const Work& work) {
  double least = std::numeric_limits<double>::infinity();
  for (int run = 0; run < 15; ++run) {
    const double start = processorNs();
    work();
    least = std::min(least, (processorNs() - start) / count);
  }
  return least;
}

struct Change {
  ServerId server;
  Vacancy vacancy;
};

// Random servers become what another one of their platform is.
std::vector<Change> someChanges(GeneratedCluster& cluster) {
  const std::span<const Vacancy> vacancies = cluster.state().vacancies();
  std::vector<Change> changes;
  while (changes.size() < 200'000) {
    const auto server = static_cast<ServerId>(cluster.rng().below(vacancies.size()));
    const auto other = static_cast<ServerId>(cluster.rng().below(vacancies.size()));
    if (vacancies[server].platform == vacancies[other].platform)
      changes.push_back({server, vacancies[other]});
  }
  return changes;
}

void timeOne(GeneratedCluster& cluster, std::span<const Change> changes, uint32_t count) {
  const std::span<const Vacancy> vacancies = cluster.state().vacancies();
  const size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
  BucketIndex index({.buckets = count});
  MonotonicTime now{};
  for (ServerId id = 0; id < vacancies.size(); ++id) index.update(id, vacancies[id], now);
  const double bytes = static_cast<double>(mallinfo2().uordblks + mallinfo2().hblkhd - before);
  const double step = leastNs(static_cast<double>(vacancies.size()), [&] {
    index.recentre();
    while (index.step(1'000)) continue;
  });
  const double update = leastNs(static_cast<double>(changes.size()), [&] {
    for (const Change& change : changes) index.update(change.server, change.vacancy, now);
  });
  for (size_t interval = 0; interval < 360; ++interval) {
    for (size_t i = 0; i < 500; ++i) {
      const Change& change = changes[(interval * 500 + i) % changes.size()];
      index.update(change.server, change.vacancy, now);
    }
    now += index.history().interval();
  }
  index.advance(now);

  const std::vector<Asking> jobs = allKinds(cluster);
  Matching matching;
  const auto decide = [&](const Wish& wish) {
    return leastNs(20.0 * static_cast<double>(jobs.size()), [&] {
      for (int i = 0; i < 20; ++i) {
        for (const Asking& job : jobs) admit(index, job.suitor(), wish, {}, matching);
      }
    });
  };
  const double place = decide({.slots = 0});
  const double queue = decide({.slots = 1, .ahead = matching.slots + 1'000});
  std::printf("%8u %8zu %10.0f %10.0f %12.0f %12.0f %10.2f\n", count, index.buckets().size(), update, step,
              place, queue, bytes / (1 << 20));
}

void timeIndex(const Flags& flags) {
  GeneratedOptions options = flags.cluster;
  options.servers = flags.timedServers;
  GeneratedCluster cluster(options);
  const double reached = cluster.fillTo(0.6);
  std::printf("\n%u servers of %u units, %.1f %% taken; 2 h in 360 intervals\n", options.servers, options.rus,
              100 * reached);
  std::printf("%8s %8s %10s %10s %12s %12s %10s\n", "buckets", "in all", "ns/update", "ns/step",
              "ns/decision", "with wait", "MiB");
  const std::vector<Change> changes = someChanges(cluster);
  for (uint32_t count : kCounts) timeOne(cluster, changes, count);
}

int run(const Flags& flags) {
  printConditions();
  for (double load : {0.6, 0.85}) compareHashes(flags, load);
  timeIndex(flags);
  return 0;
}

}  // namespace
}  // namespace tarcil::bench

int main(int argc, char** argv) {
  tarcil::bench::Flags flags;
  flags.cluster.servers = 4'000;
  CLI::App app("Compares numbers of buckets and hashes for admission control.");
  app.add_option("--servers", flags.cluster.servers, "Of ten units each, for the comparison of hashes.")
      ->check(CLI::Range(10, 1'000'000))
      ->capture_default_str();
  app.add_option("--timed-servers", flags.timedServers, "For times and memory.")
      ->check(CLI::Range(10, 1'000'000))
      ->capture_default_str();
  app.add_option("--hashes", flags.hashes, "Seeds of each hash.")
      ->check(CLI::Range(1, 1'000))
      ->capture_default_str();
  app.add_option("--seed", flags.cluster.seed, "Of the clusters.")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  return tarcil::bench::run(flags);
}
