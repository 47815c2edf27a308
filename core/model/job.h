// What a user asks for: the job file as a value. docs/job-file.md says what each field means to a user.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/ids.h"
#include "core/base/time.h"
#include "core/model/after.h"
#include "core/model/byte_resources.h"
#include "core/model/items.h"
#include "core/model/profile.h"
#include "core/model/task.h"

namespace tarcil {

enum class Schedule : uint8_t { kIncremental, kGang };

// What files and flags call the values of an enumeration, in the order in which people are told of them.
template <typename Enum, size_t kCount>
using NamesOf = std::array<std::pair<std::string_view, Enum>, kCount>;

// Empty for what is none of the values.
template <typename Enum, size_t kCount>
constexpr std::string_view nameIn(const NamesOf<Enum, kCount>& names, Enum value) {
  for (const auto& [name, named] : names)
    if (named == value) return name;
  return {};
}

// Nothing for other words.
template <typename Enum, size_t kCount>
constexpr std::optional<Enum> valueIn(const NamesOf<Enum, kCount>& names, std::string_view word) {
  for (const auto& [name, named] : names)
    if (name == word) return named;
  return std::nullopt;
}

template <typename Enum, size_t kCount>
std::vector<std::string_view> namesIn(const NamesOf<Enum, kCount>& names) {
  std::vector<std::string_view> all;
  for (const auto& [name, named] : names) all.push_back(name);
  return all;
}

inline constexpr NamesOf<Schedule, 2> kScheduleNames = {
    {{"incremental", Schedule::kIncremental}, {"gang", Schedule::kGang}}};
inline constexpr NamesOf<Container::Network, 3> kNetworkNames = {{{"host", Container::Network::kHost},
                                                                  {"none", Container::Network::kNone},
                                                                  {"own", Container::Network::kOwn}}};

// How slots are chosen. kGreedy to kBatch are for comparison; the last four use no profile.
enum class Policy : uint8_t {
  kQuality,      // samples, and ranks by what the neighbours leave (Tarcil section 3)
  kGreedy,       // the same judgement over every free slot: a centralised scheduler
  kRandom,       // any free slot
  kPerTask,      // for each task the less loaded of two servers drawn (Sparrow section 3.1)
  kBatch,        // for m tasks the m least loaded of 2 m servers drawn (Sparrow section 3.2)
  kLateBinding,  // monitors ask for tasks when a unit comes free (Sparrow section 3.3); no commit of a task
};

inline constexpr NamesOf<Policy, 6> kPolicyNames = {{{"quality", Policy::kQuality},
                                                     {"late-binding", Policy::kLateBinding},
                                                     {"greedy", Policy::kGreedy},
                                                     {"random", Policy::kRandom},
                                                     {"batch", Policy::kBatch},
                                                     {"per-task", Policy::kPerTask}}};

constexpr std::string_view nameOf(Policy policy) {
  return nameIn(kPolicyNames, policy);
}

// Whether a newcomer that is worth its price (core/decide/price.h) may be placed where it makes a task of the
// job fall below what that is to reach.
enum class Protection : uint8_t {
  kByKind,    // strict where the tasks' performance is watched, else balanced
  kStrict,    // never
  kBalanced,  // yes, but not below a floor (QualitySettings::neighbourFloor)
};

inline constexpr NamesOf<Protection, 3> kProtectionNames = {
    {{"by-kind", Protection::kByKind}, {"strict", Protection::kStrict}, {"balanced", Protection::kBalanced}}};

// Countable things of a server besides its resource units, such as {"gpus", 1}; counts are at least 1.
using Extras = ByKind<uint32_t>;

// Bounds that a job is checked against wherever it enters.
inline constexpr uint32_t kMaxTasks = 100'000;
inline constexpr uint32_t kMaxRusPerTask = 4'096;
inline constexpr uint8_t kMaxPriority = 100;
inline constexpr uint64_t kMaxInputBytes = 64ull << 20;
// Command and environment together, each text and a byte: what Linux takes as one argument.
inline constexpr size_t kMaxCommandAndEnvBytes = 128u << 10;
inline constexpr size_t kMaxConstraints = 100;
inline constexpr size_t kMaxPreferred = 1'000;  // servers, of the job or of one task
inline constexpr size_t kMaxRequired = 256;     // servers, of the job or of one task
inline constexpr size_t kMaxRequirements = 16;  // different ones of tasks that list no servers or racks
inline constexpr uint32_t kMaxExtra = 4'096;    // of one kind on a server
inline constexpr size_t kMaxExtraKinds = 16;
inline constexpr size_t kMaxEarlier = 64;  // platforms

// What the names of variables begin with that tell a task which extras it has (core/state/extras.h).
inline constexpr std::string_view kExtraVariablePrefix = "TARCIL_EXTRA_";

// A condition on a server's attributes; "platform", "rack" and "server" are attributes too.
struct Constraint {
  enum class Operator : uint8_t { kEqual, kNotEqual, kLess, kGreater, kIn, kNotIn, kExists };

