// The table of a job's plain fields: where each stands in the job file, which member it is, what it may hold,
// what it means. The reader (formats/job_file.cc), the check that clients, agents and master make
// (job_check.h), the queue's equivalence classes (master/logic/queue/equivalence_class.cc), recordings
// (cli/tarcild/recording_lines.cc), random jobs
// of tests and the tables of docs/job-file.md come from it. Fields of a form of their own
// (command, env, profile, constraints, files, ...) are read by formats/ and checked in job_check.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "core/base/names.h"
#include "core/base/number_range.h"
#include "core/base/units.h"
#include "core/model/image.h"
#include "core/model/job.h"

namespace tarcil {

// --- What a field may hold besides its default. `remedy` ends a message: "write a whole number from 1 to 4".

struct WholeNumber {
  int64_t least, most;

  bool holds(int64_t value) const { return value >= least && value <= most; }
  std::string remedy() const { return "write a whole number from " + bounds(" to "); }
  std::string values() const { return bounds(" to "); }

 private:
  std::string bounds(const char* between) const {
    return std::to_string(least) + between + std::to_string(most);
  }
};

struct RealNumber {
  NumberRange range;

  bool holds(double value) const { return range.holds(value); }
  std::string remedy() const { return "write a number " + range.describe(); }
  std::string values() const { return range.describe(); }
};

struct Span {
  Duration least, most;

  bool holds(Duration value) const { return value >= least && value <= most; }
  std::string remedy() const { return "write a duration from " + values(); }
  std::string values() const { return formatDuration(least) + " to " + formatDuration(most); }
};

// Bytes.
struct Size {
  bool holds(uint64_t value) const { return value >= 1 && value <= kMaxSize; }
  std::string remedy() const { return "write a size from 1B to " + formatSize(kMaxSize); }
  std::string values() const { return "size"; }
};

struct Flag {
  bool holds(bool) const { return true; }
  std::string remedy() const { return "write true or false"; }
  std::string values() const { return "`true`, `false`"; }
};

template <typename Enum, size_t kCount>
struct Choice {
  NamesOf<Enum, kCount> names;

  bool holds(Enum value) const { return !nameOf(value).empty(); }
  std::string remedy() const { return "write one of " + values(); }
  std::string values() const {
    std::string text;
    for (const auto& [name, value] : names) text.append(text.empty() ? "`" : ", `").append(name).append("`");
    return text;
  }
  std::string_view nameOf(Enum value) const { return nameIn(names, value); }
};

template <typename Enum, size_t kCount>
Choice(NamesOf<Enum, kCount>) -> Choice<Enum, kCount>;

// A text for people.
struct Title {
  size_t most;  // characters

  bool holds(std::string_view value) const;
  std::string remedy() const { return "write " + values(); }
  std::string values() const { return "1 to " + std::to_string(most) + " printable characters"; }
};

// A user of the servers' systems.
struct SystemUser {
  static constexpr size_t kMaxCharacters = 32;  // as useradd allows

  bool holds(std::string_view value) const { return isPlainName(value, kMaxCharacters); }
  std::string remedy() const {
    return "write a user's name: at most " + std::to_string(kMaxCharacters) +
           " letters, digits, dots, dashes or underscores";
  }
  std::string values() const { return "name of a user"; }
};

// Servers that have the same value of an attribute (Domain); empty for none.
struct DomainName {
  static constexpr std::string_view kNone = "none";  // as people write it

  bool holds(std::string_view value) const { return Title{kMaxNameCharacters}.holds(value); }
  std::string remedy() const {
    return "write server, rack, or the name of another attribute, or leave it out";
  }
  std::string values() const { return "`none`, `server`, `rack`, or another attribute of servers"; }
};

// An absolute path, as the task sees it or on the servers.
struct AbsolutePath {
  bool isOnServers = false;

  bool holds(std::string_view value) const {
    return value.starts_with('/') && value.find('\0') == std::string_view::npos;
  }
  std::string remedy() const {
    return std::string("write a path") + (isOnServers ? " on the servers" : "") + " that starts with /";
  }
  std::string values() const { return "absolute path"; }
};

// A file on the servers that tasks write their output to. Where each task has one of its own, braces in it
// stand for what tells them apart (array.h).
struct OutputPath {
  static constexpr size_t kMaxCharacters = 4'095;  // as Linux takes

