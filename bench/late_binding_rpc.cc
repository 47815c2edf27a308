// Questions: how many tasks of milliseconds does a cluster of real processes bind late in a second, what does
// one cost, how long does it wait to be launched, and how long does a client wait when its agent falls
// silent?
//
//   late_binding_rpc closed   [--servers N] [--slots K] [--one-process] [--under-way J] [--seconds S]
//   late_binding_rpc open     [...] --load X --task-ms D [--agents A]
//   late_binding_rpc failover [...] [--rounds R]
//
// Master, agents and monitors are processes of their own (with --one-process one monitor stands for all
// servers); their tasks are timers. The client is this process. With `open`, jobs arrive by chance (Poisson)
// and tasks take a constant time; with `closed`, tasks take no time and the next job comes when one is over.
#include <kj/async-io.h>
#include <kj/async-unix.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "bench/report.h"
#include "cli/cluster.h"
#include "cli/local_cluster.h"
#include "cli/supervisor.h"
#include "client/late_client.h"
#include "core/base/rng.h"
#include "env/clock.h"
#include "rpc/token.h"

namespace tarcil::bench {
namespace {

struct Flags {
  std::string mode;
  uint32_t servers = 20, slots = 4, agents = 1, underWay = 16, tasks = 10, rounds = 50;
  bool oneProcess = false;
  double load = 0.2, taskMs = 10, seconds = 10, probeRatio = 2;
  std::string data = "late-binding-rpc";
  std::string tarcil;
  uint64_t seed = 1;
};

// Of a process, in microseconds.
double cpuOf(int pid) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/stat");
  std::string text((std::istreambuf_iterator<char>(in)), {});
  std::stringstream fields(text.substr(std::min(text.size(), text.rfind(')') + 2)));
  std::string field;
  double ticks = 0;
  for (int i = 3; i <= 15 && fields >> field; ++i) {
    if (i >= 14) ticks += std::stod(field);
  }
  return ticks * 1e6 / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

double ownCpu() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto micros = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_usec);
  };
  return micros(usage.ru_utime) + micros(usage.ru_stime);
}

// A local cluster of emulated servers that lend all of their units for good.
class Processes {
 public:
  Processes(const Flags& flags, kj::AsyncIoContext& io)
      : supervisor_(io.unixEventPort, *io.lowLevelProvider, io.provider->getTimer(), flags.tarcil,
                    [](const std::string& what) { std::fprintf(stderr, "%s\n", what.c_str()); }) {
    const std::string data = std::filesystem::absolute(flags.data);
    std::filesystem::remove_all(data);
    std::filesystem::create_directories(data);
    const uint32_t monitors = flags.oneProcess ? 1 : flags.servers;
    LocalClusterPlan plan;
    plan.data = data;
    plan.agents = flags.agents;
    plan.emulate = data + "/servers-1.yaml";
    auto local = prepareLocalCluster(plan);
    if (!local) throw std::runtime_error(local.error().message);
    const RoleCommand sample = local->stages[1].front();
    local->stages[1].clear();
    for (uint32_t i = 1; i <= monitors; ++i) {
      const std::string name = "monitor-" + std::to_string(i),
                        file = data + "/servers-" + std::to_string(i) + ".yaml";
      std::ofstream out(file);
      out << "servers:\n";
      for (uint32_t s = 0; s < flags.servers / monitors; ++s) {
        out << "  - {name: s" << i << "-" << s << ", rus: " << flags.slots << "}\n";
      }
      RoleCommand monitor = sample;
      monitor.name = name;
      monitor.address = "unix:" + data + "/run/" + name + ".sock";
      monitor.log = data + "/log/" + name + ".log";
      const std::string slots = std::to_string(flags.slots);
      monitor.arguments = {"serve",
                           "monitor",
                           "--name",
                           name,
                           "--listen",
                           monitor.address,
                           "--master",
                           "unix:" + data + "/run/master.sock",
                           "--token-file",
                           data + "/tokens/monitor.token",
                           "--data",
                           data + "/monitors/" + name,
                           "--emulate",
                           file,
                           "--late-binding-units",
                           slots,
                           "--late-binding-least",
                           slots};
      local->stages[1].push_back(monitor);
    }
    for (RoleCommand& agent : local->stages[2]) {
      agent.arguments.insert(agent.arguments.end(), {"--probe-ratio", std::to_string(flags.probeRatio)});
    }
    context_ = local->context;
    supervisor_.start(local->stages).wait(io.waitScope);
  }

