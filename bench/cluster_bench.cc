// Questions: how many jobs a second does a running cluster take from submission to durable completion, how
// long after the end of a job does its submitter know, and how long do jobs take that come at a given rate?
//
//   cluster_bench --mode throughput [--jobs N] [--outstanding K] [--data DIR]
//   cluster_bench --mode wait-lag [--jobs N] [--data DIR]
//   cluster_bench --mode stream --rate JOBS_PER_S --task-ms MS [--jobs N] [--data DIR]
//   cluster_bench --mode submit --rate JOBS_PER_S [--jobs N] [--data DIR]
//
// Every job is one task of one resource unit. throughput: jobs of `true`, K of them under way at any time,
// spread over all agents; one is done when the wait of its submitter is answered, which is after its end is
// on disk. wait-lag: one job of 20 ms after another; from the end of its process, as its monitor saw it, to
// the answer of the wait. Both need the clock of one machine. stream: jobs of `sleep`, as emulated servers
// have it (docs/emulated-servers.md), exponential times between them, whether those before are done or not;
// the response is from the time at which a job was to be submitted to the answer of its wait. submit: the
// same without the wait. The last line is JSON. The cluster is found as `tarcil` finds it.
#include <kj/async-io.h>

#include <kj/time.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "bench/report.h"
#include "cli/cluster.h"
#include "cli/output/job_status.h"
#include "core/base/failure.h"
#include "env/clock.h"
#include "rpc/errors.h"
#include "rpc/token.h"

namespace tarcil::bench {
namespace {

struct Flags {
  std::string mode;
  size_t jobs = 1000;
  size_t outstanding = 64;
  double rate = 0;  // jobs a second
  double taskMs = 100;
  bool waits = true;  // for the ends of jobs
  ContextFlags cluster;
};

JobSpec oneTask(std::vector<std::string> command) {
  JobSpec spec;
  spec.name = "bench";
  spec.command = std::move(command);
  return spec;
}

// One logged-in client per agent of the cluster.
class Submitters final {
 public:
  Submitters(kj::AsyncIoContext& io, const Context& context, const std::string& token)
      : security_(systemClock(), trustOf(context)) {
    for (size_t i = 0; i < context.agents.size(); ++i) {
      ClientOptions options;
      options.first = i;
      clients_.push_back(std::make_unique<Client>(
          Net{io.provider->getNetwork(), *io.lowLevelProvider, io.provider->getTimer(), &security_},
          context.agents, token, options,
          [](const std::string& message) { std::fprintf(stderr, "%s\n", message.c_str()); }));
    }
  }

  Client& of(size_t worker) { return *clients_[worker % clients_.size()]; }
  size_t count() const { return clients_.size(); }

 private:
  static Trust trustOf(const Context& context) {
    if (context.authority.empty()) return {std::nullopt, context.insecure};
    return {requireInput(readAuthorityFile(context.authority)), context.insecure};
  }

  Security security_;
  std::vector<std::unique_ptr<Client>> clients_;
};

// A number of workers, each with one job under way.
class Throughput final {
 public:
  Throughput(Submitters& submitters, size_t jobs) : submitters_(submitters), left_(jobs) {}

  kj::Promise<void> start(size_t workers) {
    kj::Vector<kj::Promise<void>> all;
    for (size_t i = 0; i < workers; ++i) all.add(work(submitters_.of(i)));
    return kj::joinPromises(all.releaseAsArray());
  }

  const std::vector<double>& ms() const { return ms_; }
  size_t failed() const { return failed_; }

 private:
  kj::Promise<void> work(Client& client) {
    if (left_ == 0) return kj::READY_NOW;
    --left_;
    const auto begin = Steady::now();
    const JobId id = makeJobId();
    return submitJob(client, id, spec_, {})
        .then([&client, id]() { return waitForJob(client, id); })
        .then([this, &client, begin](RunState state) {
          ms_.push_back(milliseconds(Steady::now() - begin));
          if (state != RunState::kDone) ++failed_;
          return work(client);
        });
  }

