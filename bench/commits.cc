// Questions: how many commits a second does a running master take, how long does each wait, and how far do
// the agents' copies lag behind? Agents and one monitor for all servers are this program's: they speak the
// real RPC of schema/master.capnp, one connection each, but decide and run nothing.
//
//   commits --master ADDR --agent-token FILE --monitor-token FILE [--agents N] [--outstanding K]
//           [--servers N] [--rus N] [--tasks M] [--rus-per-task K] [--gang] [--conflicts] [--bare]
//           [--seconds S]
//
// One cycle: a commit with a new job's record and claims for all of its tasks, each of which the master
// judges anew because the version seen is an old one; then the report that all of them have ended, which
// frees the units and ends the job. Every change goes to every agent. Servers are drawn from those that this
// program knows to have room, so nothing is refused; with --conflicts, from all of them.
//
// With --bare, claims alone: each agent submits one job of many tasks first, and a cycle is a commit for the
// next of its tasks. Nothing is released, so it ends when nine tenths of the units are taken.
#include "bench/commit_load.h"

#include <CLI/CLI.hpp>

#include <cmath>
#include <cstdio>

#include "bench/report.h"
#include "rpc/errors.h"
#include "rpc/token.h"

namespace tarcil::bench {
namespace {

int measure(const LoadOptions& options) {
  printConditions();
  try {
    auto io = kj::setupAsyncIo();
    const Net net{io.provider->getNetwork(), *io.lowLevelProvider, io.provider->getTimer()};
    CommitLoad load(net, options);
    const double snapshot = load.connect(io.waitScope);
    const MachineCpu cpu;
    const auto begin = Steady::now();
    const LoadResult result = load.run(io.waitScope);
    const double seconds = milliseconds(Steady::now() - begin) / 1e3;
    const auto cycles = static_cast<double>(result.cycles);
    std::printf("agents %zu, outstanding %zu, servers %u of %u units, jobs of %u tasks of %u units\n",
                options.agents, options.outstanding, options.servers, options.rus, options.tasks,
                options.rusPerTask);
    std::printf("state of all servers to the last of the agents: %.0f ms\n", snapshot);
    std::printf("%.0f cycles/s, %.0f claims granted/s, %.2f %% refused; machine %.2f cores busy\n",
                cycles / seconds, static_cast<double>(result.granted) / seconds,
                100.0 * static_cast<double>(result.refused) /
                    static_cast<double>(std::max<uint64_t>(1, result.granted + result.refused)),
                cpu.busySeconds() / seconds);
    const double taken = result.taken / static_cast<double>(std::max<uint64_t>(1, result.commits));
    std::printf(
        "%.2f %% of the commits not wholly granted; when they were sent %.2f %% of the units were taken\n",
        100.0 * static_cast<double>(result.commitsNotWhollyGranted) /
            static_cast<double>(std::max<uint64_t>(1, result.commits)),
        100 * taken);
    if (options.gang && options.rus == options.rusPerTask) {
      std::printf("a gang that claims whole servers at random: 1 - (1 - f)^m = %.2f %%\n",
                  100 * (1 - std::pow(1 - taken, options.tasks)));
    }
    if (!result.commitMs.empty()) printSpread("commit to its answer", result.commitMs);
    if (!result.lagMs.empty()) printSpread("answer to the news at another agent", result.lagMs);
    return 0;
  } catch (const kj::Exception& exception) {
    std::fprintf(stderr, "commits: %s\n", fromException(exception).message.c_str());
    return 1;
  }
}

int parseAndRun(int argc, char** argv) {
  LoadOptions options;
  std::string agentToken, monitorToken, userToken;
  CLI::App app("Loads a running master with commits.");
  app.add_option("--master", options.master, "Address of the master.")->required();
  app.add_option("--agent-token", agentToken, "File with a token of role agent.")->required();
  app.add_option("--monitor-token", monitorToken, "File with a token of role monitor.")->required();
  app.add_option("--user-token", userToken, "File with a token of a user, whose jobs these are.")->required();
  app.add_option("--agents", options.agents, "Agents.")->capture_default_str();
  app.add_option("--outstanding", options.outstanding, "Cycles under way, over all agents.")
      ->capture_default_str();
  app.add_option("--servers", options.servers, "Servers.")->capture_default_str();
  app.add_option("--rus", options.rus, "Units of each.")->capture_default_str();
  app.add_option("--tasks", options.tasks, "Tasks of each job.")->capture_default_str();
  app.add_option("--rus-per-task", options.rusPerTask, "Units of each task.")->capture_default_str();
  app.add_flag("--gang", options.gang, "All claims of a job or none.");
  app.add_flag("--conflicts", options.conflicts, "Claim without regard to what is taken.");
  app.add_flag("--bare", options.bare, "Claims alone, for jobs that the master has, and no release.");
  app.add_option("--seconds", options.seconds, "How long.")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  for (const auto& [file, token] : {std::pair(&agentToken, &options.agentToken),
                                    {&monitorToken, &options.monitorToken},
                                    {&userToken, &options.userToken}}) {
    const auto text = readTokenFile(*file);
    if (!text.ok()) {
      std::fprintf(stderr, "commits: %s\n", text.error().message.c_str());
      return 3;
    }
    *token = *text;
  }
  return measure(options);
}

}  // namespace
}  // namespace tarcil::bench

int main(int argc, char** argv) {
  return tarcil::bench::parseAndRun(argc, argv);
}