  const Context& context() const { return context_; }
  int pidOf(const std::string& name) const {
    for (const RunningRole& role : supervisor_.roles()) {
      if (role.command.name == name) return role.pid;
    }
    throw std::runtime_error("no process " + name);
  }
  // Microseconds of processor time, by role.
  std::map<std::string, double> cpu() const {
    std::map<std::string, double> cpu;
    for (const RunningRole& role : supervisor_.roles()) cpu[role.command.role] += cpuOf(role.pid);
    return cpu;
  }
  void stop(kj::WaitScope& waitScope) { supervisor_.stop().wait(waitScope); }

 private:
  Supervisor supervisor_;
  Context context_;
};

// Submits jobs and keeps what comes of them.
class Load final : public LateClientListener {
 public:
  Load(const Flags& flags, Net net, const Processes& processes)
      : flags_(flags),
        net_(net),
        rng_(flags.seed),
        client_(net, systemClock(), processes.context().agents, *readTokenFile(processes.context().tokenFile),
                {}, *this) {}

  void submit() {
    LateClientJob job;
    for (uint8_t& byte : job.id.bytes) byte = static_cast<uint8_t>(rng_());
    job.spec.name = "bench";
    job.spec.policy = Policy::kLateBinding;
    job.spec.tasks = flags_.tasks;
    job.spec.command = {"true"};
    if (flags_.mode != "closed") job.spec.command = {"sleep", std::to_string(flags_.taskMs / 1000)};
    left_[client_.submit(std::move(job))] = {flags_.tasks, Steady::now()};
  }

  // Jobs come by chance, so many in a second.
  kj::Promise<void> arrive(double perSecond) {
    const double pause = -std::log(1 - rng_.unit()) / perSecond;
    next_ += std::chrono::duration_cast<Steady::duration>(std::chrono::duration<double>(pause));
    const auto wait = std::chrono::duration_cast<std::chrono::nanoseconds>(next_ - Steady::now()).count();
    return net_.timer.afterDelay(std::max<int64_t>(wait, 0) * kj::NANOSECONDS).then([this, perSecond]() {
      submit();
      return arrive(perSecond);
    });
  }
  void startArriving() { next_ = Steady::now(); }

  void taskOver(const LateClientResult& result) override {
    ++over;
    if (result.outcome != late::Outcome::kDone) ++notDone;
    if (!result.problem.empty()) std::fprintf(stderr, "%s\n", result.problem.c_str());
    if (isMeasuring) {
      const auto& phases = result.phases;
      launchMs.push_back(static_cast<double>((phases.reserve + phases.queue + phases.getTask).count()) /
                         1000);
      reserveMs.push_back(static_cast<double>(phases.reserve.count()) / 1000);
      queueMs.push_back(static_cast<double>(phases.queue.count()) / 1000);
      getTaskMs.push_back(static_cast<double>(phases.getTask.count()) / 1000);
    }
    if (failedAt && result.outcome == late::Outcome::kDone) {
      firstAfterFailure = Steady::now();
      failedAt = false;
    }
    const auto job = left_.find(result.task.job);
    if (--job->second.tasks > 0) return;
    if (isMeasuring) responseMs.push_back(milliseconds(Steady::now() - job->second.since));
    left_.erase(job);
    if (isClosed) submit();
  }
  void agentFailed(const std::string&, const std::vector<late::ClientTask>&) override {
    ++failures;
    failedAt = true;
  }
  void denied(const Error& error) override { throw std::runtime_error(error.message); }

  bool isClosed = false, isMeasuring = false;
  uint64_t over = 0, notDone = 0, failures = 0;
  bool failedAt = false;
  Steady::time_point firstAfterFailure{};
  std::vector<double> launchMs, reserveMs, queueMs, getTaskMs, responseMs;

 private:
  struct Left {
    uint32_t tasks = 0;
    Steady::time_point since{};
  };

  const Flags& flags_;
  const Net net_;
  Rng rng_;
  std::map<late::ClientJob, Left> left_;
  Steady::time_point next_{};
  LateClient client_;
};

class Bench {
 public:
  explicit Bench(const Flags& flags)
      : flags_(flags), io_(setUp()), processes_(flags, io_), load_(flags, net(), processes_) {}

  void run() {
    printConditions();
    std::printf("%u servers of %u slots in %u monitor processes, %u agents, d = %.2f, jobs of %u tasks\n",
                flags_.servers, flags_.slots, flags_.oneProcess ? 1 : flags_.servers, flags_.agents,
                flags_.probeRatio, flags_.tasks);
    if (flags_.mode == "closed") {
      closed();
    } else if (flags_.mode == "open") {
      open();
    } else {
      failover();
    }
    processes_.stop(io_.waitScope);
    std::filesystem::remove_all(flags_.data);
  }

