// Questions: how many jobs a second does a running cluster take from submission to durable completion, and
// how long after the end of a job does its submitter know?
//
//   cluster_bench --mode throughput [--jobs N] [--outstanding K] [--data DIR]
//   cluster_bench --mode wait-lag [--jobs N] [--data DIR]
//
// Every job is one task of one resource unit. throughput: jobs of `true`, K of them under way at any time,
// spread over all agents; one is done when the wait of its submitter is answered, which is after its end is
// on disk. wait-lag: one job of 20 ms after another; from the end of its process, as its monitor saw it, to
// the answer of the wait. Both need the clock of one machine. The cluster is found as `tarcil` finds it.
#include <kj/async-io.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "bench/report.h"
#include "cli/cluster.h"
#include "cli/job_status.h"
#include "rpc/errors.h"
#include "rpc/token.h"

namespace tarcil::bench {
namespace {

struct Flags {
  std::string mode;
  size_t jobs = 1000;
  size_t outstanding = 64;
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
  Submitters(kj::AsyncIoContext& io, const Context& context, const std::string& token) {
    for (size_t i = 0; i < context.agents.size(); ++i) {
      ClientOptions options;
      options.first = i;
      clients_.push_back(std::make_unique<Client>(
          Net{io.provider->getNetwork(), *io.lowLevelProvider, io.provider->getTimer()}, context.agents,
          token, options, [](const std::string& message) { std::fprintf(stderr, "%s\n", message.c_str()); }));
    }
  }

  Client& of(size_t worker) { return *clients_[worker % clients_.size()]; }
  size_t count() const { return clients_.size(); }

 private:
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
    return flags.mode == "throughput" ? measureThroughput(flags, submitters, io.waitScope)
                                      : measureWaitLag(flags, submitters, io.waitScope);
  } catch (const kj::Exception& exception) {
    std::fprintf(stderr, "cluster_bench: %s\n", fromException(exception).message.c_str());
    return 1;
  }
}

int parseAndRun(int argc, char** argv) {
  Flags flags;
  CLI::App app("Measures a running cluster.");
  app.add_option("--mode", flags.mode, "What to measure: throughput or wait-lag.")
      ->required()
      ->check(CLI::IsMember({"throughput", "wait-lag"}));
  app.add_option("--jobs", flags.jobs, "How many jobs.")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--outstanding", flags.outstanding, "throughput: jobs under way at any time.")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--data", flags.cluster.data, "Data folder of `tarcil up`.");
  app.add_option("--cluster", flags.cluster.cluster, "Addresses of agents, separated by commas.");
  app.add_option("--token-file", flags.cluster.tokenFile, "File with the token to log in with.");
  CLI11_PARSE(app, argc, argv);
  return run(flags);
}

}  // namespace
}  // namespace tarcil::bench

int main(int argc, char** argv) {
  return tarcil::bench::parseAndRun(argc, argv);
}
