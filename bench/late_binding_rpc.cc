// Questions: how many tasks of milliseconds does a cluster of real processes bind late in a second, what does
// one cost, how long does it wait to be launched, how long does a client wait when its agent falls silent,
// and what do users get beside each other?
//
//   late_binding_rpc closed   [--servers N] [--slots K] [--monitors M] [--under-way J] [--seconds S]
//   late_binding_rpc open     [...] --load X --task-ms D [--agents A]
//   late_binding_rpc failover [...] [--rounds R]
//   late_binding_rpc streams  [...] --task-ms D --stream USER:PRIORITY:LOAD:FROM:UNTIL... [--even] [--json
//   FILE]
//
// Master, agents and monitors are processes of their own (--monitors: each for as many servers); their tasks
// are timers, or with --executor PROGRAM those of real processes in containers. The clients, one for each
// user and agent, are this process. With `open`, jobs arrive by chance (Poisson) and tasks take a constant
// time; with `closed`, tasks take no time and the next job comes when one is over. With `streams`, users ask
// for shares of the cluster between so many seconds; --even: their jobs arrive at even distances.
#include <kj/async-io.h>
#include <kj/async-unix.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "bench/late_cluster.h"
#include "bench/late_load.h"
#include "bench/report.h"
#include "rpc/quiet_sockets.h"

namespace tarcil::bench {
namespace {

struct Flags {
  std::string mode;
  LateClusterPlan cluster;
  std::optional<uint32_t> monitors;  // none: one for each server
  LateWork work{.taskMs = 10};
  std::string executor;
  uint32_t underWay = 16, rounds = 50;
  double load = 0.2, seconds = 10;
  std::vector<std::string> streams;
  bool isEven = false;
  std::string json;
  uint64_t seed = 1;
};

// Of this process, in microseconds.
double ownCpu() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto micros = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_usec);
  };
  return micros(usage.ru_utime) + micros(usage.ru_stime);
}

struct Share {
  LateStream stream;
  double load = 0;
};

Share readStream(const std::string& text) {
  std::stringstream in(text);
  std::vector<double> numbers;
  for (std::string part; std::getline(in, part, ':');) numbers.push_back(std::stod(part));
  if (numbers.size() != 5 || numbers[2] <= 0 || numbers[4] <= numbers[3])
    throw std::runtime_error("--stream " + text + ": write USER:PRIORITY:LOAD:FROM:UNTIL");
  return {{static_cast<uint32_t>(numbers[0]), static_cast<uint8_t>(numbers[1]), 0, numbers[3], numbers[4]},
          numbers[2]};
}

class Bench {
 public:
  explicit Bench(const Flags& flags)
      : flags_(flags),
        io_(setUp()),
        cluster_(flags.cluster, io_),
        load_(net(), cluster_, flags.cluster.users, flags.mode == "failover" ? 1 : flags.cluster.agents,
              flags.work, flags.seed) {}

  void run() {
    printConditions();
    const LateClusterPlan& plan = flags_.cluster;
    std::printf("%u servers of %u slots in %u monitor processes, %u agents, d = %.2f, jobs of %u tasks\n",
                plan.servers, plan.slots, plan.monitors, plan.agents, plan.probeRatio, flags_.work.tasks);
    if (flags_.mode == "closed") {
      closed();
    } else if (flags_.mode == "open") {
      open();
    } else if (flags_.mode == "failover") {
      failover();
    } else {
      streams();
    }
    cluster_.stop(io_.waitScope);
  }

 private:
  static kj::AsyncIoContext setUp() {
    kj::UnixEventPort::captureChildExit();
    return kj::setupAsyncIo();
  }
  Net net() { return {io_.provider->getNetwork(), sockets_, io_.provider->getTimer()}; }
  void pass(double seconds) {
    net().timer.afterDelay(static_cast<int64_t>(seconds * 1e9) * kj::NANOSECONDS).wait(io_.waitScope);
  }
  uint32_t slots() const { return flags_.cluster.servers * flags_.cluster.slots; }

  // For so long; prints what was used meanwhile. The share of the machine that was busy.
  double measure(double seconds) {
    const uint64_t before = load_.over;
    const auto cpuBefore = cluster_.cpu();
    const double ownBefore = ownCpu();
    const auto began = Steady::now();
    const MachineCpu machine;
    load_.isMeasuring = true;
    pass(seconds);
    load_.isMeasuring = false;
    const double took = milliseconds(Steady::now() - began) / 1000;
    const auto count = static_cast<double>(load_.over - before);
    const double busy = machine.busySeconds() / took / static_cast<double>(::sysconf(_SC_NPROCESSORS_ONLN));
    std::printf("%.0f tasks in %.2f s: %.0f tasks/s; machine %.0f %% busy\n", count, took, count / took,
                100 * busy);
    double daemons = 0;
    for (const auto& [role, cpu] : cluster_.cpu()) {
      const double used = (cpu - cpuBefore.at(role)) / count;
      daemons += used;
      std::printf("  %s: %.1f us CPU per task\n", role.c_str(), used);
    }
    std::printf("  all daemons: %.1f us CPU per task; client: %.1f us\n", daemons,
                (ownCpu() - ownBefore) / count);
    if (load_.notDone > 0)
      std::printf("  %lu tasks were not done\n", static_cast<unsigned long>(load_.notDone));
    return busy;
  }

  void closed() {
    load_.isClosed = true;
    for (uint32_t i = 0; i < flags_.underWay; ++i) load_.submit({});
    pass(2);
    measure(flags_.seconds);
  }

