// Question: what does a job cost the master's logic alone, without RPC and store? A cycle is a commit of a
// new job with claims, and the report that its tasks have started and ended.
//
//   master_cycle [--cycles N] [--tasks T] [--rus U]
#include <CLI/CLI.hpp>

#include <array>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "bench/allocations.h"
#include "bench/report.h"
#include "core/base/rng.h"
#include "core/state/occupancy.h"
#include "master/logic/master_logic.h"
#include "master/logic/outbox.h"

namespace tarcil::bench {
namespace {

using namespace master;

constexpr uint32_t kServers = 1'000, kRusOfServer = 16;
constexpr uint32_t kKept = 1'000;  // finished jobs

struct Flags {
  uint32_t cycles = 20'000, tasks = 1, rus = 8;
};

class Load {
 public:
  explicit Load(const Flags& flags) : flags_(flags), logic_(options(), {}, now_, rng_, actions_) {
    handle(AgentAttached{1, kAgent, "agent", 0, "unix:/nowhere"});
    MonitorAttached monitor{2, kMonitor, "monitor", {}, {}};
    for (uint32_t i = 0; i < kServers; ++i) {
      ServerFacts facts;
      facts.name = "server-" + std::to_string(i);
      facts.platform = "default";
      facts.rus = facts.cores = kRusOfServer;
      monitor.servers.push_back(facts);
    }
    handle(monitor);
  }

  void cycle() {
    handle(CommitArrived{3, kAgent, commit()});
    ReportsArrived started{4, kMonitor, {}}, ended{5, kMonitor, {}};
    for (const Action& action : actions_) {
      const auto* answer = std::get_if<AnswerCommit>(&action);
      if (answer == nullptr) continue;
      for (const Grant& grant : answer->answer.grants) {
        if (grant.verdict != Verdict::kGranted) throw std::runtime_error(name(grant.verdict));
        TaskReport report;
        report.allocation = grant.allocation;
        report.end.started = now_.wall;
        started.reports.push_back(report);
        report.ended = true;
        report.end.ended = now_.wall;
        ended.reports.push_back(report);
      }
    }
    handle(std::move(started));
    handle(std::move(ended));
  }

 private:
  static constexpr SessionId kAgent = 1, kMonitor = 2;

  static MasterOptions options() {
    MasterOptions options;
    options.keepFinishedJobs = kKept;
    return options;
  }

  Commit commit() {
    Commit commit;
    commit.answered = sequence_;
    commit.sequence = ++sequence_;
    const std::array<uint64_t, 2> random{rng_(), rng_()};
    std::memcpy(commit.job.bytes.data(), random.data(), sizeof random);
    NewJob& made = commit.newJob.emplace();
    made.record.id = commit.job;
    made.record.user = made.record.runAs = "bench";
    made.record.submitted = now_.wall;
    made.record.spec.name = "job";
    made.record.spec.command = {"true"};
    made.record.spec.tasks = flags_.tasks;
    made.record.spec.rusPerTask = flags_.rus;
    made.record.spec.profile.caused.fill(3);
    made.record.spec.profile.tolerated.fill(90);
    for (TaskIndex task = 0; task < flags_.tasks; ++task) {
      Claim& claim = commit.claims.emplace_back();
      claim.task = task;
      claim.server = (server_ += 7) % kServers;
      claim.rus = flags_.rus;
      for (uint32_t ru = 0; ru < flags_.rus; ++ru) claim.preferred.push_back(static_cast<RuIndex>(ru));
    }
    commit.explanation.wanted = flags_.tasks;
    commit.explanation.best.resize(5);
    return commit;
  }

  void handle(const Event& event) {
    // As master/server/master_server.cc has it.
    actions_ = std::vector<Action>();
    actions_.reserve(kUsualActions);
    logic_.handle(event, now_, rng_, actions_);
    now_.steady += Duration(100);
    now_.wall += Duration(100);
  }

  const Flags flags_;
  Now now_{MonotonicTime(std::chrono::hours(1)), WallTime(std::chrono::hours(24 * 365 * 50))};
  Rng rng_{1};
  std::vector<Action> actions_;
  MasterLogic logic_;
  uint64_t sequence_ = 0;
  ServerId server_ = 0;
};

void measure(const Flags& flags) {
  printConditions();
  Load load(flags);
  for (uint32_t i = 0; i < 2 * kKept; ++i) load.cycle();
  const Allocations before = allocations();
  const double begin = processorNs();
  for (uint32_t i = 0; i < flags.cycles; ++i) load.cycle();
  const double ns = processorNs() - begin;
  const Allocations after = allocations();
  const double cycles = flags.cycles;
  std::printf("cycles of %u claims of %u units: %.2f us, %.1f allocations, %.0f bytes each\n", flags.tasks,
              flags.rus, ns / cycles / 1e3, static_cast<double>(after.count - before.count) / cycles,
              static_cast<double>(after.bytes - before.bytes) / cycles);
  std::printf("bytes of a server's state %zu, of a resident %zu, of a task %zu, of an action %zu\n",
              sizeof(ServerStatus), sizeof(Resident), sizeof(TaskRecord), sizeof(Action));
}

}  // namespace
}  // namespace tarcil::bench

int main(int argc, char** argv) {
  tarcil::bench::Flags flags;
  CLI::App app("Measures what a job costs the master's logic.");
  app.add_option("--cycles", flags.cycles, "Cycles measured.")->capture_default_str();
  app.add_option("--tasks", flags.tasks, "Tasks of a job.")->capture_default_str();
  app.add_option("--rus", flags.rus, "Units of a task.")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  tarcil::bench::measure(flags);
}
