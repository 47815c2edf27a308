// Questions: what does the pure path of late binding cost a task, and how near does it come to the best
// possible (Sparrow, SOSP 2013, Fig. 3)?
//
//   late_binding [--servers N] [--jobs J] [--seed S] [--load X]... [--closed-jobs J]
//
// The first part hands messages from one side to the other without any network: what is measured is the
// decisions and the keeping of state of agent and monitors together. The second simulates the cluster of the
// paper on a virtual clock, with the classes that the processes run.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

#include "bench/late_queueing.h"
#include "bench/report.h"
#include "latebinding/job_scheduler.h"
#include "latebinding/pool.h"
#include "latebinding/pool_lease.h"
#include "latebinding/reservation_queue.h"

namespace tarcil::bench {
namespace {

using namespace late;

struct Flags {
  uint32_t servers = 10'000;
  uint64_t jobs = 30'000, closedJobs = 20'000;
  uint64_t seed = 1;
  std::vector<double> loads = {0.5, 0.8, 0.9};
};

// Jobs of 10 tasks of 0 ms, so many under way, on 20 servers of 4 slots with their pools: one agent.
class ClosedLoop {
 public:
  ClosedLoop() : agent_(SchedulerOptions{}, 1), rng_(1) {
    servers_.reserve(kServers);
    for (ServerId id = 0; id < kServers; ++id) {
      agent_.serverUp(id);
      servers_.emplace_back(id);
    }
  }

  // Nanoseconds of processor time for each task.
  double run(uint64_t jobs) {
    const double began = processorNs();
    submitted_ = over_ = 0;
    while (submitted_ < jobs && agent_.jobs() < kUnderWay) submit();
    while (over_ < jobs) {
      lease();
      while (submitted_ < jobs && agent_.jobs() < kUnderWay) submit();
    }
    return (processorNs() - began) / static_cast<double>(jobs * kTasks);
  }

 private:
  static constexpr ServerId kServers = 20;
  static constexpr uint32_t kSlots = 4, kTasks = 10;
  static constexpr size_t kUnderWay = 8;

  struct Server {
    explicit Server(ServerId id) : queue(QueueOptions{}, id, 1), pool(PoolOptions{.least = kSlots}, 1) {}
    ReservationQueue queue;
    Pool pool;
    PoolLease lease;
    QueueActions actions;
    std::vector<std::pair<SlotLeaseId, RuIndex>> running;
  };

  void submit() {
    LateJob job;
    job.tasks = kTasks;
    (void)agent_.submit(job, now_, rng_, fromAgent_);
    ++submitted_;
  }

  // What is under way arrives, on both sides.
  void lease() {
    now_ += Duration(100);
    std::swap(fromAgent_, arriving_);
    const auto deliver = [this](const auto& messages) {
      for (const auto& message : messages) {
        Server& server = servers_[message.server];
        server.queue.handle(message, now_, server.actions);
      }
    };
    deliver(arriving_.reserves);
    deliver(arriving_.gives);
    for (const Cancel& message : arriving_.cancels) servers_[message.server].queue.handle(message);
    for (const Forget& message : arriving_.forgets) servers_[message.server].queue.handle(message);
    over_ += arriving_.jobsOver.size();
    arriving_.clear();
    for (Server& server : servers_) work(server);
  }

  void work(Server& server) {
    for (const auto& [lease, ru] : server.running) {
      server.pool.release(ru);
      server.queue.taskEnded(lease, 0, now_, server.actions);
    }
    server.running.clear();
    for (const StartTask& start : server.actions.starts)
      server.running.push_back({start.lease, server.pool.take()});
    if (const auto report = server.pool.update({server.queue.busy(), server.queue.queued()}, now_)) {
      RuSet free;
      for (RuIndex ru = 0; ru < kSlots; ++ru) {
        if (!server.lease.held.contains(ru)) free.insert(ru);
      }
      if (const auto answer = handle(server.lease, *report, free)) server.pool.handle(*answer, now_);
      server.pool.update({server.queue.busy(), server.queue.queued()}, now_);
    }
    if (server.pool.slots() != server.queue.slots())
      server.queue.setSlots(server.pool.slots(), now_, server.actions);
    for (const Ask& message : server.actions.asks) agent_.handle(message, now_, fromAgent_);
    for (const Ended& message : server.actions.ended) agent_.handle(message, fromAgent_);
    server.actions.clear();
  }

  JobScheduler agent_;
  std::vector<Server> servers_;
  Rng rng_;
  MonotonicTime now_{};
  SchedulerActions fromAgent_, arriving_;
  uint64_t submitted_ = 0, over_ = 0;
};

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (double value : values) sum += value;
  return sum / static_cast<double>(std::max<size_t>(values.size(), 1));
}

double at(std::vector<double>& values, double part) {
  if (values.empty()) return 0;
  const auto nth =
      values.begin() + static_cast<std::ptrdiff_t>(part * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), nth, values.end());
  return *nth;
}

// Share of jobs that wait for nothing but messages: those that find a slot for every task at once.
double atOnce(const QueueingResult& result, double messagesMs) {
  const auto isAtOnce = [messagesMs](double ms) { return ms <= messagesMs + 1e-6; };
  const auto count = std::count_if(result.delayMs.begin(), result.delayMs.end(), isAtOnce);
  return static_cast<double>(count) / static_cast<double>(std::max<size_t>(result.delayMs.size(), 1));
}

