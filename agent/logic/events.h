// What happens to an agent and what it does about it. Plain values: no RPC types, no clocks.
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

// --- Events

// The master took the agent in. If `epoch` is the one held before, commits in flight are sent again as they
// were; otherwise they came to nothing, and submissions among them are made anew. `jobs` replaces every job
// held. The copy of the state starts anew as well: every server and platform follows, then SnapshotComplete.
struct MasterAttached {
  uint64_t epoch;
  std::vector<JobAssignment> jobs;
};

// The connection to the master ended. Submissions wait, up to their bound, for it to come back.
struct MasterLost {};

// The state feed. The first ServersUpdated after MasterAttached may come later than submissions. An update of
// an unknown server counts only with facts.
struct ServersUpdated {
  std::vector<ServerUpdate> updates;
};
// The whole snapshot that follows an attachment has been applied. Before it, nothing is planned and no job is
// judged infeasible.
struct SnapshotComplete {};
// The checksum of the whole shared state as it was when the master had sent
// everything before this. A copy that differs is dropped, and asked for anew.
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

// It is the turn of these jobs, in this order: the master has sent what changed before. Each is answered by a
// commit for it or by DeclineOffers, also where the job is not known here.
struct JobsOffered {
  std::vector<JobId> jobs;
  // For how long from now such a job is to wait for a place that is good enough, where the master knows. The
  // shortest that was told during one wait counts; where none was, the job's own bound, else the agent's.
  std::map<JobId, Duration> bounds{};
  // Jobs that may not take what is kept for others (QueueTold::kept), but for these servers, ascending.
  std::map<JobId, std::vector<ServerId>> leaveKept{};
};
// The highest priority of a job, here or at another agent, that waits and is still to be tried on the state
// as it is. Jobs of no higher priority have to wait for their turn: new ones are handed to the master
// untried.
struct QueueTold {
  std::optional<uint8_t> pendingPriority{};
  uint64_t capacityVersion =
      0;  // how often something got better for waiting jobs, as of the state that is here
  // Servers, ascending, that are kept free for jobs that wait: only jobs whose turn lets them, or that come
  // before all that are pending, may take them.
  std::vector<ServerId> kept{};
  bool crowded = false;  // slots are judged without the margin (core/decide/margin.h)
};

// A client hands in a job. Where the agent or the master has it already (same id, same user), it is answered
// as if it were the first.
struct SubmitArrived {
  RequestId request;
  Caller caller;
  JobId job;
  JobSpec spec;
  std::shared_ptr<const std::vector<InputFile>> files;  // null: none
};

// Delivered only while the attachment lasts on which the commit was sent: sequences begin anew with an epoch.
// An answer of outcome kSuperseded changes nothing: the shell ends the agent, and its clients fail over.
struct CommitAnswered {
  CommitAnswer answer;
};

// News from the master of a job, absolute for the tasks listed.
struct JobAssigned {
  JobAssignment assignment;
};

// What a monitor said to a launch.
struct LaunchAnswered {
  AllocationId allocation;
  // kAccepted: recorded; the monitor will report to the master. kRevoked: the master has taken the allocation
  // back; nothing more to do. kUnreachable: not known whether it arrived; it is sent again.
  enum class Outcome : uint8_t { kAccepted, kRevoked, kUnreachable } outcome;
};

struct TimerFired {};

using Event = std::variant<MasterAttached, MasterLost, ServersUpdated, SnapshotComplete, ChecksumTold,
                           SettingsUpdated, PlatformUpdated, JobsOffered, QueueTold, SubmitArrived,
                           CommitAnswered, JobAssigned, LaunchAnswered, TimerFired>;

// --- Actions

struct SendCommit {
  Commit commit;
};

// These jobs had their turn, and no commit is sent for them.
struct DeclineOffers {
  std::vector<JobId> jobs;
  std::vector<JobId> untried{};  // no task of theirs could be placed, whatever there is
};

// To the monitor at this address. Always answered by LaunchAnswered, kUnreachable where the link breaks.
struct Launch {
  std::string address;
  LaunchSpec spec;
};

// The job is durable (or was before), or it was refused and nothing was changed.
struct AnswerSubmit {
  RequestId request;
  Status status;
};

// So many tasks of a job have got their first slots, so long after the job was submitted. For metrics.
struct TasksPlaced {
  uint32_t tasks;
  Duration waited;
};

// The copy is of no use: every server and platform is to follow, then SnapshotComplete. Only on ChecksumTold.
struct AskSnapshot {};

// Send TimerFired at this time; the latest WakeAt replaces earlier ones.
struct WakeAt {
  MonotonicTime when;
};

using Action =
    std::variant<SendCommit, DeclineOffers, Launch, AnswerSubmit, TasksPlaced, AskSnapshot, WakeAt>;

}  // namespace tarcil::agent