  bool holds(std::string_view value) const;
  std::string remedy() const {
    return "write a file's path on the servers that starts with /, of at most " +
           std::to_string(kMaxCharacters) + " characters and without ..";
  }
  std::string values() const { return "absolute path"; }
};

// A file that tasks read, with braces in it as in an OutputPath.
struct InputPath {
  bool holds(std::string_view value) const;
  std::string remedy() const {
    return "write a file's path, from the working directory on or with / at its beginning, of at most " +
           std::to_string(OutputPath::kMaxCharacters) + " characters";
  }
  std::string values() const { return "path"; }
};

struct PointInTime {
  bool holds(WallTime value) const { return value > kNever && value <= kNever + kFarthest; }
  std::string remedy() const {
    return "write a time such as tomorrow 6:00 or 2026-05-01T12:34:56Z, or from now on such as +2h30m";
  }
  std::string values() const {
    return "[time](#times) such as `tomorrow 6:00` or `2026-05-01T12:34:56Z`, or from now on such as `+2h`";
  }
};

// --- The table

// A member of a job, or a member of one of its members.
template <auto... kMembers>
struct Member {
  constexpr auto& operator()(auto& job) const { return (job.*....*kMembers); }
};
template <auto... kMembers>
inline constexpr Member<kMembers...> kMember{};

// Whether `tarcil sim --replay` runs a job that has a field of its own as it was: it passes over what it has
// no model of.
enum class Replayed : uint8_t { kYes, kNo };

// Whether jobs that differ in a field find the same slots acceptable (the queue's equivalence classes).
enum class Slots : uint8_t { kAlike, kDiffer };

template <typename Of, typename Kind>
struct JobField {
  std::string_view path;  // in the job file, group and key: "restart.backoff"
  Of of;                  // the member, of a job that may be changed or not
  Kind kind;
  std::string_view help;            // what it means, for docs/job-file.md
  std::string_view otherwise = {};  // what holds where nothing is written; empty: the default, as it is
  std::string_view notLateBound =
      {};  // why a late-bound job has none, after "a late-bound job"; empty: it may
  Slots slots = Slots::kAlike;
  Replayed replayed = Replayed::kYes;

