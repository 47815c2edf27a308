// Questions: how long do jobs wait for one another, by load, by priority and by what they want (Tarcil
// Fig. 12)? And how well does the master foretell it?
//
//   queueing [--servers N] [--rus C] [--jobs J] [--seed S] [--data DIR]
//
// A whole cluster of three agents on a virtual clock, without RPC (sim/faults): messages take
// 0.1 to 5 ms. Jobs of one task of a second on average, exponential as the times between them. A wait is from
// the submission to the grant of the first unit. A job that still waits 50 ms after its submission is asked
// for: what is estimated then is compared with what came. --data writes the same for bench/figures/waits.sh.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "bench/report.h"
#include "sim/faults/virtual_cluster.h"
#include "tests/support/builders.h"

namespace tarcil::bench {
namespace {

constexpr uint32_t kAgents = 3;
constexpr Duration kPatience = std::chrono::minutes(30);

// A job that waits was tried by then.
constexpr Duration kAsked = std::chrono::milliseconds(50);

struct Flags {
  uint32_t servers = 25, rus = 4, jobs = 10'000;
  uint64_t seed = 1;
  std::string data;
};

double exponential(double mean, Rng& rng) {
  return -mean * std::log((static_cast<double>(rng.below(1u << 30)) + 1) / (1u << 30));
}

// A job that waited: what was estimated while it did, and what came, in seconds from then.
struct Told {
  double mean, likely, bound, came;
};

double seconds(Duration duration) {
  return static_cast<double>(duration.count()) / 1e6;
}

// Jobs of one kind of a stream.
struct Group {
  const char* name;
  std::vector<double> ms{};  // of the waits, sorted
  std::vector<Told> told{};

  double mean() const {
    double sum = 0;
    for (double wait : ms) sum += wait;
    return ms.empty() ? 0 : sum / static_cast<double>(ms.size());
  }
  double at(double part) const {
    return ms.empty() ? 0 : ms[static_cast<size_t>(part * static_cast<double>(ms.size() - 1))];
  }

  void printWaits() const {
    std::printf("  %-24s mean %8.1f  p50 %8.1f  p95 %8.1f  p99 %8.1f ms  (%zu)\n", name, mean(), at(0.5),
                at(0.95), at(0.99), ms.size());
  }
  void printTold() const {
    if (told.empty()) return;
    double estimated = 0, came = 0, inTime = 0, beyond = 0;
    for (const Told& job : told) {
      estimated += job.mean;
      came += job.came;
      inTime += job.came <= job.likely ? 1 : 0;
      beyond += job.came > job.bound ? 1 : 0;
    }
    const auto count = static_cast<double>(told.size());
    std::printf(
        "  %-24s %zu asked: estimated %.2f s, came %.2f s, error %.3f; by `likely` %.3f, over bound %.3f\n",
        name, told.size(), estimated / count, came / count, std::abs(estimated - came) / came, inTime / count,
        beyond / count);
  }
};

// Gives a job of the stream its shape and says which group it belongs to.
using Shape = std::function<size_t(JobSpec&, Rng&)>;

// One stream of jobs.
class Stream {
 public:
  Stream(const Flags& flags, std::vector<const char*> groups, double meanSeconds = 1)
      : flags_(flags), mean_(meanSeconds), cluster_(optionsOf(flags)) {
    for (const char* name : groups) groups_.push_back({.name = name});
  }

  void run(double load, const Shape& shape) {
    const double unitsASecond = load * flags_.servers * flags_.rus;
    for (uint32_t i = 0; i < flags_.jobs; ++i) {
      JobSpec spec = aJob(1);
      const size_t group = shape(spec, cluster_.rng());
      spec.command = {"sleep", std::to_string(exponential(mean_, cluster_.rng()))};
      jobs_.push_back({.job = cluster_.submit(spec, i % kAgents), .when = cluster_.now(), .group = group});
      const double units = static_cast<double>(uint64_t{spec.tasks} * spec.rusPerTask);
      pass(Duration(static_cast<int64_t>(exponential(mean_ * units / unitsASecond, cluster_.rng()) * 1e6)));
    }
    if (!cluster_.runUntilIdle(kPatience)) std::printf("  the cluster did not become idle\n");
    for (const Job& job : jobs_) judge(job);
    for (Group& group : groups_) std::ranges::sort(group.ms);
  }

  const std::vector<Group>& groups() const { return groups_; }

 private:
  struct Job {
    JobId job;
    WallTime when;
    size_t group;
    WallTime asked = kNever;
    std::optional<WaitEstimate> estimate{};
  };

  static sim::VirtualClusterOptions optionsOf(const Flags& flags) {
    sim::VirtualClusterOptions options;
    options.seed = flags.seed;
    options.agents = kAgents;
    options.monitors = flags.servers;
    options.serversPerMonitor = 1;
    options.rusPerServer = flags.rus;
    options.master.keepFinishedJobs = flags.jobs;
    return options;
  }

