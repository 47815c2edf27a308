// The events that an agent handles and the actions that follow. Plain values: no RPC types, no clocks.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "core/base/result.h"
#include "core/decide/options.h"
#include "core/model/launch.h"
#include "core/state/caller.h"
#include "core/state/commit.h"
#include "core/state/state_checksum.h"

namespace tarcil::agent {

// Ties an AnswerSubmit to its request; the shell's, never used twice in a process.
using RequestId = uint64_t;

// The way of one submission's files to the master; never used twice in a process.
using UploadId = uint64_t;

// --- Events

// The master has accepted the agent. If `epoch` is that of the last attachment, commits in flight are
// sent again unchanged; otherwise they are void, and the submissions among them start over. `jobs`
// replaces every job held. The copy of the state starts over as well: every server and platform
// follows, then SnapshotComplete. `more`: of many jobs these are the first, and the agent works with none
// before JobsTold has told the rest.
struct MasterAttached {
  uint64_t epoch;
  std::vector<JobAssignment> jobs;
  bool more = false;
};
struct JobsTold {
  std::vector<JobAssignment> jobs;
  bool more = false;
};

// The connection to the master is lost. Submissions wait for it to come back,
// up to AgentOptions::masterPatience.
struct MasterLost {};

// The state feed. The first ServersUpdated after MasterAttached may come later than submissions. An update of
// an unknown server counts only with facts.
struct ServersUpdated {
  std::vector<ServerUpdate> updates;
};
// The snapshot that follows an attachment is complete. Before that nothing is planned, and no job
// is judged infeasible.
struct SnapshotComplete {};
// The checksum of the whole shared state, including everything that the master sent before it. A copy that
// differs is dropped and a new snapshot requested.
struct ChecksumTold {
  StateChecksum checksum;
};
struct SettingsUpdated {
  QualitySettings settings;
};
struct PlatformUpdated {
  std::string platform;
  Share share;
};

// The agent is to try these jobs, in this order; all changes that led to the offers have been sent before.
// Each offer is answered by a commit for the job or by DeclineOffers, even if the job is unknown here.
struct JobsOffered {
  std::vector<JobId> jobs;
  // How long from now such a job is to wait for a slot that is good enough, if the master can tell. The
  // shortest bound received during one wait counts; without any, the job's own, else the agent's.
  std::map<JobId, Duration> bounds{};
  // Jobs that may not use servers reserved for others (QueueTold::reserved), except these, ascending.
  std::map<JobId, std::vector<ServerId>> usableReserved{};
};
// The master's queue. `pendingPriority` is the highest priority among waiting jobs, here or at other agents,
// that have not been tried on the current state. Jobs of that priority or a lower one wait for an offer: new
// ones are submitted to the master untried.
struct QueueTold {
  std::optional<uint8_t> pendingPriority{};
  // How often the state, as this agent has it, has changed in favour of waiting jobs.
  uint64_t capacityVersion = 0;
  // Servers, ascending, that are reserved for waiting jobs: only jobs whose offer says so, or that come
  // before all pending ones, may use them.
  std::vector<ServerId> reserved{};
  bool crowded = false;                    // slots are judged without the margin (core/decide/margin.h)
  uint32_t waiting = 0, waitingTasks = 0;  // jobs and their tasks, to two binary digits
};

// A client submits a job. If the agent or the master has it already (same id, same user), the answer is that
// of the first submission.
struct SubmitArrived {
  RequestId request;
  Caller caller;
  JobId job;
  JobSpec spec;
  FilePieces files{};  // one goes with the commit, several go ahead of it
};

// The master's answer to a piece, where the connection was not lost. Ok: on its disk; with `isThere` the job
// is there, and no piece is needed. One for a piece that was sent on another attachment changes nothing.
struct PieceAnswered {
  UploadId upload;
  Result<bool> isThere;
};

// Delivered only during the attachment on which the commit was sent, because sequence numbers restart with
// each epoch. The outcome kSuperseded changes nothing: the shell ends the agent, and its clients fail over.
struct CommitAnswered {
  CommitAnswer answer;
};

// The master's state of a job, complete for the tasks listed.
struct JobAssigned {
  JobAssignment assignment;
};

// A monitor's answer to a launch.
struct LaunchAnswered {
  AllocationId allocation;
  // kAccepted: recorded; the monitor will report to the master. kRevoked: the master has revoked the
  // allocation; nothing more to do. kUnreachable: the launch may or may not have arrived; it is sent again.
  enum class Outcome : uint8_t { kAccepted, kRevoked, kUnreachable } outcome;
};

struct TimerFired {};

using Event =
    std::variant<MasterAttached, JobsTold, MasterLost, ServersUpdated, SnapshotComplete, ChecksumTold,
                 SettingsUpdated, PlatformUpdated, JobsOffered, QueueTold, SubmitArrived, PieceAnswered,
                 CommitAnswered, JobAssigned, LaunchAnswered, TimerFired>;

// --- Actions

// A piece of the input files of a submission. Answered by PieceAnswered, unless the connection is lost.
struct SendPiece {
  UploadId upload;
  JobId job;
  std::string user;
  uint64_t bytes;   // of all files
  uint32_t number;  // of the piece
  std::shared_ptr<const FilePiece> files;
};

struct SendCommit {
  Commit commit;
};

// Offers that end without a commit for the job.
struct DeclineOffers {
  std::vector<JobId> jobs;
  std::vector<JobId> untried{};  // jobs without a task to place, whatever capacity there is
};

// To the monitor at this address. Always answered by LaunchAnswered, with kUnreachable if the link breaks.
struct Launch {
  std::string address;
  LaunchSpec spec;
};

// Ok: the job is durable. Otherwise it was refused and nothing has changed.
struct AnswerSubmit {
  RequestId request;
  Status status;
};

// Tasks of a job have got their first slots. For metrics.
struct TasksPlaced {
  uint32_t tasks;
  Duration waited;  // since the job was submitted
};

// The copy was dropped: every server and platform is to be sent again, then SnapshotComplete. Follows only
// from ChecksumTold.
struct AskSnapshot {};

// Deliver TimerFired at this time. Each WakeAt replaces the one before.
struct WakeAt {
  MonotonicTime when;
};

using Action = std::variant<SendPiece, SendCommit, DeclineOffers, Launch, AnswerSubmit, TasksPlaced,
                            AskSnapshot, WakeAt>;

}  // namespace tarcil::agent