// The same by the model of Sparrow's section 5, Fig. 5: at least m of d * m servers have one of c cores free.
double atOnceByModel(const QueueingSetup& setup, double load) {
  const double free = 1 - std::pow(load, setup.slots);
  const auto probes = static_cast<uint32_t>(setup.probeRatio * setup.tasksPerJob);
  double share = 0;
  for (uint32_t i = setup.tasksPerJob; i <= probes; ++i) {
    const double ways = std::lgamma(probes + 1.0) - std::lgamma(i + 1.0) - std::lgamma(probes - i + 1.0);
    share += std::exp(ways + i * std::log(free) + (probes - i) * std::log(1 - free));
  }
  return share;
}

void print(const char* what, QueueingResult result, const QueueingSetup& setup, int ways) {
  std::printf("  %-24s %8.2f %8.2f %8.2f  %7.1f %7.1f  %6.3f", what, mean(result.delayMs),
              at(result.delayMs, 0.5), at(result.delayMs, 0.99), mean(result.responseMs),
              at(result.responseMs, 0.5), atOnce(result, ways * setup.delayMs));
  const auto tasks = static_cast<double>(result.tasks);
  if (result.messages > 0) {
    std::printf("  %5.2f %5.2f %5.2f  %4.2f", static_cast<double>(result.messages) / tasks,
                static_cast<double>(result.vainAsks) / tasks, result.processorNs / tasks / 1e3, result.ratio);
  }
  std::printf("\n");
  std::fflush(stdout);
}

void printLate(const char* what, const QueueingSetup& setup) {
  print(what, simulate(setup), setup, 3);
}

// Every policy on the same stream of jobs.
void compare(QueueingSetup setup) {
  const QueueingResult ideal = simulateOmniscient(setup);
  std::printf(
      "%u servers x %u slots, %lu jobs of %u tasks of %.0f ms in the mean, %.1f ms a way, load %.3f (as it "
      "came out)\n",
      setup.servers, setup.slots, setup.jobs, setup.tasksPerJob, setup.meanMs, setup.delayMs, ideal.load);
  std::printf("  %-24s %26s  %15s  %6s  %17s\n", "ms", "delay: mean      p50      p99", "response    p50",
              "at once", "per task: messages, vain asks, us; d");
  print("omniscient", ideal, setup, 1);
  printLate("late binding", setup);
  if (setup.durations != Durations::kConstant)
    std::printf("  %-24s %54.3f\n", "  by Sparrow's model", atOnceByModel(setup, ideal.load));
  QueueingSetup other = setup;
  other.cancel = false;
  printLate("late binding, no cancel", other);
  other = setup;
  other.adaptRatio = true;
  printLate("late binding, d by load", other);
  other = setup;
  other.policy = LatePolicy::kBatch;
  print("batch", simulate(other), setup, 3);
  other.policy = LatePolicy::kPerTask;
  print("per task", simulate(other), setup, 3);
  other.policy = LatePolicy::kRandom;
  print("random", simulate(other), setup, 1);
}

int measure(const Flags& flags) {
  printConditions();
  std::printf("closed loop, 20 servers x 4 slots, jobs of 10 tasks of 0 ms, d = 2, no network\n");
  ClosedLoop loop;
  loop.run(flags.closedJobs / 10);  // warm
  const double ns = loop.run(flags.closedJobs);
  std::printf("  agent and monitors together %.0f ns of processor time a task\n", ns);

  for (const double load : flags.loads) {
    QueueingSetup setup{.servers = flags.servers, .load = load, .jobs = flags.jobs, .seed = flags.seed};
    // Three tenths of the time that the jobs take to come, and no more than the paper's cluster needs.
    const double comingMs = static_cast<double>(setup.jobs) * setup.tasksPerJob * setup.meanMs /
                            (load * setup.servers * setup.slots);
    setup.warmUpMs = std::min(3'000.0, 0.3 * comingMs);
    compare(setup);
    setup.replicas = 3;
    printLate("tasks of 3 servers each", setup);
  }
  std::printf("short tasks: round trips count\n");
  compare({.servers = flags.servers,
           .meanMs = 10,
           .load = 0.9,
           .jobs = flags.jobs,
           .warmUpMs = 300,
           .seed = flags.seed});
  std::printf("a small cluster, tasks of one second\n");
  compare({.servers = 100,
           .slots = 8,
           .tasksPerJob = 10,
           .meanMs = 1'000,
           .delayMs = 0.1,
           .load = 0.8,
           .durations = Durations::kConstant,
           .jobs = flags.jobs,
           .warmUpMs = 10'000,
           .seed = flags.seed});
  return 0;
}

}  // namespace
}  // namespace tarcil::bench

int main(int argc, char** argv) {
  tarcil::bench::Flags flags;
  CLI::App app("Measures the cost of late binding and simulates the cluster of Sparrow's Fig. 3.");
  app.add_option("--servers", flags.servers, "Servers of 4 slots.")->capture_default_str();
  app.add_option("--jobs", flags.jobs, "Jobs of 100 tasks of each run.")->capture_default_str();
  app.add_option("--closed-jobs", flags.closedJobs, "Jobs of 10 tasks of the closed loop.")
      ->capture_default_str();
  app.add_option("--seed", flags.seed, "Seed.")->capture_default_str();
  app.add_option("--load", flags.loads, "Loads, 0 to 1.")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  return tarcil::bench::measure(flags);
}