  // Time passes; jobs whose time to be asked for has come are.
  void pass(Duration duration) {
    const WallTime until = cluster_.now() + duration;
    while (nextAsked_ < jobs_.size() && jobs_[nextAsked_].when + kAsked <= until) {
      Job& job = jobs_[nextAsked_++];
      cluster_.run(std::max(Duration::zero(), job.when + kAsked - cluster_.now()));
      job.asked = cluster_.now();
      job.estimate = cluster_.waitOf(job.job);
    }
    cluster_.run(until - cluster_.now());
  }

  void judge(const Job& job) {
    Group& group = groups_[job.group];
    const WallTime placed = cluster_.tasksOf(job.job)[0].placed;
    group.ms.push_back(1e3 * seconds(placed - job.when));
    if (!job.estimate || job.estimate->basis != WaitEstimate::Basis::kHistory || placed <= job.asked) return;
    group.told.push_back({.mean = seconds(job.estimate->mean),
                          .likely = seconds(job.estimate->likely),
                          .bound = seconds(job.estimate->bound),
                          .came = seconds(placed - job.asked)});
  }

  const Flags& flags_;
  const double mean_;  // of what a task takes, in seconds
  sim::VirtualCluster cluster_;
  std::vector<Job> jobs_;
  size_t nextAsked_ = 0;
  std::vector<Group> groups_;
};

// A file of --data; nothing is written without it.
class Table {
 public:
  Table(const Flags& flags, const std::string& name) {
    if (!flags.data.empty()) out_.open(flags.data + "/" + name);
  }
  void row(std::initializer_list<double> values) {
    for (double value : values) out_ << value << '\t';
    out_ << '\n';
  }

 private:
  std::ofstream out_;
};

void byLoad(const Flags& flags) {
  Table table(flags, "by-load.tsv");
  for (const double load : {0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.99}) {
    std::printf("load %.0f %%\n", 100 * load);
    Stream stream(flags, {"all"});
    stream.run(load, [](JobSpec&, Rng&) { return 0; });
    const Group& all = stream.groups()[0];
    all.printWaits();
    table.row({load, all.mean(), all.at(0.95), all.at(0.99)});
  }
}

void byPriority(const Flags& flags) {
  Table table(flags, "by-priority.tsv");
  for (const double load : {0.8, 0.95}) {
    for (const double part : {0.1, 0.3, 0.5}) {
      std::printf("load %.0f %%, %.0f %% of high priority\n", 100 * load, 100 * part);
      Stream stream(flags, {"high", "low"});
      stream.run(load, [part](JobSpec& spec, Rng& rng) {
        const bool isHigh = static_cast<double>(rng.below(1'000)) < 1'000 * part;
        if (isHigh) spec.priority = 90;
        return isHigh ? 0 : 1;
      });
      for (const Group& group : stream.groups()) group.printWaits();
      table.row({load, part, stream.groups()[0].mean(), stream.groups()[1].mean(),
                 stream.groups()[0].at(0.95), stream.groups()[1].at(0.95)});
    }
  }
}

// Tasks of a minute: the histories of buckets tell of what takes longer than an interval of them. Nine of
// ten jobs want one unit, the others all units of a server or a fifth of the cluster at once.
void asTold(const Flags& flags) {
  for (const double load : {0.85, 0.95}) {
    std::printf("load %.0f %%, jobs of different sizes\n", 100 * load);
    Stream stream(flags, {"one unit", "a whole server", "a gang"}, 60);
    stream.run(load, [&flags](JobSpec& spec, Rng& rng) -> size_t {
      const uint64_t draw = rng.below(100);
      if (draw < 90) return 0;
      if (draw < 98) {
        spec.rusPerTask = flags.rus;
        return 1;
      }
      spec.tasks = flags.servers * flags.rus / 5;
      spec.schedule = Schedule::kGang;
      return 2;
    });
    Table table(flags, load < 0.9 ? "told-85.tsv" : "told-95.tsv");
    for (size_t group = 0; group < stream.groups().size(); ++group) {
      stream.groups()[group].printWaits();
      stream.groups()[group].printTold();
      for (const Told& job : stream.groups()[group].told) {
        table.row({static_cast<double>(group), job.mean, job.likely, job.came});
      }
    }
  }
}

int measure(const Flags& flags) {
  printConditions();
  std::printf("%u servers of %u units, %u jobs\n", flags.servers, flags.rus, flags.jobs);
  byLoad(flags);
  byPriority(flags);
  asTold(flags);
  return 0;
}

}  // namespace
}  // namespace tarcil::bench

int main(int argc, char** argv) {
  tarcil::bench::Flags flags;
  CLI::App app("Measures how long jobs wait in a simulated cluster of three agents.");
  app.add_option("--servers", flags.servers, "Servers.")->capture_default_str();
  app.add_option("--rus", flags.rus, "Units of each.")->capture_default_str();
  app.add_option("--jobs", flags.jobs, "Jobs of each run.")->capture_default_str();
  app.add_option("--seed", flags.seed, "Seed.")->capture_default_str();
  app.add_option("--data", flags.data, "Folder for tables of what is printed.")
      ->check(CLI::ExistingDirectory);
  CLI11_PARSE(app, argc, argv);
  return tarcil::bench::measure(flags);
}
