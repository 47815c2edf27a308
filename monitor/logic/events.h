// The events that a monitor handles and the actions that follow. Plain values: no RPC types, no clocks.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/base/result.h"
#include "core/model/launch.h"
#include "core/model/performance.h"
#include "core/model/task_secret.h"
#include "monitor/logic/executor.h"

namespace tarcil::monitor {

// Ties an AnswerLaunch to its request; the shell's, never used twice in a process.
using RequestId = uint64_t;

// --- Events -------------------------------------------------------------------------------------------

// The monitor is attached, and this is the master's answer on the tasks that were named: those in `drop` are
// unknown to it and are killed and forgotten without a report; those in `stop` are to be stopped and
// reported, whether known here or not. Everything that the master may not know is reported again.
struct MasterAttached {
  std::vector<AllocationId> drop;
  std::vector<AllocationId> stop;
  Duration lease = Duration::max();  // how long a renewal of it lasts
};
struct MasterLost {};

struct LaunchArrived {
  RequestId request;
  LaunchSpec spec;
};

// The input files of a launch, or why they could not be had.
struct FilesArrived {
  AllocationId allocation;
  Result<std::vector<InputFile>> files;
};

// The secrets of a launch, or why they could not be had.
struct SecretsArrived {
  AllocationId allocation;
  Result<std::vector<TaskSecret>> secrets;
};

// The master wants the task stopped: SIGTERM, the task's grace period, SIGKILL. A task that is not known here
// is never started afterwards and is reported as cancelled, so that the master can free its units.
struct StopArrived {
  AllocationId allocation;
};

// The master gives a running task other units of its server.
struct ResizeArrived {
  RequestId request;
  AllocationId allocation;
  std::vector<RuIndex> rus;
};
// The master throttles a running task, or does so no more.
struct ThrottleArrived {
  RequestId request;
  AllocationId allocation;
  Throttle throttle;
};
// The ResizeTask under way is done.
struct TaskResized {
  AllocationId allocation;
  std::vector<RuIndex> rus;
};

// The monitor is to end, and its tasks with it: each gets SIGTERM and its grace period, but no more than
// `grace`, and is reported as cancelled. What has not been started stays recorded, for the next monitor.
struct ShutdownBegun {
  Duration grace;
};

// From the executor.
struct ImageFound {
  AllocationId allocation;
  std::string digest;
};
struct TaskStarted {
  AllocationId allocation;
  WallTime when;
};
struct TaskEnded {
  AllocationId allocation;
  TaskEnd end;
};

// The SendReports under way is durable at the master. Never for one that was sent before the
// latest MasterAttached.
struct ReportsAcknowledged {};

// The answer to the RenewLease under way. `refused`: of the tasks that were asked for, those that this
// monitor may no longer start. Never for one that was sent before the latest MasterAttached.
struct LeaseRenewed {
  std::vector<AllocationId> refused;
};

struct TimerFired {};

using Event = std::variant<MasterAttached, MasterLost, LaunchArrived, FilesArrived, SecretsArrived,
                           StopArrived, ResizeArrived, ThrottleArrived, TaskResized, ImageFound, TaskStarted,
                           TaskEnded, ReportsAcknowledged, LeaseRenewed, ShutdownBegun, TimerFired>;

// --- Actions ------------------------------------------------------------------------------------------

// Executor::record, which returns when the launch is on disk. Precedes the AnswerLaunch and the StartTask of
// the task.
struct RecordLaunch {
  LaunchSpec spec;
};
struct AnswerLaunch {
  RequestId request;
  // kAccepted: recorded; the master will be told. kRevoked: stopped, dropped or over; it is not started.
  enum class Outcome : uint8_t { kAccepted, kRevoked, kUnknownServer } outcome;
};
// Ask the master for the job's input files. Always answered by FilesArrived, with Unavailable where the
// master is out of reach. Repeated after MasterAttached, so a second answer may come.
struct FetchFiles {
  AllocationId allocation;
  JobId job;
};
// Ask the master for what the task is to find as its secrets. Answered by SecretsArrived, and otherwise as
// FetchFiles.
struct FetchSecrets {
  AllocationId allocation;
};
struct StartTask {
  LaunchSpec spec;
  std::vector<InputFile> files;
  std::vector<TaskSecret> secrets{};
};
// Executor::recordReason. Precedes the task's first SignalTask with SIGTERM.
struct RecordReason {
  AllocationId allocation;
  EndCause reason;
};
// Executor::resize, then the answer; if it succeeds, TaskResized precedes the answer.
struct ResizeTask {
  RequestId request;
  AllocationId allocation;
  std::vector<RuIndex> rus;
};
// Executor::throttle, then the answer to the request, if there was one.
struct ThrottleTask {
  std::optional<RequestId> request;
  AllocationId allocation;
  Throttle throttle;
};
// A ResizeArrived or ThrottleArrived that cannot be carried out.
struct RefuseChange {
  RequestId request;
  Error error;
};
struct SignalTask {
  AllocationId allocation;
  int signal;
};
// Executor::forget. For an allocation that was stopped before it arrived, it precedes the report of that.
struct ForgetTask {
  AllocationId allocation;
};
// At most one is under way. Answered by ReportsAcknowledged or MasterLost.
struct SendReports {
  std::vector<TaskReport> reports;
  // Places in `reports` of tasks that were to measure an application: what they printed is to be read, and
  // goes with the report.
  std::vector<size_t> measuring{};
};
// Ask the master for another lease, and whether these tasks of exclusive jobs may start. At most one is under
// way; answered by LeaseRenewed or MasterLost.
struct RenewLease {
  std::vector<AllocationId> starting;
};
// Executor::extendLease.
struct ExtendLease {
  MonotonicTime until;
};
// Deliver TimerFired at this time. Each WakeAt replaces the one before.
struct WakeAt {
  MonotonicTime when;
};

using Action = std::variant<RecordLaunch, AnswerLaunch, FetchFiles, FetchSecrets, StartTask, RecordReason,
                            ResizeTask, ThrottleTask, RefuseChange, SignalTask, ForgetTask, SendReports,
                            RenewLease, ExtendLease, WakeAt>;

}  // namespace tarcil::monitor