  const JobSpec spec_ = oneTask({"true"});
  Submitters& submitters_;
  size_t left_;
  size_t failed_ = 0;
  std::vector<double> ms_;
};

int measureThroughput(const Flags& flags, Submitters& submitters, kj::WaitScope& scope) {
  Throughput warmUp(submitters, 2 * submitters.count());
  warmUp.start(submitters.count()).wait(scope);
  Throughput throughput(submitters, flags.jobs);
  const MachineCpu cpu;
  const auto begin = Steady::now();
  throughput.start(flags.outstanding).wait(scope);
  const double seconds = milliseconds(Steady::now() - begin) / 1e3;
  const double busy = cpu.busySeconds();
  const auto jobs = static_cast<double>(flags.jobs);
  std::printf(
      "agents %zu, outstanding %zu: %.0f jobs/s; machine %.2f cores busy, %.2f ms of processor per job\n",
      submitters.count(), flags.outstanding, jobs / seconds, busy / seconds, busy / jobs * 1e3);
  printSpread("submit to durable completion", throughput.ms());
  if (throughput.failed() == 0) return 0;
  std::fprintf(stderr, "cluster_bench: %zu jobs did not succeed\n", throughput.failed());
  return 1;
}

// Presses a little on everything and bears much, so that its places are judged and sampled for, and any will
// do on servers of up to 16 units.
JobSpec undemanding(double taskMs) {
  JobSpec spec = oneTask({"sleep", std::to_string(taskMs / 1e3)});
  spec.profile.caused.fill(2);
  spec.profile.tolerated.fill(90);
  return spec;
}

// Jobs at times of their own.
class Stream final : private kj::TaskSet::ErrorHandler {
 public:
  Stream(Submitters& submitters, kj::Timer& timer, const Flags& flags)
      : submitters_(submitters),
        timer_(timer),
        spec_(undemanding(flags.taskMs)),
        waits_(flags.waits),
        gaps_(flags.rate),
        left_(flags.jobs),
        due_(timer.now()),
        underWay_(*this) {}

  kj::Promise<void> run() {
    return arrive().then([this]() { return underWay_.onEmpty(); });
  }

  const std::vector<double>& ms() const { return ms_; }
  size_t failed() const { return failed_; }

 private:
  kj::Promise<void> arrive() {
    if (left_ == 0) return kj::READY_NOW;
    const auto gap = std::chrono::duration<double>(gaps_(random_));
    due_ += std::chrono::duration_cast<std::chrono::nanoseconds>(gap).count() * kj::NANOSECONDS;
    return timer_.atTime(due_).then([this]() {
      underWay_.add(oneJob(submitters_.of(left_--)));
      return arrive();
    });
  }

  kj::Promise<void> oneJob(Client& client) {
    const kj::TimePoint begin = due_;
    const JobId id = makeJobId();
    return submitJob(client, id, spec_, {})
        .then([this, &client, id]() -> kj::Promise<RunState> {
          if (!waits_) return RunState::kDone;
          return waitForJob(client, id);
        })
        .then([this, begin](RunState state) {
          const auto took = kj::systemPreciseMonotonicClock().now() - begin;
          ms_.push_back(static_cast<double>(took / kj::MICROSECONDS) / 1e3);
          if (state != RunState::kDone) ++failed_;
        });
  }

  void taskFailed(kj::Exception&& exception) override {
    std::fprintf(stderr, "cluster_bench: %s\n", fromException(exception).message.c_str());
    ++failed_;
  }

