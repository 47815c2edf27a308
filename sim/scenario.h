// What is simulated: the cluster, its jobs, the truth about them, and the policies to compare.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/decide/options.h"
#include "sim/ground_truth/measured.h"
#include "sim/ground_truth/parametric.h"
#include "sim/moment.h"
#include "sim/replay/replay.h"
#include "sim/workload/synthetic.h"
#include "sim/workload/traces.h"
#include "sim/world.h"

namespace tarcil::sim {

// docs/simulator.md says what each does.
enum class PolicyName : uint8_t {
  kQuality,
  kGreedy,
  kLateBinding,
  kLateBindingAware,
  kLateBindingAdaptive,
  kBatch,
  kPerTask,
  kRandom,
  kLeastLoaded,
  kOmniscient,
  kIdeal,
};

inline constexpr std::string_view kPolicyNames[] = {
    "quality", "greedy",   "late-binding", "late-binding-aware", "late-binding-adaptive",
    "batch",   "per-task", "random",       "least-loaded",       "omniscient",
    "ideal"};

std::string_view name(PolicyName policy);
std::optional<PolicyName> policyNamed(std::string_view name);

enum class WorkloadKind : uint8_t { kAlike, kMixed, kTrace, kStreams, kReplay };
enum class TruthKind : uint8_t {
  kNone,  // tasks run at full speed: only queueing counts
  kParametric,
  kMeasured,
  kProfiles,  // of a recorded cluster: as on emulated servers (sim/replay)
};

struct PlatformSize {
  uint32_t units = 16;
  uint32_t servers = 400;

  bool operator==(const PlatformSize&) const = default;
};

// What runs on the cluster from the beginning to the end, on servers by chance; no policy placed it.
struct Residents {
  double part = 0;   // of all units, in [0, 0.9]
  uint32_t rus = 1;  // of each
};

struct Scenario {
  std::string name = "simulation";

  // --- The cluster. At most 100,000 servers, 1,000,000 units; each platform of 1 to 4,096 units.
  std::vector<PlatformSize> platforms{PlatformSize{}};
  Residents residents;

  // --- Its jobs
  WorkloadKind workload = WorkloadKind::kAlike;
  uint32_t jobs = 1'000;  // of traces: at most so many, from their beginning
  // Part of all units that the jobs would hold if all ran at full speed: by moving their arrivals. Unset: as
  // the workload has them. 0 < load <= 10.
  std::optional<double> load;
  // Of jobs alike.
  uint32_t tasks = 10;
  Duration mean = std::chrono::milliseconds(100);
  Durations durations = Durations::kExponentialJobs;
  // Of streams: users who share the cluster; jobs come for so long.
  std::vector<Stream> streams;
  Duration span = std::chrono::seconds(60);
  // Of mixed jobs.
  Duration gap = std::chrono::seconds(1);
  std::shared_ptr<const Trace> trace;  // where the workload is one
  // Where the workload is one. It brings servers and settings too: lay() does it.
  std::shared_ptr<const Replay> replay;
  // Jobs at the beginning that are run and not counted, as a part of all; in [0, 1).
  double warmUp = 0.1;
  // How often it is noted how the cluster stands, evenly while jobs come.
  uint32_t moments = 0;

  // --- The truth
  TruthKind truth = TruthKind::kParametric;
  uint16_t applications = 60;
  Combining combining = Combining::kSum;
  double heterogeneity = 0.25;  // in [0, 0.9]
  double mostPressure = 0.15;   // above 0, at most 10
  // Mean error of what schedulers are told, relative to it; in [0, 1].
  double classificationError = 0;
  std::shared_ptr<const CoRuns> coRuns;  // of kMeasured