  // Key alone: "backoff".
  constexpr std::string_view key() const {
    const size_t dot = path.find('.');
    return dot == std::string_view::npos ? path : path.substr(dot + 1);
  }
  bool isDefault(const JobSpec& job) const {
    static const JobSpec kDefault;
    return of(job) == of(kDefault);
  }
};

// What a field may have besides.
struct FieldNotes {
  std::string_view otherwise = {};
  std::string_view notLateBound = {};
  Slots slots = Slots::kAlike;
  Replayed replayed = Replayed::kYes;
};

template <typename Of, typename Kind>
constexpr JobField<Of, Kind> field(std::string_view path, Of of, Kind kind, std::string_view help,
                                   const FieldNotes& notes = {}) {
  return {path, of, kind, help, notes.otherwise, notes.notLateBound, notes.slots, notes.replayed};
}

inline constexpr std::tuple kJobFields{
    // What to run
    field("name", kMember<&JobSpec::name>, Title{kMaxNameCharacters}, "what lists show",
          {.otherwise = "the program's name"}),
    field("workdir", kMember<&JobSpec::workdir>, AbsolutePath{},
          "working directory, instead of a private one that is made for each task",
          {.otherwise = "a private one"}),
    field("user", kMember<&JobSpec::user>, SystemUser{},
          "user that the tasks run as; must be allowed for whoever submits",
          {.otherwise = "the submitter's default"}),
    field("output", kMember<&JobSpec::output>, OutputPath{},
          "file on the servers that standard output is written to besides, "
          "[see below](#output-in-files-of-your-own)",
          {.otherwise = "none", .notLateBound = "writes no files of that kind; use policy: quality"}),
    field("error", kMember<&JobSpec::error>, OutputPath{},
          "the same for standard error; with the same path as `output` both go into one file",
          {.otherwise = "none", .notLateBound = "writes no files of that kind; use policy: quality"}),
    field("input", kMember<&JobSpec::input>, InputPath{},
          "file that standard input is read from, one of `files` or any other that the task sees, "
          "[see below](#standard-input)",
          {.otherwise = "nothing", .notLateBound = "reads no standard input; use policy: quality"}),
    // How much of it, and when
    field("tasks", kMember<&JobSpec::tasks>, WholeNumber{1, kMaxTasks},
          "number of tasks, each a run of `command`"),
    field("rus_per_task", kMember<&JobSpec::rusPerTask>, WholeNumber{1, kMaxRusPerTask},
          "resource units of one task, all on one server",
          {.notLateBound = "has one unit for each task; leave it out", .slots = Slots::kDiffer}),
    field("concurrency", kMember<&JobSpec::concurrency>, WholeNumber{1, kMaxTasks}, "most tasks at once",
          {.otherwise = "all", .replayed = Replayed::kNo}),
    field("schedule", kMember<&JobSpec::schedule>, Choice{kScheduleNames},
          "`incremental` starts tasks as slots are found, `gang` all of them at once or none",
          {.notLateBound = "starts task by task; leave it out", .replayed = Replayed::kNo}),
    field("priority", kMember<&JobSpec::priority>, WholeNumber{0, kMaxPriority}, "higher goes first"),
    field("hold", kMember<&JobSpec::hold>, Flag{}, "no task starts until `tarcil job release`",
          {.replayed = Replayed::kNo}),
    field("start_after", kMember<&JobSpec::startAfter>, PointInTime{},
          "no task starts before this time, unless by `tarcil job release`",
          {.otherwise = "at once",
           .notLateBound = "is tried at once; submit it then, or write policy: quality",
           .replayed = Replayed::kNo}),
    field("preemptible", kMember<&JobSpec::preemptible>, Flag{},
          "its tasks may be ended for a job of higher priority, and then wait again; costs no attempt",
          {.replayed = Replayed::kNo}),
    field("yields", kMember<&JobSpec::yields>, Flag{},
          "its tasks may be throttled while they slow down others of their server; those of a `preemptible` "
          "job may be for a task of higher priority anyway",
          {.replayed = Replayed::kNo}),
    field("timeout", kMember<&JobSpec::timeout>, Span{std::chrono::milliseconds(1), kMaxDuration},
          "a task that runs longer is stopped; shorter ones may start before a gang that servers are "
          "reserved for",
          {.otherwise = "none"}),
    field("grace", kMember<&JobSpec::grace>, Span{Duration::zero(), std::chrono::hours(24)},
          "time between SIGTERM and SIGKILL when a task is stopped"),
    // Limits, and what happens when something goes wrong
    field("limits.memory", kMember<&JobSpec::limits, &Limits::memoryBytes>, Size{},
          "memory of one task, which it claims of its server; beyond it the kernel kills a process of it, "
          "which is "
          "shown; the task has failed unless it continues and exits with 0",
          {.otherwise = "the share of its resource units", .slots = Slots::kDiffer}),
    field("limits.pids", kMember<&JobSpec::limits, &Limits::pids>, WholeNumber{1, 4'194'304},
          "processes and threads of one task", {.otherwise = "the monitor's"}),
    field("limits.output", kMember<&JobSpec::limits, &Limits::outputBytes>, Size{},
          "how much of standard output and of standard error, each, is kept: the newest; older output is "
          "dropped, and the task's end says how much"),
    field("limits.disk", kMember<&JobSpec::limits, &Limits::diskBytes>, Size{},
          "what the private working directory of one task and its `/tmp` may take up on the server's disk "
          "together, which it claims of its server; beyond it writes fail, or the task is killed",
          {.otherwise = "the share of its resource units", .slots = Slots::kDiffer}),
    field("limits.disk_bandwidth", kMember<&JobSpec::limits, &Limits::diskBytesPerSecond>, Size{},
          "bytes that one task reads, and writes, in a second, on each disk", {.otherwise = "none"}),
    field("limits.network_bandwidth", kMember<&JobSpec::limits, &Limits::networkBytesPerSecond>, Size{},
          "bytes that one task sends, and receives, in a second; with `container.network: own`",
          {.otherwise = "none"}),
    field("restart.attempts", kMember<&JobSpec::restart, &RestartPolicy::attempts>, WholeNumber{0, 1'000},
          "how often a failed task is started again",
          {.notLateBound = "is not restarted when it fails; submit it again"}),
    field("restart.backoff", kMember<&JobSpec::restart, &RestartPolicy::backoff>,
          Span{Duration::zero(), std::chrono::hours(24)}, "wait before a task is started again"),
    field("restart.on_lost", kMember<&JobSpec::restart, &RestartPolicy::onLost>, Flag{},
          "start a task again that was lost with its server; not counted as an attempt"),
    field("adjust.more_rus", kMember<&JobSpec::adjust, &Adjusting::moreRus>, WholeNumber{0, kMaxRusPerTask},
          "units that a task may get beyond `rus_per_task` while it uses up its cores or memory "
          "and therefore performs below what `performance` expects, as long as no waiting job "
          "could use them",
          {.notLateBound = "is not adjusted; use policy: quality"}),
    field("adjust.move", kMember<&JobSpec::adjust, &Adjusting::move>, Flag{},
          "such a task may be ended and started again on a better server, or on one that has the units it "
          "needs, when nothing else helps",
          {.notLateBound = "is not adjusted; use policy: quality"}),
    field("exclusive", kMember<&JobSpec::exclusive>, Flag{},
          "never two live copies of a task, even across a network cut",
          {.notLateBound = "knows at_most_once instead", .replayed = Replayed::kNo}),
    // What a task sees
    field("container.bundle", kMember<&JobSpec::container, &Container::bundle>,
          AbsolutePath{.isOnServers = true}, "OCI bundle on the servers, run by `crun`, instead of `rootfs`",
          {.otherwise = "none"}),
    field("container.rootfs", kMember<&JobSpec::container, &Container::rootfs>,
          AbsolutePath{.isOnServers = true}, "folder on the servers that the task sees as `/`, read-only",
          {.otherwise = "the server's own files"}),
    field("container.image", kMember<&JobSpec::container, &Container::image>, ImageName{},
          "image that the task sees as `/`, read-only, fetched once for each server, instead of `rootfs`; "
          "without a `command` its own program runs, [see below](#images)",
          {.otherwise = "none"}),
    field("container.network", kMember<&JobSpec::container, &Container::network>, Choice{kNetworkNames},
          "`host`: the server's interfaces; `none`: loopback and nothing else; `own`: loopback and an "
          "interface of its own"),
    // Where it runs
    field("policy", kMember<&JobSpec::policy>, Choice{kPolicyNames}, "how slots are chosen, see below",
          {.slots = Slots::kDiffer}),
    field("at_most_once", kMember<&JobSpec::atMostOnce>, Flag{},
          "with `late-binding`: a task that may have run is reported as lost, and not run again"),
    field(
        "placement.pack", kMember<&JobSpec::placement, &Placement::pack>, DomainName{},
        "judge a slot together with the others on the same server, in the same rack or with the same value "
        "of "
        "another attribute, so that the job's tasks fit near each other; with `policy` `quality` or `greedy`",
        {.otherwise = "none",
         .notLateBound = "cannot be packed",
         .slots = Slots::kDiffer,
         .replayed = Replayed::kNo}),
    field("placement.spread", kMember<&JobSpec::placement, &Placement::spread>, DomainName{},
          "put at most `at_most` tasks on one server, in one rack or on the servers with the same value of "
          "another "
          "attribute",
          {.otherwise = "none", .notLateBound = "cannot be spread", .replayed = Replayed::kNo}),
    field("placement.at_most", kMember<&JobSpec::placement, &Placement::atMost>, WholeNumber{1, kMaxTasks},
          "that number; only with `spread`"),
    field("quality.target", kMember<&JobSpec::target>, RealNumber{{0, 1, NumberRange::Ends::kMaxOnly}},
          "performance to reach, relative to the best slot for this job",
          {.otherwise = "the cluster's", .slots = Slots::kDiffer}),
    field("quality.confidence", kMember<&JobSpec::confidence>, RealNumber{{0, 1, NumberRange::Ends::kNone}},
          "probability with which sampling finds such a slot where acceptable ones are no rarer than "
          "the cluster's rarity",
          {.otherwise = "the cluster's", .slots = Slots::kDiffer}),
    field("quality.protect_neighbours", kMember<&JobSpec::protectNeighbours>, Flag{},
          "do not place it where it would break a neighbour's target", {.slots = Slots::kDiffer}),
    field("quality.protect", kMember<&JobSpec::protection>, Choice{kProtectionNames},
          "whether others may be placed beside its tasks so that these fall below their target: `strict` "
          "never, "
          "`balanced` where that is worth its price, but not below the cluster's floor; only where slots are "
          "ranked by worth (`tarcil tune --ranking`)",
          {.otherwise = "`strict` with `performance`, else `balanced`"}),
    field("quality.max_wait", kMember<&JobSpec::maxWait>, Span{Duration::zero(), kMaxDuration},
          "how long a job waits for such a slot, with the cluster's margin if there is one; then it "
          "takes the best slot there is",
          {.otherwise = "by how units came free "
                        "([guide](guide.md#who-comes-first-and-who-waits-for-how-long)), else 30s",
           .slots = Slots::kDiffer}),
};

// Calls visit(field) for each field of the table, in its order.
template <typename Visit>
constexpr void forEachJobField(const Visit& visit) {
  std::apply([&visit](const auto&... field) { (visit(field), ...); }, kJobFields);
}

}  // namespace tarcil