  Submitters& submitters_;
  kj::Timer& timer_;
  const JobSpec spec_;
  const bool waits_;
  std::mt19937_64 random_{1};
  std::exponential_distribution<> gaps_;
  size_t left_;
  kj::TimePoint due_;
  size_t failed_ = 0;
  std::vector<double> ms_;
  kj::TaskSet underWay_;
};

int measureStream(const Flags& flags, Submitters& submitters, kj::Timer& timer, kj::WaitScope& scope) {
  Flags first = flags;
  first.jobs = flags.jobs / 10 + 1;
  Stream warmUp(submitters, timer, first);
  warmUp.run().wait(scope);
  Stream stream(submitters, timer, flags);
  const MachineCpu cpu;
  const auto begin = Steady::now();
  stream.run().wait(scope);
  const double seconds = milliseconds(Steady::now() - begin) / 1e3;
  std::vector<double> ms = stream.ms();
  if (stream.failed() > 0 || ms.empty()) {
    std::fprintf(stderr, "cluster_bench: %zu jobs did not succeed\n", stream.failed());
    return 1;
  }
  printSpread("response", ms);
  std::ranges::sort(ms);
  const auto at = [&ms](double part) {
    return ms[static_cast<size_t>(part * static_cast<double>(ms.size() - 1))];
  };
  const double cores = cpu.busySeconds() / seconds;
  const nlohmann::json result{
      {"rate", flags.rate},
      {"task_ms", flags.taskMs},
      {"jobs", ms.size()},
      {"agents", submitters.count()},
      {"mean_ms", std::accumulate(ms.begin(), ms.end(), 0.0) / static_cast<double>(ms.size())},
      {"p50_ms", at(0.5)},
      {"p95_ms", at(0.95)},
      {"p99_ms", at(0.99)},
      {"busy_percent", 100 * cores / std::thread::hardware_concurrency()}};
  std::printf("%s\n", result.dump().c_str());
  return 0;
}

int measureWaitLag(const Flags& flags, Submitters& submitters, kj::WaitScope& scope) {
  const JobSpec spec = oneTask({"sleep", "0.02"});
  std::vector<double> lags;
  for (size_t i = 0; i < flags.jobs; ++i) {
    Client& client = submitters.of(i);
    const JobId id = makeJobId();
    submitJob(client, id, spec, {}).wait(scope);
    waitForJob(client, id).wait(scope);
    const auto told = std::chrono::system_clock::now();
    const JobStatus job = fetchJob(client, id).wait(scope);
    lags.push_back(std::chrono::duration<double, std::milli>(told - job.tasks.at(0).end.ended).count());
  }
  printSpread("end of the job to answered wait", std::move(lags));
  return 0;
}

int run(const Flags& flags) {
  const auto context = findContext(flags.cluster);
  if (!context) {
    std::fprintf(stderr, "cluster_bench: %s\n", context.error().message.c_str());
    return 3;
  }
  const auto token = readTokenFile(context->tokenFile);
  if (!token) {
    std::fprintf(stderr, "cluster_bench: %s\n", token.error().message.c_str());
    return 3;
  }
  printConditions();
  try {
    auto io = kj::setupAsyncIo();
    Submitters submitters(io, *context, *token);
    if (flags.mode == "throughput") return measureThroughput(flags, submitters, io.waitScope);
    if (flags.mode == "wait-lag") return measureWaitLag(flags, submitters, io.waitScope);
    return measureStream(flags, submitters, io.provider->getTimer(), io.waitScope);
  } catch (const kj::Exception& exception) {
    std::fprintf(stderr, "cluster_bench: %s\n", fromException(exception).message.c_str());
    return 1;
  }
}

int parseAndRun(int argc, char** argv) {
  Flags flags;
  CLI::App app("Measures a running cluster.");
  app.add_option("--mode", flags.mode, "What to measure: throughput, wait-lag, stream or submit.")
      ->required()
      ->check(CLI::IsMember({"throughput", "wait-lag", "stream", "submit"}));
  app.add_option("--jobs", flags.jobs, "How many jobs.")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--outstanding", flags.outstanding, "throughput: jobs under way at any time.")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--rate", flags.rate, "stream: jobs a second.")->check(CLI::PositiveNumber);
  app.add_option("--task-ms", flags.taskMs, "stream: how long a task takes, in milliseconds.")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--data", flags.cluster.data, "Data folder of `tarcil up`.");
  app.add_option("--cluster", flags.cluster.cluster, "Addresses of agents, separated by commas.");
  app.add_option("--token-file", flags.cluster.tokenFile, "File with the token to log in with.");
  CLI11_PARSE(app, argc, argv);
  flags.waits = flags.mode != "submit";
  if ((flags.mode == "stream" || flags.mode == "submit") && flags.rate == 0) {
    std::fprintf(stderr, "cluster_bench: --mode %s needs --rate: jobs a second\n", flags.mode.c_str());
    return 2;
  }
  return run(flags);
}

}  // namespace
}  // namespace tarcil::bench

int main(int argc, char** argv) {
  return tarcil::bench::parseAndRun(argc, argv);
}
