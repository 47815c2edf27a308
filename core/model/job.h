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

#include "core/base/time.h"
#include "core/model/performance.h"
#include "core/model/profile.h"

namespace tarcil {

enum class Schedule : uint8_t { kIncremental, kGang };
enum class Spread : uint8_t { kNone, kServer, kRack };
enum class Pack : uint8_t { kNone, kServer, kRack };

// How places are chosen. kGreedy to kBatch are there to compare with; the last four look at no profile.
enum class Policy : uint8_t {
  kQuality,      // samples, and ranks by what the neighbours leave (Tarcil section 3)
  kGreedy,       // the same judgement over every free slot: a centralised scheduler
  kRandom,       // any free slot
  kPerTask,      // for each task the less loaded of two servers drawn (Sparrow section 3.1)
  kBatch,        // for m tasks the m least loaded of 2 m servers drawn (Sparrow section 3.2)
  kLateBinding,  // monitors ask for tasks when a unit comes free (Sparrow section 3.3); no commit of a task
};

// What files and flags call the policies, in the order in which people are told of them.
inline constexpr std::array<std::pair<std::string_view, Policy>, 6> kPolicyNames = {
    {{"quality", Policy::kQuality},
     {"late-binding", Policy::kLateBinding},
     {"greedy", Policy::kGreedy},
     {"random", Policy::kRandom},
     {"batch", Policy::kBatch},
     {"per-task", Policy::kPerTask}}};

constexpr std::string_view nameOf(Policy policy) {
  for (const auto& [name, value] : kPolicyNames)
    if (value == policy) return name;
  return {};
}

// Nothing for other words.
constexpr std::optional<Policy> policyNamed(std::string_view word) {
  for (const auto& [name, value] : kPolicyNames)
    if (name == word) return value;
  return std::nullopt;
}

// All of the names.
inline std::vector<std::string_view> policyNames() {
  std::vector<std::string_view> names;
  for (const auto& [name, value] : kPolicyNames) names.push_back(name);
  return names;
}

// Countable things of a server besides its resource units, such as {"gpus", 1}; counts are at least 1.
using Extras = std::map<std::string, uint32_t>;

// Bounds that a job is checked against wherever it enters.
inline constexpr uint32_t kMaxTasks = 100'000;
inline constexpr uint32_t kMaxRusPerTask = 4'096;
inline constexpr uint64_t kMaxInputBytes = 64ull << 20;
inline constexpr uint32_t kMaxExtra = 4'096;  // of one kind on a server
inline constexpr size_t kMaxExtraKinds = 16;

// A condition on a server's attributes; "platform", "rack" and "server" are attributes too.
struct Constraint {
  enum class Operator : uint8_t { kEqual, kNotEqual, kLess, kGreater, kIn, kNotIn, kExists };

  std::string attribute;
  Operator op = Operator::kEqual;
  std::vector<std::string> values;  // one, several for kIn and kNotIn, none for kExists

  bool operator==(const Constraint&) const = default;
};

struct Placement {
  Pack pack =
      Pack::kNone;  // judge each slot together with its server's or rack's other slots (Tarcil Fig. 5b)
  Spread spread = Spread::kNone;
  uint32_t atMost = 1;  // tasks per server or rack; only with spread
  std::vector<Constraint> constraints;
  std::vector<std::string> prefer;                              // servers that hold the job's data
  std::map<uint32_t, std::vector<std::string>> preferOfTask{};  // by task index; in place of `prefer` there

  bool operator==(const Placement&) const = default;
};

struct RestartPolicy {
  uint32_t attempts = 0;  // how often a failed task is started again
  Duration backoff = std::chrono::seconds(1);
  bool onLost = true;  // a task lost with its server is started again; does not count as an attempt

  bool operator==(const RestartPolicy&) const = default;
};

// Zero means: no limit of its own.
struct Limits {
  uint64_t memoryBytes = 0;             // 0: the share of the task's resource units
  uint32_t pids = 0;                    // 0: the monitor's default
  uint64_t outputBytes = 100ull << 20;  // kept of each of stdout and stderr: the newest
  uint64_t diskBytesPerSecond = 0;
  uint64_t networkBytesPerSecond = 0;  // in each direction

  bool operator==(const Limits&) const = default;
};

// What a task sees of its server.
struct Container {
  enum class Network : uint8_t {
    kHost,
    kNone,  // loopback only
    kOwn,   // an interface of its own
  };

  std::string rootfs;  // folder on the server; empty: the server's own files
  std::string bundle;  // OCI bundle on the server, in place of rootfs
  Network network = Network::kHost;

  bool operator==(const Container&) const = default;
};

inline constexpr uint8_t kMaxPriority = 100;

struct JobSpec {
  std::string name;
  std::vector<std::string> command;
  std::map<std::string, std::string> env;
  std::string workdir;  // empty: a private one
  std::string user;     // run as; empty: the submitter's default
  uint32_t tasks = 1;
  uint32_t rusPerTask = 1;
  uint32_t concurrency = 0;                   // most tasks at once; 0: all
  uint8_t priority = 50;                      // 0..kMaxPriority, higher first
  Duration grace = std::chrono::seconds(10);  // between SIGTERM and SIGKILL
  Duration timeout{};                         // of one attempt; 0: none
  Schedule schedule = Schedule::kIncremental;
  Policy policy = Policy::kQuality;
  Extras extras{};  // that each task needs on its server
  Profile profile;
  std::optional<double> target;      // else the cluster's
  std::optional<double> confidence;  // else the cluster's
  std::optional<Duration> maxWait;   // then it takes the best place there is; else the agent's bound
  bool protectNeighbours = true;
  Placement placement;
  RestartPolicy restart;
  Limits limits;
  bool preemptible = false;  // may be ended for a job of higher priority, and then waits again
  bool exclusive = false;    // never two live copies of a task, even across a network cut
  bool hold = false;         // no task starts until it is released
  bool atMostOnce = false;   // late binding: what may have run is not started again
  Container container{};
  std::optional<PerformanceGoal> performance{};  // else its tasks are not watched
  Adjusting adjust{};
  // The application whose profile its one task measures and prints, for the cluster to store; else empty.
  std::string measures{};

  bool operator==(const JobSpec&) const = default;

  // Tasks that may hold resource units at the same time.
  uint32_t mostAtOnce() const { return concurrency == 0 || concurrency > tasks ? tasks : concurrency; }
};

// A file shipped with a job into the tasks' working directory. Paths are relative, without "." and "..".
struct InputFile {
  std::string path;
  uint32_t mode = 0644;  // permission bits
  std::string content;

  bool operator==(const InputFile&) const = default;
};

}  // namespace tarcil