 private:
  static kj::AsyncIoContext setUp() {
    kj::UnixEventPort::captureChildExit();
    return kj::setupAsyncIo();
  }
  Net net() { return {io_.provider->getNetwork(), *io_.lowLevelProvider, io_.provider->getTimer()}; }
  void pass(double seconds) {
    net().timer.afterDelay(static_cast<int64_t>(seconds * 1e9) * kj::NANOSECONDS).wait(io_.waitScope);
  }

  // For so long; prints what was used meanwhile.
  void measure(double seconds) {
    const uint64_t before = load_.over;
    const auto cpuBefore = processes_.cpu();
    const double ownBefore = ownCpu(), began = static_cast<double>(Steady::now().time_since_epoch().count());
    const MachineCpu machine;
    load_.isMeasuring = true;
    pass(seconds);
    load_.isMeasuring = false;
    const double took = (static_cast<double>(Steady::now().time_since_epoch().count()) - began) / 1e9;
    const auto count = static_cast<double>(load_.over - before);
    std::printf("%.0f tasks in %.2f s: %.0f tasks/s; machine %.0f %% busy\n", count, took, count / took,
                100 * machine.busySeconds() / took / static_cast<double>(::sysconf(_SC_NPROCESSORS_ONLN)));
    double daemons = 0;
    for (const auto& [role, cpu] : processes_.cpu()) {
      const double used = (cpu - cpuBefore.at(role)) / count;
      daemons += used;
      std::printf("  %s: %.1f us CPU per task\n", role.c_str(), used);
    }
    std::printf("  all daemons: %.1f us CPU per task; client: %.1f us\n", daemons,
                (ownCpu() - ownBefore) / count);
    if (load_.notDone > 0)
      std::printf("  %lu tasks were not done\n", static_cast<unsigned long>(load_.notDone));
  }

  void closed() {
    load_.isClosed = true;
    for (uint32_t i = 0; i < flags_.underWay; ++i) load_.submit();
    pass(2);
    measure(flags_.seconds);
  }

  double arrivals() const {
    return flags_.load * flags_.servers * flags_.slots / (flags_.taskMs / 1000) / flags_.tasks;
  }

  void open() {
    load_.startArriving();
    auto arriving = load_.arrive(arrivals()).eagerlyEvaluate(nullptr);
    pass(2);
    measure(flags_.seconds);
    printSpread("submit to launch, ms", load_.launchMs);
    printSpread("  reserve, ms", load_.reserveMs);
    printSpread("  queue, ms", load_.queueMs);
    printSpread("  get task, ms", load_.getTaskMs);
    printSpread("response of a job, ms", load_.responseMs);
  }

  void failover() {
    load_.startArriving();
    auto arriving = load_.arrive(arrivals()).eagerlyEvaluate(nullptr);
    pass(2);
    std::vector<double> silence;
    for (uint32_t round = 0; round < flags_.rounds; ++round) {
      // Clients use agents in turn.
      const int pid = processes_.pidOf("agent-" + std::to_string(load_.failures % flags_.agents + 1));
      const auto stopped = Steady::now();
      const uint64_t failures = load_.failures;
      ::kill(pid, SIGSTOP);
      while (load_.failures == failures || load_.failedAt) pass(0.0005);
      silence.push_back(milliseconds(load_.firstAfterFailure - stopped) - flags_.taskMs);
      ::kill(pid, SIGCONT);
      pass(0.5);
    }
    printSpread("agent stopped to first launch elsewhere, ms", silence);
  }

  const Flags& flags_;
  kj::AsyncIoContext io_;
  Processes processes_;
  Load load_;
};

}  // namespace
}  // namespace tarcil::bench

int main(int count, char** words) {
  using namespace tarcil::bench;
  Flags flags;
  flags.tarcil = std::filesystem::path(words[0]).parent_path().parent_path() / "tarcil";
  CLI::App app("Late binding with real processes: throughput, cost, delays, failover.");
  app.add_option("mode", flags.mode)->required()->check(CLI::IsMember({"closed", "open", "failover"}));
  app.add_option("--servers", flags.servers);
  app.add_option("--slots", flags.slots);
  app.add_option("--agents", flags.agents);
  app.add_option("--tasks", flags.tasks);
  app.add_option("--under-way", flags.underWay);
  app.add_option("--rounds", flags.rounds);
  app.add_flag("--one-process", flags.oneProcess);
  app.add_option("--load", flags.load);
  app.add_option("--task-ms", flags.taskMs);
  app.add_option("--seconds", flags.seconds);
  app.add_option("--probe-ratio", flags.probeRatio);
  app.add_option("--data", flags.data);
  app.add_option("--seed", flags.seed);
  CLI11_PARSE(app, count, words);
  try {
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
