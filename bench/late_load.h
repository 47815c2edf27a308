// The clients of the benchmarks of late binding: streams of jobs, and what became of their tasks.
#pragma once

#include <kj/async.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bench/late_cluster.h"
#include "bench/report.h"
#include "client/late/late_client.h"
#include "core/base/rng.h"
#include "rpc/connection.h"

namespace tarcil::bench {

// What every job is.
struct LateWork {
  uint32_t tasks = 10;
  double taskMs = 0;
  std::vector<std::string> executor{};  // of its tasks; empty: none
};

// Jobs of one user.
struct LateStream {
  uint32_t user = 0;
  uint8_t priority = 50;
  double jobsPerSecond = 0;
  double from = 0, until = 0;  // seconds after startStreams()
};

struct LateTimes {
  std::vector<double> launchMs, reserveMs, queueMs, getTaskMs;  // of tasks
  std::vector<double> responseMs;                               // of jobs
};

// Tasks of one user that ran at the same time, on average over each tenth of a second.
class LateRunning {
 public:
  void add(double from, double to);  // seconds
  std::vector<double> upTo(double seconds) const;
  static constexpr double kStep = 0.1;

 private:
  std::vector<double> busy_;  // seconds of tasks in each step
};

// Each user has a client for each agent, and jobs go to them in turn. Single-threaded.
class LateLoad {
 public:
  // `cluster` outlives it.
  LateLoad(Net net, const LateCluster& cluster, uint32_t users, uint32_t clientsPerUser, LateWork work,
           uint64_t seed);
  ~LateLoad() noexcept(false);

  void submit(const LateStream& stream) { submit(stream, work_.tasks); }
  // One job of so many tasks; resolves when they are over.
  kj::Promise<void> runOne(const LateStream& stream, uint32_t tasks);
  // Jobs arrive, by chance (Poisson) or at even distances, until the promise is dropped or all streams
  // are over.
  enum class Arrivals : uint8_t { kRandom, kEven };
  kj::Promise<void> arrive(std::vector<LateStream> streams, Arrivals arrivals);

  bool isClosed = false;                         // a job follows each that is over
  bool isMeasuring = false;                      // times are kept
  uint64_t over = 0, notDone = 0, failures = 0;  // tasks, and failures of agents
  bool hasFailed = false;                        // and no task has been done since
  Steady::time_point firstAfterFailure{};
  std::map<uint32_t, LateTimes> times;      // by user
  std::map<uint32_t, LateRunning> running;  // by user; from the beginning of the latest arrive()

 private:
  class User;
  struct Left {
    LateStream stream;
    uint32_t tasks = 0;
    Steady::time_point since{};
    kj::Maybe<kj::Own<kj::PromiseFulfiller<void>>> done;
  };

  Left& submit(const LateStream& stream, uint32_t tasks);
  kj::Promise<void> arrive(LateStream stream, Arrivals arrivals, double next);
  double seconds() const;  // since the streams started

  const Net net_;
  const LateWork work_;
  Rng rng_;
  Steady::time_point start_ = Steady::now();
  std::vector<std::unique_ptr<User>> clients_;  // of the first user, then of the next
  const uint32_t clientsPerUser_;
  std::vector<uint32_t> lease_;  // by user: whose client is next
};

}  // namespace tarcil::bench