  double jobsPerSecond(double load) const {
    return load * slots() / (flags_.work.taskMs / 1000) / flags_.work.tasks;
  }
  kj::Promise<void> arriveForEver() {
    return load_
        .arrive({{.jobsPerSecond = jobsPerSecond(flags_.load), .until = 1e9}}, LateLoad::Arrivals::kRandom)
        .eagerlyEvaluate(nullptr);
  }

  void open() {
    auto arriving = arriveForEver();
    pass(2);
    measure(flags_.seconds);
    const LateTimes& times = load_.times[0];
    printSpread("submit to launch, ms", times.launchMs);
    printSpread("  reserve, ms", times.reserveMs);
    printSpread("  queue, ms", times.queueMs);
    printSpread("  get task, ms", times.getTaskMs);
    printSpread("response of a job, ms", times.responseMs);
  }

  void failover() {
    auto arriving = arriveForEver();
    pass(2);
    std::vector<double> silence;
    for (uint32_t round = 0; round < flags_.rounds; ++round) {
      // Clients use agents in turn.
      const int pid = cluster_.pidOf("agent-" + std::to_string(load_.failures % flags_.cluster.agents + 1));
      const auto stopped = Steady::now();
      const uint64_t failures = load_.failures;
      ::kill(pid, SIGSTOP);
      while (load_.failures == failures || load_.hasFailed) pass(0.0005);
      silence.push_back(milliseconds(load_.firstAfterFailure - stopped) - flags_.work.taskMs);
      ::kill(pid, SIGCONT);
      pass(0.5);
    }
    printSpread("agent stopped to first launch elsewhere, ms", silence);
  }

  void streams() {
    std::vector<LateStream> streams;
    for (const std::string& text : flags_.streams) {
      const Share share = readStream(text);
      streams.push_back(share.stream);
      streams.back().jobsPerSecond = jobsPerSecond(share.load);
    }
    // All agents and all slots have had a task before anything is measured.
    for (uint32_t i = 0; i < 2 * flags_.cluster.agents; ++i) load_.runOne({}, slots()).wait(io_.waitScope);
    const auto arrivals = flags_.isEven ? LateLoad::Arrivals::kEven : LateLoad::Arrivals::kRandom;
    auto arriving = load_.arrive(streams, arrivals).eagerlyEvaluate(nullptr);
    const double busy = measure(flags_.seconds);
    nlohmann::json users = nlohmann::json::array();
    for (uint32_t user = 0; user < flags_.cluster.users; ++user) {
      auto& responses = load_.times[user].responseMs;
      if (!responses.empty())
        printSpread("user " + std::to_string(user) + ": response of a job, ms", responses);
      users.push_back({{"running", load_.running[user].upTo(flags_.seconds)}, {"response_ms", responses}});
    }
    if (flags_.json.empty()) return;
    std::ofstream out(flags_.json);
    out << nlohmann::json(
        {{"slots", slots()}, {"busy", busy}, {"not_done", load_.notDone}, {"users", users}});
    if (!out.flush()) throw std::runtime_error(flags_.json + ": cannot be written");
  }

  const Flags& flags_;
  kj::AsyncIoContext io_;
  QuietSockets sockets_{*io_.lowLevelProvider, io_.unixEventPort};
  LateCluster cluster_;
  LateLoad load_;
};

void complete(Flags& flags) {
  LateClusterPlan& plan = flags.cluster;
  plan.isReal = !flags.executor.empty();
  plan.monitors = plan.isReal ? plan.servers : flags.monitors.value_or(plan.servers);
  if (plan.monitors == 0 || plan.monitors > plan.servers)
    throw std::runtime_error("--monitors: write 1 to the number of servers");
  if (plan.isReal) flags.work.executor = {std::filesystem::absolute(flags.executor)};
  if (flags.mode == "closed") flags.work.taskMs = 0;
  for (const std::string& text : flags.streams)
    plan.users = std::max(plan.users, readStream(text).stream.user + 1);
  if (flags.mode == "streams" && flags.streams.empty()) throw std::runtime_error("streams: give a --stream");
}

}  // namespace
}  // namespace tarcil::bench

int main(int count, char** words) {
  using namespace tarcil::bench;
  Flags flags;
  LateClusterPlan& plan = flags.cluster;
  plan.tarcil = std::filesystem::path(words[0]).parent_path().parent_path() / "tarcil";
  plan.data = "late-binding-rpc";
  CLI::App app("Late binding with real processes: throughput, cost, delays, failover, shares of users.");
  app.add_option("mode", flags.mode)
      ->required()
      ->check(CLI::IsMember({"closed", "open", "failover", "streams"}));
  app.add_option("--servers", plan.servers);
  app.add_option("--slots", plan.slots);
  app.add_option("--agents", plan.agents);
  app.add_option("--monitors", flags.monitors);
  app.add_option("--probe-ratio", plan.probeRatio);
  app.add_option("--data", plan.data);
  app.add_option("--executor", flags.executor);
  app.add_option("--tasks", flags.work.tasks);
  app.add_option("--task-ms", flags.work.taskMs);
  app.add_option("--under-way", flags.underWay);
  app.add_option("--rounds", flags.rounds);
  app.add_option("--load", flags.load);
  app.add_option("--seconds", flags.seconds);
  app.add_option("--stream", flags.streams);
  app.add_flag("--even", flags.isEven);
  app.add_option("--json", flags.json);
  app.add_option("--seed", flags.seed);
  CLI11_PARSE(app, count, words);
  try {
    complete(flags);
    Bench(flags).run();
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "late_binding_rpc: %s\n", problem.what());
    return 1;
  } catch (const kj::Exception& problem) {
    std::fprintf(stderr, "late_binding_rpc: %s\n", kj::str(problem).cStr());
    return 1;
  }
  return 0;
}
