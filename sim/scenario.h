// What is simulated: the cluster, its jobs, the truth about them, and the policies to compare.
#pragma once

#include <array>
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
#include "sim/replay/replay.h"
#include "sim/workload/synthetic.h"
#include "sim/workload/traces.h"

namespace tarcil::sim {

// docs/simulator.md says what each does.
enum class PolicyName : uint8_t {
  kQuality,
  kGreedy,
  kGreedyLeastLoaded,
  kAgentBatch,
  kAgentPerTask,
  kAgentRandom,
  kLateBinding,
  kLateBindingAware,
  kLateBindingAdaptive,
  kBatch,
  kPerTask,
  kRandom,
  kRandomRetry,
  kLeastLoaded,
  kMostAllocated,
  kLeastAllocated,
  kBestFit,
  kBackfill,
  kOmniscient,
  kIdeal,
  kBound,  // no policy: what none can pass (sim/bound.h)
};

inline constexpr std::string_view kPolicyNames[] = {"quality",
                                                    "greedy",
                                                    "greedy-least-loaded",
                                                    "agent-batch",
                                                    "agent-per-task",
                                                    "agent-random",
                                                    "late-binding",
                                                    "late-binding-aware",
                                                    "late-binding-adaptive",
                                                    "batch",
                                                    "per-task",
                                                    "random",
                                                    "random-retry",
                                                    "least-loaded",
                                                    "most-allocated",
                                                    "least-allocated",
                                                    "best-fit",
                                                    "backfill",
                                                    "omniscient",
                                                    "ideal",
                                                    "bound"};

std::string_view name(PolicyName policy);
std::optional<PolicyName> policyNamed(std::string_view name);

enum class WorkloadKind : uint8_t { kAlike, kMixed, kHeavyTailed, kTrace, kStreams, kReplay };
enum class TruthKind : uint8_t {
  kNone,  // tasks run at full speed: only queueing counts
  kParametric,
  kMeasured,
  kProfiles,  // of a recorded cluster: as on emulated servers (sim/replay)
};

// Where the profiles that schedulers are told come from.
enum class ProfileSource : uint8_t {
  kTruth,       // from what the truth is made of, with an error that is set
  kClassified,  // from a few probes of it (sim/ground_truth/classified_belief.h)
};
// What files call them, in the order of the enumeration.
inline constexpr std::array<std::string_view, 2> kProfileSourceNames = {"truth", "classified"};

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
  uint32_t phases = 1;          // of tasks, 1 to 10
  double phaseChange = 0;       // of their pressures, in [0, 1]
  double noise = 0;             // tasks run at 1 - noise to 1 of their speed, by chance; in [0, 0.9]
  ProfileSource profiles = ProfileSource::kTruth;
  // Of kTruth: the mean error of what schedulers are told, relative to it; in [0, 1].
  double classificationError = 0;
  uint32_t probes = 2;                   // of kClassified, of each application that is not known; 1 to 10
  std::shared_ptr<const CoRuns> coRuns;  // of kMeasured

  // --- The policies
  std::vector<PolicyName> policies{PolicyName::kQuality};
  std::vector<uint64_t> seeds{1};
  QualitySettings settings;
  // Of quality and of the policies named agent-...
  uint32_t agents = 10;   // 1 to 1,000
  uint32_t buckets = 32;  // of each platform, 1 to 256
  // What a decision of quality takes besides looking at slots (docs/benchmarks.md).
  Duration decision = std::chrono::microseconds(2);
  Duration roundTrip = std::chrono::milliseconds(1);
  double probeRatio = 2;  // 1 to 100
  bool cancel = true;     // of late binding: reservations, once the last task is given away (Sparrow 3.6)
  // Of omniscient: what the scheduler takes for each task, one after the other.
  Duration dispatch{};
  Duration waitBound = std::chrono::seconds(30);
  // Jobs ask to wait for a good place no longer than this part of their longest task (`max_wait`); 0 to
  // 1,000.
  double patience = 0.05;
  // Of schedulers that look at every free slot: as measured (docs/benchmarks.md). Tarcil's Fig. 15d shows one
  // that takes a second for 4,176 units: 250 us.
  std::chrono::nanoseconds scanPerSlot{7};
  Duration scanBound = std::chrono::seconds(2);

  uint64_t units() const;
  uint32_t servers() const;
};

// The cluster, the settings and the jobs of a recording, in place of what the scenario has of these.
void lay(const Recording& recording, ReplayTruth truth, Scenario& scenario);

}  // namespace tarcil::sim
