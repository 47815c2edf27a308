// Makes a store as large as a master may meet at a start: see restart.sh.
//
//   fill_store FOLDER [--servers N] [--rus N] [--jobs N] [--tasks N] [--rus-per-task N] [--waiting]
#include <CLI/CLI.hpp>

#include <iostream>
#include <stdexcept>
#include <vector>

#include "master/store/rocks/rocks_store.h"

namespace tarcil::bench {
namespace {

struct Sizes {
  std::string folder;
  uint32_t servers = 100'000;
  uint32_t rus = 10;
  uint32_t jobs = 100'000;
  uint32_t tasks = 6;
  uint32_t rusPerTask = 1;  // of jobs that wait
  bool waiting = false;  // all jobs
};

// Of ten jobs in a row this many run and wait; the others have ended.
constexpr uint32_t kOfTen = 10, kRunning = 5, kWaiting = 1;

constexpr uint32_t kAgents = 8;

void require(const Status& status) {
  if (!status) throw std::runtime_error(status.error().message);
}

// Gathers records and writes them a thousand at a time.
class Writer {
 public:
  explicit Writer(Store& store) : store_(store) {}

  void put(Record record) {
    batch_.emplace_back(Put{std::move(record)});
    if (batch_.size() >= 1'000) flush();
  }
  void flush() {
    require(store_.write(batch_));
    batch_.clear();
  }

 private:
  Store& store_;
  std::vector<Mutation> batch_;
};

std::string serverName(uint32_t number) {
  return "server-" + std::to_string(number);
}

std::string agentName(uint32_t number) {
  return "agent-" + std::to_string(number % kAgents);
}

class Filling {
 public:
  Filling(const Sizes& sizes, Writer& writer) : sizes_(sizes), writer_(writer) {}

  // The records of a cluster whose running tasks have one unit each, on one server after the other.
  void run() {
    for (uint32_t i = 0; i < sizes_.servers; ++i) writer_.put(server(i));
    for (uint32_t i = 0; i < sizes_.jobs; ++i) job(i);
    for (uint32_t i = 0; i < kAgents; ++i) writer_.put(AgentRecord{.name = agentName(i), .epoch = 1});
    ClusterRecord cluster;
    cluster.cluster = "bench";
    cluster.nextAllocation = allocation_;
    writer_.put(cluster);
    QualitySettings settings;
    settings.version = 1;
    writer_.put(settings);
    writer_.flush();
  }

  uint64_t running() const { return running_; }

 private:
  ServerRecord server(uint32_t number) const {
    ServerRecord record;
    record.id = number;
    record.monitor = "monitor-" + std::to_string(number / 100);
    record.facts.name = serverName(number);
    record.facts.platform = "platform-" + std::to_string(number % 10);
    record.facts.rack = "rack-" + std::to_string(number / 40);
    record.facts.rus = record.facts.cores = sizes_.rus;
    record.facts.memoryBytes = uint64_t{sizes_.rus} << 30;
    record.facts.address = "10.0.0.1:7103";
    record.facts.emulated = true;
    return record;
  }

  void job(uint32_t number) {
    JobRecord record;
    for (size_t byte = 0; byte < 4; ++byte)
      record.id.bytes[byte] = static_cast<uint8_t>(number * 2654435761u >> 8 * byte);
    record.spec.name = "job-" + std::to_string(number);
    record.spec.command = {"/usr/bin/true", "--with", "an-argument"};
    record.spec.tasks = sizes_.tasks;
    record.spec.rusPerTask = sizes_.rusPerTask;
    record.spec.profile.caused = Profile::filled(5);
    record.spec.profile.tolerated = Profile::filled(60);
    record.user = record.runAs = "user-" + std::to_string(number % 50);
    record.submitted = WallTime(std::chrono::seconds(1'700'000'000 + number));
    JobProgress progress;
    progress.id = record.id;
    progress.owner = agentName(number);
    const uint32_t kind = number % kOfTen;
    if (kind < kRunning && !sizes_.waiting) {
      progress.state = RunState::kRunning;
    } else if (kind < kRunning + kWaiting || sizes_.waiting) {
      progress.state = RunState::kQueued;
    } else {
      progress.state = RunState::kDone;
      progress.finished = record.submitted + std::chrono::minutes(1);
    }
    for (TaskIndex task = 0; task < sizes_.tasks && progress.state != RunState::kQueued; ++task)
      writer_.put(this->task(record, progress.state, task));
    writer_.put(std::move(record));
    writer_.put(std::move(progress));
  }

  TaskRecord task(const JobRecord& job, RunState state, TaskIndex index) {
    TaskRecord task;
    task.job = job.id;
    task.index = index;
    task.state = state;
    task.attempt = 1;
    task.allocation = allocation_++;
    task.decision = kNoDecision;
    task.q = task.s = 0.9;
    task.placed = task.end.started = job.submitted + std::chrono::seconds(1);
    const uint64_t unit = state == RunState::kRunning ? running_++ : 0;
    if (unit >= uint64_t{sizes_.servers} * sizes_.rus)
      throw std::runtime_error("more tasks run than there are units: fewer --jobs or --tasks");
    task.server = serverName(static_cast<uint32_t>(unit % sizes_.servers));
    task.rus = {static_cast<RuIndex>(unit / sizes_.servers)};
    if (state == RunState::kDone) task.end.ended = job.submitted + std::chrono::minutes(1);
    return task;
  }

  const Sizes& sizes_;
  Writer& writer_;
  AllocationId allocation_ = 1;
  uint64_t running_ = 0;
};

int run(const Sizes& sizes) {
  auto store = openRocksStore(sizes.folder);
  if (!store) throw std::runtime_error(store.error().message);
  Writer writer(**store);
  Filling filling(sizes, writer);
  filling.run();
  std::cout << uint64_t{sizes.servers} * sizes.rus << " units of " << sizes.servers << " servers, "
            << sizes.jobs << " jobs of " << sizes.tasks << " tasks, " << filling.running()
            << " tasks running\n";
  return 0;
}

}  // namespace
}  // namespace tarcil::bench

int main(int argc, char** argv) {
  tarcil::bench::Sizes sizes;
  CLI::App app("Makes a store of servers and jobs; of ten jobs five run, one waits, four have ended.");
  app.add_option("folder", sizes.folder, "Where; made if it is not there.")->required();
  app.add_option("--servers", sizes.servers, "Servers.")->capture_default_str();
  app.add_option("--rus", sizes.rus, "Units of each.")->check(CLI::Range(1, 4096))->capture_default_str();
  app.add_option("--jobs", sizes.jobs, "Jobs.")->capture_default_str();
  app.add_option("--tasks", sizes.tasks, "Tasks of each.")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  app.add_option("--rus-per-task", sizes.rusPerTask, "Units of each task; more than 1 only where all wait.")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  app.add_flag("--waiting", sizes.waiting, "All jobs wait.");
  CLI11_PARSE(app, argc, argv);
  try {
    return tarcil::bench::run(sizes);
  } catch (const std::exception& error) {
    std::cerr << "fill_store: " << error.what() << '\n';
    return 1;
  }
}
