#include "tests/torture/torture_run.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <vector>

#include "tests/torture/master_process.h"
#include "tests/torture/stage.h"
#include "tests/torture/torturing_agent.h"
#include "tests/torture/torturing_monitor.h"
#include "tests/torture/torturing_user.h"

namespace tarcil::torture {
namespace {

constexpr size_t kAgents = 4;
constexpr size_t kMonitors = 2;
constexpr size_t kServersOfEach = 3;
constexpr uint32_t kRus = 16;
constexpr uint64_t kKeepFinished = 500;
constexpr auto kLookAgain = 5 * kj::MILLISECONDS;
constexpr auto kPatience = 60 * kj::SECONDS;

std::vector<std::string> masterFlags() {
  return {
      "--keep-finished",    std::to_string(kKeepFinished),
      "--agent-timeout",    "300ms",  // so that jobs change hands
      "--server-timeout",   "24h",    // a server's tasks are lost when it comes back without them, not before
      "--quarantine-after", "0",
      "--disk-reserve",     "1MiB"};
}

std::vector<ServerFacts> serversOf(size_t monitor) {
  std::vector<ServerFacts> servers;
  for (size_t i = 0; i < kServersOfEach; ++i) {
    ServerFacts& facts = servers.emplace_back();
    facts.name = "server-" + std::to_string(monitor * kServersOfEach + i);
    facts.platform = "default";
    facts.rus = facts.cores = kRus;
    facts.memoryBytes = uint64_t{kRus} << 30;
    facts.address = "unix:/nowhere";
  }
  return servers;
}

// Where a random instant seldom is: just before and after a batch is synced, or something is taken.
std::string randomFailpoint(Rng& rng) {
  constexpr const char* kNames[] = {"master.commit_arrived", "master.report_arrived", "master.before_sync",
                                    "master.synced"};
  return std::string(kNames[rng.below(std::size(kNames))]) + ":" + std::to_string(1 + rng.below(300));
}

class Run final {
 public:
  Run(const RunOptions& options, kj::AsyncIoContext& io)
      : options_(options),
        io_(io),
        rng_(options.seed),
        master_(options.tarcil, options.folder, masterFlags()),
        history_(options.folder + "/history"),
        stage_{{io.provider->getNetwork(), *io.lowLevelProvider, io.provider->getTimer()},
               master_.address(),
               rng_,
               history_} {
    history_.note(Begun{options.seed, kKeepFinished});
    stage_.launch = [this](AllocationId allocation, const std::string& server) {
      for (auto& monitor : monitors_) {
        if (monitor->standsFor(server)) monitor->launch(allocation, server);
      }
    };
    startMaster();
    for (size_t i = 0; i < kMonitors; ++i) {
      monitors_.push_back(
          std::make_unique<TorturingMonitor>(stage_, "monitor-" + std::to_string(i), serversOf(i)));
    }
    for (size_t i = 0; i < kAgents; ++i)
      agents_.push_back(std::make_unique<TorturingAgent>(stage_, "agent-" + std::to_string(i)));
    user_ = std::make_unique<TorturingUser>(stage_);
  }

  void run() {
    const kj::TimePoint end =
        stage_.net.timer.now() + static_cast<int64_t>(options_.seconds * 1e6) * kj::MICROSECONDS;
    while (stage_.net.timer.now() < end) {
      const kj::TimePoint death =
          stage_.net.timer.now() +
          static_cast<int64_t>(rng_.below(stage_.chance(4) ? 100'000 : 1'000'000)) * kj::MICROSECONDS;
      until([this, death]() { return master_.isDead() || stage_.net.timer.now() > death; });
      killMaster();
      if (stage_.chance(10)) stage_.pause(600'000).wait(io_.waitScope);
      startMaster(stage_.chance(2) ? randomFailpoint(rng_) : "");
    }
    restartMaster();  // without a failpoint
    settle();
    master_.kill();
  }

 private:
  // Whatever was ordered or told before a start of the master is told again when agents and monitors attach
  // to it: so once they are quiet after one, nothing is under way. Then the state is told twice, as the
  // master has it and as one has it that starts on its store.
  void settle() {
    stage_.acting = false;
    untilQuiet();
    restartMaster();
    untilQuiet();
    history_.note(Settled{});
    for (auto& agent : agents_) agent->attachAnew();
    untilQuiet();
    restartMaster();
    untilQuiet();
  }

  void startMaster(const std::string& failpoint = "") {
    history_.note(MasterStarted{});
    master_.start(failpoint);
  }
  void killMaster() {
    master_.kill();
    history_.note(MasterKilled{});
  }
  // Returns when all have noticed.
  void restartMaster() {
    killMaster();
    until([this]() { return quiet() == 0; });
    startMaster();
  }

  // How many are.
  size_t quiet() const {
    const auto isQuiet = [](const auto& peer) { return peer->quiet(); };
    return static_cast<size_t>(std::count_if(agents_.begin(), agents_.end(), isQuiet) +
                               std::count_if(monitors_.begin(), monitors_.end(), isQuiet)) +
           (user_->quiet() ? 1 : 0);
  }
  void untilQuiet() {
    until([this]() { return quiet() == agents_.size() + monitors_.size() + 1; });
  }

  template <typename Holds>
  void until(Holds holds) {
    const kj::TimePoint end = stage_.net.timer.now() + kPatience;
    while (!holds()) {
      if (stage_.net.timer.now() > end) throw std::runtime_error("things do not settle within a minute");
      stage_.net.timer.afterDelay(kLookAgain).wait(io_.waitScope);
    }
  }

  const RunOptions& options_;
  kj::AsyncIoContext& io_;
  Rng rng_;
  MasterProcess master_;
  Recorder history_;
  Stage stage_;
  std::vector<std::unique_ptr<TorturingMonitor>> monitors_;
  std::vector<std::unique_ptr<TorturingAgent>> agents_;
  std::unique_ptr<TorturingUser> user_;
};

}  // namespace

void torture(const RunOptions& options, kj::AsyncIoContext& io) {
  Run(options, io).run();
}

}  // namespace tarcil::torture
