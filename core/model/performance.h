// What a job expects of its tasks' performance, and what a monitor says of a task that falls short of it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/ids.h"
#include "core/base/time.h"
#include "core/model/resources.h"

namespace tarcil {

// By what performance is measured; more is better.
enum class Metric : uint8_t {
  kInstructions,  // a second, where the machine counts them
  kReported,      // what the task says of itself
  kCpuTime,       // per time, in cores: the last resort
};

std::string_view name(Metric metric);  // "instructions", "reported", "cpu"

// How the tasks of a job are watched.
struct PerformanceGoal {
  Metric metric = Metric::kReported;
  double target = 0;       // in the metric's unit; 0: what the task itself reached before
  double deviation = 0.1;  // a task suffers below (1 - deviation) of what is expected; in (0, 1)
  Duration window = std::chrono::seconds(10);  // how long it must last

  bool operator==(const PerformanceGoal&) const = default;
};

// What may be done for tasks that suffer, besides keeping others away.
struct Adjusting {
  uint32_t moreRus = 0;  // units that a task may get beyond what it asked for
  bool move = false;     // a task may be ended and started again on another server

  bool operator==(const Adjusting&) const = default;
};

// What a task that slows down its neighbours may still use, as a share in (0, 1] of what it could. 1: all of
// it.
struct Throttle {
  double cpu = 1;                // of the time of its cores
  double disk = 1, network = 1;  // of the rate at which it used them before
  double cacheWays = 1;          // of the last-level cache
  double memoryBandwidth = 1;

  bool isNone() const { return *this == Throttle{}; }
  bool operator==(const Throttle&) const = default;
};

// Each of its shares.
inline constexpr std::array<double Throttle::*, 5> kThrottleShares = {
    &Throttle::cpu, &Throttle::disk, &Throttle::network, &Throttle::cacheWays, &Throttle::memoryBandwidth};

// What ServerFacts::missing names where tasks of a server cannot be throttled by these.
inline constexpr const char* kDiskLimit = "io-limit";
inline constexpr const char* kNetworkLimit = "network-limit";
inline constexpr const char* kCacheLimit = "cache-limit";
inline constexpr const char* kMemoryBandwidthLimit = "memory-bandwidth-limit";

// A likely cause of a task's suffering.
struct Cause {
  enum class Kind : uint8_t {
    kUnknown,
    kNeighbour,    // a task on the same server, by pressure on `resource`
    kBackground,   // what is on the server and no task of the cluster, by pressure on `resource`
    kCores,        // it uses all of the cores that it has
    kMemoryLimit,  // it is at its memory limit
    kHypervisor,   // the machine's own processors are taken from it
    kDisk,
    kNetwork,
  };

  Kind kind = Kind::kUnknown;
  std::optional<Resource> resource;
  AllocationId neighbour = 0;  // with kNeighbour
  double weight = 0;           // 0..1: how much speaks for it, beside the others
  std::string evidence;        // for people, with numbers

  bool operator==(const Cause&) const = default;
};

inline constexpr size_t kCauseKinds = static_cast<size_t>(Cause::Kind::kNetwork) + 1;

std::string_view name(Cause::Kind kind);  // "unknown", "neighbour", "memory_limit", ...

// Kind, who, and on what, without the evidence: "neighbour task 3 of sort on llc". `neighbour`: who that is,
// for people; empty where there is none, or it is not known any more.
std::string textOf(const Cause& cause, const std::string& neighbour);

// A task that falls short for longer than its window; or, with `over`, that did and does no longer.
struct Violation {
  AllocationId allocation = 0;
  bool over = false;
  Metric metric = Metric::kReported;
  double expected = 0;
  double measured = 0;
  WallTime since = kNever;
  std::vector<Cause> causes;  // the likeliest first; none with `over`

  bool operator==(const Violation&) const = default;
};

// What a watched task reaches at a moment.
struct Reached {
  double expected = 0;  // more than 0
  double measured = 0;  // in the same metric

  bool operator==(const Reached&) const = default;
};

struct PerformanceSample {
  AllocationId allocation = 0;
  Reached reached{};

  bool operator==(const PerformanceSample&) const = default;
};

// Whether the numbers can be what was measured; nothing is done on others.
bool isSound(const Reached& reached);

// The part of what is expected that the task reaches: more than 1 where it does better, 100 at most.
// Requires: isSound().
double partOf(const Reached& reached);

// The part of what is expected that the task reaches, 0 to 1; 0 where the numbers make no sense.
double partOfExpected(const Violation& violation);

// Something that was done because of a degraded task.
struct AdjustingStep {
  WallTime at = kNever;
  TaskIndex task = 0;
  std::string text;  // for people

  bool operator==(const AdjustingStep&) const = default;
};

// A performance violation as a query shows it.
struct TaskViolation {
  JobId job;
  JobNumber number = 0;  // of the job
  TaskIndex task = 0;
  std::string server;
  Violation violation;
  std::vector<std::string> neighbours;  // for people: who the neighbour of each cause is, or empty

  bool operator==(const TaskViolation&) const = default;
};

}  // namespace tarcil
