// What a monitor needs to start one task, and what it says of the task's end.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/base/time.h"
#include "core/model/gang_hosts.h"
#include "core/model/job.h"

namespace tarcil {

// One launch. Keyed by `allocation`: a monitor that gets it twice starts the task once.
struct LaunchSpec : TaskSpec {
  AllocationId allocation = 0;
  JobId job;
  std::string jobName;
  std::string submitter;  // who submitted the job, whatever system user it runs as
  TaskIndex task = 0;
  uint32_t attempt = 0;
  uint32_t tasks = 1;        // of the whole job
  std::string server;        // one monitor may stand for several
  std::vector<RuIndex> rus;  // resource units of that server, granted by the master
  ExtraNumbers extras{};     // countable things of that server, granted by the master
  bool hasFiles = false;     // input files are to be fetched from the master before the start
  Pressure caused{};         // by the job's profile, on a whole reference server
  Pressure tolerated{};      // as above
  bool measures = false;     // a profile (JobSpec::measures): what it prints goes with the report of its end
  double earlier = 0;        // performance that can be expected after earlier runs; 0: not known
  std::optional<GangHosts> gang{};  // of a task of a gang: where its tasks are, at this launch

  bool operator==(const LaunchSpec&) const = default;
};

// Why a task ended, when it was not by its own exit.
enum class EndCause : uint8_t {
  kExited,        // by itself: exitCode or signal say how
  kNeverStarted,  // could not be started; `problem` says why
  kCancelled,     // stopped on request
  kTimedOut,      // ran longer than its timeout
  kLost,          // its supervisor or its server vanished: how it ended is not known
};

struct TaskEnd {
  EndCause cause = EndCause::kExited;
  // Meaningful where signal is 0 and cause is not kLost. With kNeverStarted: what a Unix shell would
  // return, 126 or 127, where that lies with the job (no such program, no such user); 0 where it lies with
  // the server.
  int exitCode = 0;
  int signal = 0;  // the signal that ended it, or 0
  // The kernel killed one of its processes for memory; the others may have run on to an end of their own.
  bool oomKilled = false;
  // What it wrote last is not all there: its server's disk did not take it, or has no holes.
  bool lacksOutput = false;
  std::string problem;        // for people; empty where exit code and signal say all
  WallTime started = kNever;  // when the command was executed; kNever if it was not
  WallTime ended = kNever;
  uint64_t peakMemoryBytes = 0;  // with page cache, of all its processes; 0: not known
  Duration cpuTime{};            // of all its processes; 0: not known

  // By its own account: a program that loses a process and yet ends with 0 has got over the loss.
  bool succeeded() const { return cause == EndCause::kExited && exitCode == 0 && signal == 0; }
  bool operator==(const TaskEnd&) const = default;
};

// Whether the server could not start what it should have been able to start.
inline bool serversFault(const TaskEnd& end) {
  return end.cause == EndCause::kNeverStarted && end.exitCode == 0;
}

// What came of measuring an application.
struct Measurement {
  Profile profile;
  std::string problem;  // for people: why there is no profile; empty where there is one

  bool operator==(const Measurement&) const = default;
};

// A monitor's report of a task to the master. May be repeated: the second time changes nothing.
struct TaskReport {
  AllocationId allocation = 0;
  bool ended = false;  // else: started, at end.started
  TaskEnd end;
  std::optional<Measurement> measured{};  // by a task that has ended, where LaunchSpec::measures
  // The usual performance of a task that has ended, where it was watched for long enough, in the metric of
  // its job's goal.
  std::optional<double> reached{};
  // Digest of the image that it runs (Container::imageDigest), of a task that has started in one; else empty.
  std::string image{};

  bool operator==(const TaskReport&) const = default;
};

// A task that a monitor has recorded and not forgotten: starting, running, or ended and not yet acknowledged.
struct KnownTask {
  AllocationId allocation = 0;
  std::string server;

  bool operator==(const KnownTask&) const = default;
};

}  // namespace tarcil
