// Question: what do the signatures cost by which monitors know what they may start? For each task a ticket,
// made by the master and checked by the monitor; for late-bound tasks a grant for a user and an hour.
//
//   signatures [Google Benchmark's flags]
#include <benchmark/benchmark.h>

#include "core/state/launch_of.h"
#include "rpc/late_grant.h"
#include "rpc/launch_ticket.h"

namespace tarcil {
namespace {

// As small jobs are: a command of a few words, an environment, a limit.
const LaunchSpec& launch() {
  static const LaunchSpec made = [] {
    JobRecord record;
    record.id.bytes.fill(7);
    record.user = record.runAs = "alice";
    record.spec.name = "train";
    record.spec.command = {"python3", "train.py", "--epochs", "100", "--data", "/srv/data/images"};
    record.spec.env = {{"OMP_NUM_THREADS", "4"}, {"PYTHONUNBUFFERED", "1"}};
    record.spec.tasks = 100;
    record.spec.limits.memoryBytes = uint64_t{4} << 30;
    LaunchSpec launch = launchOf(record, 3, {.allocation = 4711, .attempt = 0, .rus = {0, 1, 2, 3}});
    launch.server = "server-17";
    return launch;
  }();
  return made;
}

void makeTicket(benchmark::State& state) {
  const MacKey key = makeMacKey();
  for (auto _ : state) benchmark::DoNotOptimize(ticketFor(launch(), key));
}
BENCHMARK(makeTicket);

void checkTicket(benchmark::State& state) {
  const MacKey key = makeMacKey();
  const std::string ticket = ticketFor(launch(), key);
  for (auto _ : state) {
    if (!isTicketFor(launch(), key, ticket)) state.SkipWithError("the ticket does not hold");
  }
}
BENCHMARK(checkTicket);

LateGrant grant() {
  return {"agent-1", "alice", "alice", WallTime(std::chrono::hours(1'000))};
}

void signGrant(benchmark::State& state) {
  const SigningKey key;
  for (auto _ : state) benchmark::DoNotOptimize(signedGrant(grant(), key));
}
BENCHMARK(signGrant);

void checkGrant(benchmark::State& state) {
  const SigningKey key;
  const LateGrant made = signedGrant(grant(), key);
  for (auto _ : state) {
    if (!isSignedBy(made, key.publicKey())) state.SkipWithError("the grant does not hold");
  }
}
BENCHMARK(checkGrant);

}  // namespace
}  // namespace tarcil

BENCHMARK_MAIN();
