// What writing to a store takes: the same batches of records, one batch after the other as the master's gate
// writes them, to RocksDB in a folder and to an etcd that runs, by turns.
//
//   store_writes --folder DIR [--etcd URL,...] [--commits N] [--rounds N] [--seconds S]
#include <unistd.h>

#include <CLI/CLI.hpp>

#include <cstdio>
#include <filesystem>
#include <stdexcept>

#include "bench/report.h"
#include "core/base/rng.h"
#include "etcd/module.h"
#include "master/store/etcd/etcd_store.h"
#include "master/store/rocks/rocks_store.h"

namespace tarcil::bench {
namespace {

struct Options {
  std::string folder;
  std::vector<std::string> etcd;
  std::string module = std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path();
  size_t commits = 64, rounds = 2;
  double seconds = 2;
};

JobId aJob(Rng& rng) {
  JobId id;
  for (auto& byte : id.bytes) byte = static_cast<uint8_t>(rng.below(256));
  return id;
}

// What a commit with a new job of one task comes to: the job, its progress, its task, the decision and the
// answer.
void addCommit(Rng& rng, uint64_t sequence, std::vector<Mutation>& to) {
  JobRecord job;
  job.id = aJob(rng);
  job.spec.name = "a-job";
  job.spec.command = {"/bin/sh", "-c", "exec /srv/bin/work"};
  job.user = "alice";
  JobProgress progress;
  progress.id = job.id;
  TaskRecord task;
  task.job = job.id;
  DecisionRecord decision;
  decision.job = job.id;
  decision.tasks = {0};
  AnswerRecord answer{"agent-1", 1, {}};
  answer.answer.sequence = sequence;
  to.insert(to.end(), {Put{job}, Put{progress}, Put{task}, Put{decision}, Put{answer}});
  if (sequence > 1'000) to.push_back(EraseAnswer{"agent-1", 1, sequence - 1'000});
}

void measure(const char* name, Store& store, const Options& options, uint64_t seed) {
  Rng rng(seed);
  uint64_t sequence = 0;
  std::vector<double> ms;
  const MachineCpu cpu;
  const auto begin = Steady::now();
  while (milliseconds(Steady::now() - begin) < options.seconds * 1e3) {
    std::vector<Mutation> batch;
    for (size_t i = 0; i < options.commits; ++i) addCommit(rng, ++sequence, batch);
    const auto at = Steady::now();
    if (const Status written = store.write(batch); !written)
      throw std::runtime_error(written.error().message);
    ms.push_back(milliseconds(Steady::now() - at));
  }
  const double seconds = milliseconds(Steady::now() - begin) / 1e3;
  std::printf("%s: %zu commits a batch, %.0f commits/s, machine %.2f cores busy\n", name, options.commits,
              static_cast<double>(sequence) / seconds, cpu.busySeconds() / seconds);
  printSpread("a batch", ms);
}

int run(const Options& options) {
  printConditions();
  std::unique_ptr<etcd::Client> client;
  if (!options.etcd.empty()) {
    auto opened = etcd::openClient({.urls = options.etcd}, options.module);
    if (!opened) throw std::runtime_error(opened.error().message);
    client = std::move(*opened);
  }
  for (size_t round = 1; round <= options.rounds; ++round) {
    const std::string name = std::to_string(::getpid()) + "-" + std::to_string(round);
    auto rocks = openRocksStore(options.folder + "/rocks-" + name);
    if (!rocks) throw std::runtime_error(rocks.error().message);
    measure("RocksDB", **rocks, options, round);
    rocks->reset();
    if (client == nullptr) continue;
    Rng rng(round);
    const EtcdStoreOptions places{.prefix = "/bench-" + name + "/", .mayBegin = true};
    auto store = EtcdStore::open(*client, places, systemClock(), rng);
    if (!store) throw std::runtime_error(store.error().message);
    measure("etcd", **store, options, round);
  }
  return 0;
}

}  // namespace
}  // namespace tarcil::bench

int main(int argc, char** argv) {
  tarcil::bench::Options options;
  CLI::App app("Measures what writing batches to RocksDB and to a running etcd takes.");
  app.add_option("--folder", options.folder, "For stores of RocksDB, which stay there.")->required();
  app.add_option("--etcd", options.etcd, "URLs of the members of an etcd that runs.")->delimiter(',');
  app.add_option("--commits", options.commits, "In a batch.")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  app.add_option("--rounds", options.rounds, "Of both, by turns.")
      ->check(CLI::Range(1, 1'000))
      ->capture_default_str();
  app.add_option("--seconds", options.seconds, "Of each.")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    return tarcil::bench::run(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "store_writes: %s\n", error.what());
    return 1;
  }
}
