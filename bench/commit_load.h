// Agents and a monitor that load a master with cycles of commit and release: see commits.cc.
#pragma once

#include <kj/async-io.h>

#include <memory>
#include <string>
#include <vector>

#include "bench/report.h"
#include "core/base/rng.h"
#include "core/state/caller.h"
#include "core/state/commit.h"
#include "rpc/connection.h"
#include "schema/master.capnp.h"

namespace tarcil::bench {

struct LoadOptions {
  std::string master;
  std::string agentToken, monitorToken;
  std::string userToken;  // whose jobs these are
  size_t agents = 8;
  size_t outstanding = 64;
  uint32_t servers = 6'250;
  uint32_t rus = 16;
  uint32_t tasks = 8;
  uint32_t rusPerTask = 1;
  bool gang = false;
  bool conflicts = false;
  bool bare = false;
  double seconds = 10;
};

struct LoadResult {
  uint64_t cycles = 0;
  uint64_t granted = 0, refused = 0;  // claims
  uint64_t commits = 0, commitsNotWhollyGranted = 0;
  double taken = 0;              // sum over commits: share of units taken when it was sent
  std::vector<double> commitMs;  // from the call to the answer
  std::vector<double> lagMs;     // from the answer to the news of that version at another agent
};

// Single-threaded.
class CommitLoad final : private kj::TaskSet::ErrorHandler {
 public:
  CommitLoad(Net net, LoadOptions options);
  ~CommitLoad() noexcept;

  // Registers the servers, attaches all agents, and waits until each has the whole state. Returns the
  // milliseconds of the latter. Throws what the master refuses.
  double connect(kj::WaitScope& scope);

  // Cycles for the time given; bare claims end sooner where nine tenths of the units are taken.
  LoadResult run(kj::WaitScope& scope);

 private:
  class Session;
  struct Cycle;

  kj::Promise<void> connectMonitor();
  JobId newJobId();
  uint32_t tasksOfJob() const;
  // One waiting job of each agent, of more tasks than there will be claims.
  kj::Promise<void> submitJobs();
  void begin(Session& session);
  // Claims slots for all tasks that have none.
  void claim(const std::shared_ptr<Cycle>& cycle);
  Commit commitFor(Session& session, const Cycle& cycle);
  void answered(Session& session, const std::shared_ptr<Cycle>& cycle, wire::CommitAnswer::Reader answer);
  // Reports what has ended, with a few calls at a time, as several monitors would; the rest goes with
  // the next.
  void report();
  void finished(const std::vector<std::shared_ptr<Cycle>>& cycles);
  ServerId serverWithRoom();
  void taskFailed(kj::Exception&& exception) override;

  const Net net_;
  const LoadOptions options_;
  Caller user_;  // whose jobs these are
  Rng rng_{1};
  std::vector<std::unique_ptr<Session>> sessions_;
  kj::Own<Connection> monitorConnection_;
  kj::Maybe<wire::MonitorPort::Client> monitor_;
  std::vector<uint32_t> free_;  // units by server, as this program knows; unused with conflicts
  uint64_t taken_ = 0;          // units
  int64_t submitted_ = 0;       // jobs
  std::vector<TaskReport> ended_;
  std::vector<std::shared_ptr<Cycle>> ending_;  // whose tasks are in ended_
  size_t reportsUnderWay_ = 0;
  size_t underWay_ = 0;
  bool stopping_ = false;
  kj::Own<kj::PromiseFulfiller<void>> done_;
  LoadResult result_;
  kj::TaskSet calls_;
};

}  // namespace tarcil::bench