  // --- The policies
  std::vector<PolicyName> policies{PolicyName::kQuality};
  std::vector<uint64_t> seeds{1};
  QualitySettings settings;
  uint32_t agents = 10;   // 1 to 1,000
  uint32_t buckets = 32;  // of each platform, 1 to 256
  // What a decision of quality takes besides looking at slots (docs/benchmarks.md).
  Duration decision = std::chrono::microseconds(2);
  Duration roundTrip = std::chrono::milliseconds(1);
  double probeRatio = 2;  // 1 to 100
  bool cancel = true;     // of late binding: reservations, once the last task is given away (Sparrow 3.6)
  // Of least-loaded and omniscient: what the scheduler takes for each task, one after the other.
  Duration dispatch{};
  Duration waitBound = std::chrono::seconds(30);
  // Jobs ask to wait for a good place no longer than this part of their longest task (`max_wait`); 0 to
  // 1,000.
  double patience = 0.05;
  // Of the greedy scheduler: a full scan of the 4,176 units of Tarcil 6.3 takes a second, as its Fig. 15d
  // shows.
  std::chrono::microseconds scanPerSlot{250};
  Duration scanBound = std::chrono::seconds(2);

  uint64_t units() const;
  uint32_t servers() const;
};

// The cluster, the settings and the jobs of a recording, in place of what the scenario has of these.
void lay(const Recording& recording, ReplayTruth truth, Scenario& scenario);

// Everything that is wrong with it, one sentence each: the field, its value and what to write instead.
std::vector<std::string> problems(const Scenario& scenario);

// One run of one policy.
struct Spread {
  double mean = 0, p5 = 0, p25 = 0, p50 = 0, p75 = 0, p95 = 0, p99 = 0;
};
struct Low {
  double mean = 0, p5 = 0, p1 = 0;
};

// How the jobs of one stream fared.
struct StreamSummary {
  std::string name;
  size_t jobs = 0;  // counted
  Spread responseMs;
  double performance = 0;  // mean
};

struct Summary {
  PolicyName policy{};
  uint64_t seed = 0;
  uint32_t servers = 0;
  uint64_t rus = 0;
  size_t jobs = 0;        // counted: those of the warm-up are not
  size_t unfinished = 0;  // of all: jobs that never ended; counted nowhere else
  double load = 0;        // offered
  double utilisation = 0;
  Spread responseMs;  // from the arrival of a job to the end of its last task
  Spread idealMs;     // the same with no delay on the best resources: its longest task
  Spread delayMs;     // response less ideal
  Low performance;    // ideal / response
  // Response under the policy ideal / response, job by job; where that policy ran with the same seed.
  std::optional<Low> ofIdealPolicy;
  double atLeast95 = 0;  // part of the jobs whose performance is at least 0.95
  Low quality;           // of tasks: how fast they ran, relative to alone on the best platform
  Spread waitMs;         // of a job's tasks on average, from its arrival to their start
  // Part of the jobs that ended no later than one and a half round trips after the ideal: they waited for
  // nothing but the messages of a probe.
  double atOnce = 0;
  Low residentQuality;                 // how fast residents ran, of alone on their servers
  std::vector<StreamSummary> streams;  // of the workload's streams, in their order
  std::vector<Moment> moments;
  Spread decisionUs;
  uint64_t conflicts = 0, violations = 0;
  uint64_t events = 0;
  double simulatedSeconds = 0;
  // For plots: performance of the counted jobs, and the quality of tasks, ascending.
  std::vector<float> performances, qualities;
  std::vector<float> responses;  // of the jobs that are to be counted, in their order, in ms; 0: never ended
};

// How the jobs of the recording really fared. Policy, seed and what a cluster does not tell are left as they
// are. Requires: scenario.replay.
Summary recordedSummary(const Scenario& scenario);

// The same arguments give the same result. Requires: no problems(scenario).
Summary simulate(const Scenario& scenario, PolicyName policy, uint64_t seed,
                 const std::function<void(const Progress&)>& watch = nullptr);

// Sets ofIdealPolicy. Requires: runs of one scenario.
void compareWithIdealPolicy(std::vector<Summary>& runs);

}  // namespace tarcil::sim