  std::string attribute;
  Operator op = Operator::kEqual;
  std::vector<std::string> values;  // one, several for kIn and kNotIn, none for kExists

  // Some order, for containers.
  auto operator<=>(const Constraint&) const = default;
};

// The servers that have the same value of an attribute, which is what a domain is named by: "rack", "server"
// or any other.
struct Domain {
  static constexpr std::string_view kNone = "", kServer = "server", kRack = "rack";
};

struct Placement {
  std::string pack;     // Domain: judge each slot together with the others of its domain (Tarcil Fig. 5b)
  std::string spread;   // Domain
  uint32_t atMost = 1;  // tasks per domain; only with spread
  std::vector<Constraint> constraints;
  std::vector<std::string> prefer;                              // servers that hold the job's data
  std::map<uint32_t, std::vector<std::string>> preferOfTask{};  // by task index; in place of `prefer` there
  // By task index: what its server must meet beside `constraints`. Such a task waits for a server that does.
  std::map<uint32_t, std::vector<Constraint>> requireOfTask{};

  bool operator==(const Placement&) const = default;
};

struct RestartPolicy {
  uint32_t attempts = 0;  // how often a failed task is started again
  Duration backoff = std::chrono::seconds(1);
  bool onLost = true;  // a task lost with its server is started again; does not count as an attempt

  bool operator==(const RestartPolicy&) const = default;
};

// A new field is added here, to the table in job_fields.h, to schema/types.capnp with its conversion in
// schema/convert_job.cc, and to docs/job-file.md (docs/where-to-change.md).
struct JobSpec : TaskSpec {
  std::string name;
  uint32_t tasks = 1;
  uint32_t rusPerTask = 1;
  uint32_t concurrency = 0;      // most tasks at once; 0: all
  uint8_t priority = 50;         // 0..kMaxPriority, higher first
  WallTime startAfter = kNever;  // no task starts before; kNever: at once
  Schedule schedule = Schedule::kIncremental;
  Policy policy = Policy::kQuality;
  Extras extras{};  // that each task needs on its server
  Profile profile;
  // The profile is what the cluster knew of its application, and follows what it learns
  // (master/logic/jobs/rejudging.h); else it is as its user wrote it, and stays so.
  bool profileLookedUp = false;
  std::optional<double> target;      // else the cluster's
  std::optional<double> confidence;  // else the cluster's
  std::optional<Duration> maxWait;   // then it takes the best slot there is; else the agent's bound
  bool protectNeighbours = true;
  Protection protection = Protection::kByKind;
  Placement placement;
  RestartPolicy restart;
  bool preemptible = false;  // may be ended for a job of higher priority, and then waits again
  bool yields = false;       // its tasks may be throttled while they slow down others of their server
  bool hold = false;         // no task starts until it is released
  bool atMostOnce = false;   // late binding: what may have run is not started again
  Adjusting adjust{};
  // The application whose profile its one task measures and prints, for the cluster to store; else empty.
  std::string measures{};
  // Where its tasks' performance is watched: what can be expected of them by platform, after earlier runs of
  // the application (core/state/observed_profile.h). Filled in by whoever submits; a target comes first.
  std::map<std::string, double> earlier{};
  After after{};
  Items items{};  // one for each task; empty: the job is no array over a list

  // Of its tasks, by protection.
  bool isStrict() const {
    return protection == Protection::kStrict || (protection == Protection::kByKind && performance);
  }

  bool operator==(const JobSpec&) const = default;

  // Tasks that may hold resource units at the same time.
  uint32_t mostAtOnce() const { return concurrency == 0 || concurrency > tasks ? tasks : concurrency; }
  // What only this task requires of its server; nullptr where that is nothing.
  const std::vector<Constraint>* requirementOf(uint32_t task) const {
    const auto found = placement.requireOfTask.find(task);
    return found == placement.requireOfTask.end() ? nullptr : &found->second;
  }
  // The memory and disk that each of its tasks asks for.
  ByteRequest byteRequest() const { return {{limits.memoryBytes, limits.diskBytes}, rusPerTask}; }
};

// A file shipped with a job into the tasks' working directory. Paths are relative, without "." and "..".
struct InputFile {
  std::string path;
  uint32_t mode = 0644;  // permission bits
  std::string content;

  bool operator==(const InputFile&) const = default;
};

}  // namespace tarcil
