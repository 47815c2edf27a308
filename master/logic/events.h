// Events that the master handles and actions that it answers them with. Plain values: no RPC types,
// no clocks.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "audit/logic/entry.h"
#include "core/base/result.h"
#include "core/model/performance.h"
#include "core/state/caller.h"
#include "core/state/commit.h"
#include "core/state/job_state.h"
#include "core/state/server_pressure.h"
#include "latebinding/pool_messages.h"
#include "master/store/store.h"

namespace tarcil {

// One connection of a peer, which attaches at most once. Numbered by the server, never reused within
// a process.
using SessionId = uint64_t;
// Ties an answer to its request. Numbered by the server, never reused within a process.
using RequestId = uint64_t;

namespace master {

// --- Events ---

// An agent logged in. It replaces an earlier session of the same name, whose commits are refused from then
// on. `epoch` is the one it was given before, 0 for a new process. Where that is still the agent's current
// epoch, the agent resumes, and commits in flight may be repeated. Otherwise it gets a new epoch, and its
// earlier commits are void.
struct AgentAttached {
  RequestId request;
  SessionId session;
  std::string agent;
  uint64_t epoch;
  std::string address;  // where clients reach it
};

// The agent has the jobs that it was told as it attached, and takes more.
struct MoreJobsAsked {
  RequestId request;
  SessionId session;
};

// The agent is to have numbers for jobs of its own.
struct NumbersAsked {
  RequestId request;
  SessionId session;
  uint32_t count = 1;  // at most kMaxNumbersLeased are given
};
inline constexpr uint32_t kMaxNumbersLeased = 100'000;

// A monitor logged in with its servers. It replaces an earlier session of the same monitor; servers that it
// no longer lists are down.
struct MonitorAttached {
  RequestId request;
  SessionId session;
  // Random identity kept in its data folder. While it is attached, no other may claim its servers; afterwards
  // another that does takes them over, and tasks that it does not know are lost.
  std::string monitor;
  std::vector<ServerFacts> servers;
  // Recorded and not yet forgotten: starting, running, or ended and not acknowledged.
  std::vector<KnownTask> tasks;
};

// The next servers of a monitor that stands for many, with their tasks: as they attached.
struct MoreServersAttached {
  RequestId request;
  SessionId session;
  std::vector<ServerFacts> servers;
  std::vector<KnownTask> tasks;
};

// A peer's connection ended.
struct PeerDetached {
  SessionId session;
};

struct CommitArrived {
  RequestId request;
  SessionId session;
  Commit commit;
  audit::Requester requester{};
  std::string mayNot{};  // why the agent may not submit the job, where it is a new one; empty: it may
};

// A piece of the input files of a job to come (jobs/uploads.h).
struct PieceArrived {
  RequestId request;
  SessionId session;
  JobId job;
  std::string user;
  uint64_t bytes;   // of all files
  uint32_t number;  // of the piece, from 0 on
  std::shared_ptr<const FilePiece> files;
};

// The agent has looked for slots for the jobs that it was offered and commits nothing for these. Of those
// untried no task could have been placed, whatever is free.
struct OffersDeclined {
  SessionId session;
  std::vector<JobId> jobs;
  std::vector<JobId> untried{};
};

struct ReportsArrived {
  RequestId request;
  SessionId session;
  std::vector<TaskReport> reports;
};

// A monitor renews its lease and asks whether these tasks of exclusive jobs may start.
struct LeaseAsked {
  RequestId request;
  SessionId session;
  std::vector<AllocationId> starting;
};

// Pressures that a monitor measured on its servers, and those that their late-bound tasks cause. Servers that
// the session does not stand for are ignored.
struct PressureReported {
  SessionId session;
  std::vector<ServerPressure> servers;
  std::vector<late::PoolPressure> pools{};
};

// Performance violations of tasks that a monitor found. Tasks on servers that the session does not stand for
// are ignored.
struct ViolationsReported {
  SessionId session;
  std::vector<Violation> violations;
};

// What watched tasks reach, as their monitor measured it last. The same holds.
struct PerformanceReported {
  SessionId session;
  std::vector<PerformanceSample> samples;
};

// The monitor's answer to ResizeTask; there is none where the connection was lost.
struct TaskResized {
  SessionId session;
  AllocationId allocation;
  std::vector<RuIndex> rus;
  Status status;
};

// The monitor's answer to ThrottleTask; there is none where the connection was lost.
struct TaskThrottled {
  SessionId session;
  AllocationId allocation;
  Throttle throttle;
  Status status;
};

// The monitor is about to stop its tasks and to end: its servers are down for new ones, though its session
// stands.
struct MonitorLeaves {
  SessionId session;
};

// What a monitor reports on the units of late-bound tasks.
struct PoolReportOf {
  std::string server;
  late::PoolReport report;
};
struct PoolReported {
  RequestId request;
  SessionId session;
  std::vector<PoolReportOf> reports;
};

struct CancelRequested {
  RequestId request;
  JobId job;
  Caller caller;
  audit::Requester requester{};
};

struct SettingsSet {
  RequestId request;
  QualitySettings settings;  // its version is ignored: the master counts
  audit::Requester requester{};
};

struct PlatformSet {
  RequestId request;
  std::string platform;
  Share share;
  audit::Requester requester{};
};

// Of the cluster, beside those of other users who wait.
struct SharesSet {
  RequestId request;
  std::string user;
  uint32_t shares;
  audit::Requester requester{};
};

// A user stores the profile of an application, an operator for all, or deletes it. An empty `user` is the
// caller.
struct ProfileStored {
  RequestId request;
  Caller caller;
  Profile profile;
  std::string note;
  audit::Requester requester{};
};
struct ProfileDeleted {
  RequestId request;
  Caller caller;
  std::string application, user{};
  audit::Requester requester{};
};
// What is known for the user alone is to count for all.
struct ProfilePromoted {
  RequestId request;
  Caller caller;
  std::string application, user;
  audit::Requester requester{};
};

// What an operator does to servers. kCordon: no new tasks. kUncordon: new tasks again; also ends a drain, a
// quarantine and an auto-cordon (auto_cordon.h). kDrain: cordoned, and the tasks go elsewhere. kRemove: one
// that is down is no part of the cluster until it comes up again.
enum class ServerChange : uint8_t { kCordon, kUncordon, kDrain, kRemove };

// Repeats are harmless.
struct ServersSteered {
  RequestId request;
  Caller caller;
  std::vector<std::string> servers;
  ServerChange change;
  Duration deadline;  // kDrain: from now; tasks that still run then are ended
  audit::Requester requester{};
};

// What users do to their jobs. kHold: no further task starts; those that run go on. kRelease: tasks start
// again when the queue comes to them. kPriority: the job has this priority from now on.
enum class JobChange : uint8_t { kHold, kRelease, kPriority, kRerun };

// Repeats are harmless.
struct JobSteered {
  RequestId request;
  Caller caller;
  JobId job;
  JobChange change;
  uint8_t priority = 0;  // kPriority
  audit::Requester requester{};
};

// A user wants a job made again and again. A repeat with the same id changes nothing.
struct CronAdded {
  RequestId request;
  Caller caller;
  CronSpec cron;
  bool replaces = false;  // the user's cron of that name, if there is one
  audit::Requester requester{};
};

// What users do to their crons. kHold: it makes no jobs, and its times pass. kRelease: from now on it makes
// them again. kRun: one job now. kRemove: it is gone, and its jobs stay.
enum class CronChange : uint8_t { kHold, kRelease, kRun, kRemove };

// Repeats are harmless, but for a removal, which then finds none.
struct CronSteered {
  RequestId request;
  Caller caller;
  std::string user;  // whose it is; empty: the caller
  std::string name;
  CronChange change;
  JobId job{};  // kRun: id of the job to make, which a repeat finds
  audit::Requester requester{};
};

// An operator wants to have a machine in, which is to show the word with this digest.
// `isOverUnixSocket`: of the master's machine, where a word for another master may be made.
struct MemberInvited {
  MemberRole role = MemberRole::kMonitor;
  std::string name;
  Sha256 word{};
  Duration life{};  // of the word
  bool isOverUnixSocket = false;
};

// A machine has shown a word, and is to have a certificate.
struct MemberJoined {
  Sha256 word{};
  uint64_t serial = 0;  // random, for its certificate
  Duration life{};      // of that
};

// A machine whose certificate was shown is to have another.
struct CertificateRenewed {
  Identity shown;
  uint64_t serial = 0;
  Duration life{};
};

// The master's own certificate, as it is: no answer but its record.
struct CertificateNoted {
  Identity identity;
  MemberCertificate certificate;
};

// An operator wants a machine out.
struct MemberRevoked {
  MemberRole role = MemberRole::kMonitor;
  std::string name;
};

using MemberChange =
    std::variant<MemberInvited, MemberJoined, CertificateRenewed, CertificateNoted, MemberRevoked>;
struct MembersChanged {
  RequestId request;
  MemberChange change;
  audit::Requester requester{};
};

// An operator makes a user or an account known, or changes it. `seen`: as the operator saw it; nothing where
// it is to be added.
struct UserSet {
  std::optional<UserRecord> seen;
  UserRecord next;
};
struct AccountSet {
  std::optional<AccountRecord> seen;
  AccountRecord next;
};
struct UserRemoved {
  std::string name;
};
struct AccountRemoved {
  std::string name;
};

// Somebody gets a token that expires.
struct TokenAdded {
  TokenRecord token;
};
// A token, or all of a user's, lets nobody in any more.
struct TokenRevoked {
  uint64_t id = 0;
  std::string of;  // whose it has to be; empty: anybody's
};
struct TokensRevoked {
  std::string user;
};

using PeopleChange =
    std::variant<UserSet, AccountSet, UserRemoved, AccountRemoved, TokenAdded, TokenRevoked, TokensRevoked>;
struct PeopleChanged {
  RequestId request;
  PeopleChange change;
  std::string by;         // the user who wants it
  bool hasOther = false;  // the file of tokens has an operator
  audit::Requester requester{};
};

// A user gets a secret, or another value of it, sealed by now. Rights have been looked at, here and below.
struct SecretPut {
  std::string owner, name;
  SealedValue value;
};
// The value of this version is sealed with another key.
struct SecretResealed {
  std::string owner, name;
  uint64_t version = 0;
  SealedValue value;
};
struct SecretGranted {
  std::string owner, name;
  SecretGrant grant;
};
struct SecretRevoked {
  std::string owner, name;
  SecretGrant grant;
};
struct SecretDeleted {
  std::string owner, name;
};

using SecretChange = std::variant<SecretPut, SecretResealed, SecretGranted, SecretRevoked, SecretDeleted>;
struct SecretsChanged {
  RequestId request;
  SecretChange change;
  audit::Requester requester{};
};

// A monitor is about to start this task, and is to have its secrets.
struct SecretsAsked {
  RequestId request;
  SessionId session;
  AllocationId allocation;
  std::string address{};  // of the connection, for the audit log
};

// Something for the audit log that the shell did or refused by itself.
struct Noted {
  audit::Entry entry;  // its time is the event's
};

// Free space on the store's disk.
struct SpaceMeasured {
  uint64_t freeBytes;
};

// The time asked for by WakeAt has come (or a little later).
struct TimerFired {};

using Event = std::variant<AgentAttached, MoreJobsAsked, NumbersAsked, MonitorAttached, MoreServersAttached,
                           PeerDetached, CommitArrived, PieceArrived, OffersDeclined, ReportsArrived,
                           LeaseAsked, PressureReported, ViolationsReported, PerformanceReported, TaskResized,
                           TaskThrottled, MonitorLeaves, PoolReported, CancelRequested, SettingsSet,
                           PlatformSet, SharesSet, ProfileStored, ProfileDeleted, ProfilePromoted,
                           ServersSteered, JobSteered, CronAdded, CronSteered, MembersChanged, PeopleChanged,
                           SecretsChanged, SecretsAsked, Noted, SpaceMeasured, TimerFired>;

// Steps taken for degraded tasks, counted.
struct AdjustingCounts {
  uint64_t autoCordoned = 0;  // servers
  uint64_t throttled = 0;     // tasks that slowed down others, each time
  uint64_t grown = 0;         // tasks that got another unit
  uint64_t moved = 0;         // tasks sent elsewhere
};

// Performance violations that began, by their likeliest causes (Cause::Kind).
using ViolationCounts = std::array<uint64_t, kCauseKinds>;

// --- Actions ---
// All but Persist, Audit and WakeAt leave the process, and so wait until every Persist and Audit before them
// is synced.

// To be made durable, in one batch with the others of the event.
struct Persist {
  Mutation mutation;
};

// An entry of the audit log, to be made durable in the same batch.
struct Audit {
  audit::Entry entry;
};

// Unfinished jobs of an agent, complete, as they are now: as many as one message takes. From then on changes
// of them come as news (AssignJob); of those that are still to be told none does.
struct AgentJobs {
  std::vector<JobAssignment> jobs;
  bool more = false;  // are to be told: MoreJobsAsked
};

struct AnswerAgentAttached {
  RequestId request;
  Result<uint64_t> epoch;
  AgentJobs told{};
};

// The first of the numbers that were asked for. Conflict: the session does not speak for an agent.
struct AnswerNumbers {
  RequestId request;
  Result<JobNumber> first;
};

// Conflict: the session does not speak for an agent.
struct AnswerMoreJobs {
  RequestId request;
  Result<AgentJobs> told;
};

struct AnswerMonitorAttached {
  RequestId request;
  Status status;
  // Allocations it reported that the master does not know: it stops them, if running, and forgets them.
  std::vector<AllocationId> drop;
  // Allocations for which a stop was requested while it was away. It may not know some of them: their launch
  // is then refused if it arrives later, and they are reported as cancelled.
  std::vector<AllocationId> stop;
  Duration lease{};  // from each renewal on
};

struct AnswerCommit {
  RequestId request;
  CommitAnswer answer;
};

// Success: the piece is durable, or the job is there already, which needs none.
struct AnswerPiece {
  RequestId request;
  Result<bool> isThere;
};

// Success: the reports are durable, and the monitor may forget the tasks that ended. Conflict: the
// session was replaced or never attached; nothing was taken, and the monitor repeats its reports once it
// has attached.
struct AnswerReports {
  RequestId request;
  Status status;
};

// The allocations that may not start since they are no longer in use on the monitor's servers. Conflict: the
// session does not speak for the monitor; nothing is renewed.
struct AnswerLease {
  RequestId request;
  Result<std::vector<AllocationId>> refused;
};

// To the reports that were handled, now or earlier.
struct PoolAnswerOf {
  std::string server;
  late::PoolAnswer answer;
};
struct AnswerPools {
  RequestId request;
  Result<std::vector<PoolAnswerOf>> answers;
};

// Answers CancelRequested, SettingsSet, PlatformSet, SharesSet, ProfileStored, ProfileDeleted,
// ProfilePromoted, ServersSteered, JobSteered, CronAdded, CronSteered, PeopleChanged, SecretsChanged.
struct Answer {
  RequestId request;
  Status status;
};

// The member as it is now; a certificate that was asked for is its last.
struct AnswerMembers {
  RequestId request;
  Result<MemberRecord> member;
};

// Sealed, in the order in which the job names them. NotFound or Denied: nothing is given.
struct AnswerSecrets {
  RequestId request;
  Result<std::vector<SecretRecord>> secrets;
};

// News for whoever lets peers in: these certificates are revoked, ascending, and no others.
struct PublishRevoked {
  std::vector<uint64_t> serials;
};

// News for whoever lets people in: who this user is, or by which tokens, has changed.
struct PublishUser {
  std::string user;
};

// News for every agent.
struct PublishServer {
  ServerUpdate update;  // facts included where they changed
};
struct PublishSettings {
  QualitySettings settings;
};
struct PublishPlatform {
  std::string platform;
  Share share;
};

struct PublishShares {
  std::string user;
  uint32_t shares;
};

// To an agent's process: another connection speaks for the agent now; this process is to end.
struct EndAgent {
  SessionId session;
};

// News for the agent that owns the job.
struct AssignJob {
  SessionId session;
  JobAssignment assignment;
};

// An offer to place a waiting job.
struct JobOffer {
  JobId job;
  // That jobs ahead of it in the queue are likely to get first (demand_ahead.h); nullopt where that was not
  // counted, or told a moment ago.
  std::optional<uint64_t> slotsAhead{};
  bool mayUseReserved = true;              // all of PublishQueue::reserved
  std::vector<ServerId> usableReserved{};  // else these of them, ascending

  bool operator==(const JobOffer&) const = default;
};

// To an agent: place these jobs, in this order. Each offer is answered by a commit for the job or by
// OffersDeclined. What was published before must reach the agent first.
struct OfferJobs {
  SessionId session;
  std::vector<JobOffer> jobs;
};
// News for every agent: the highest priority of a waiting job that is still to be offered, none where all
// were tried on the state as it is. A new job of no higher priority waits behind it.
struct PublishQueue {
  std::optional<uint8_t> pendingPriority;
  uint64_t capacityVersion = 0;  // rises when capacity that waiting jobs could use appears
  // Servers, ascending, that are reserved for waiting jobs: other jobs may use them only where their offer
  // says so, or where their priority is above the pending one.
  std::vector<ServerId> reserved{};
  bool crowded = false;                    // slots are judged without the margin (core/decide/margin.h)
  uint32_t waiting = 0, waitingTasks = 0;  // jobs and their tasks, to two binary digits

  bool operator==(const PublishQueue&) const = default;
};

// To a monitor: end this task (SIGTERM, grace period, SIGKILL). Repeats are harmless; an unknown allocation
// must be refused if its launch arrives later.
struct StopTask {
  SessionId session;
  AllocationId allocation;
};

// To a monitor: give the task the cores and memory of these units. Repeats are harmless.
struct ResizeTask {
  SessionId session;
  AllocationId allocation;
  std::vector<RuIndex> rus;
};

// To a monitor: throttle the task so far, or no more; until the session ends. Repeats are harmless.
struct ThrottleTask {
  SessionId session;
  AllocationId allocation;
  Throttle throttle;
};

// To a monitor: how many units the server's late-bound tasks may have at most.
struct LimitPool {
  SessionId session;
  std::string server;
  late::PoolLimit limit;
};

// A task was placed, started or ended, or the job's state changed: whoever waits for that may look again.
struct JobChanged {
  JobId job;
  bool finished;
};

// Send TimerFired at this time; replaces an earlier WakeAt.
struct WakeAt {
  MonotonicTime when;
};

using Action =
    std::variant<Persist, Audit, AnswerAgentAttached, AnswerMoreJobs, AnswerNumbers, AnswerMonitorAttached,
                 AnswerCommit, AnswerPiece, AnswerReports, AnswerLease, AnswerPools, AnswerMembers,
                 AnswerSecrets, PublishRevoked, PublishUser, Answer, PublishServer, PublishSettings,
                 PublishPlatform, PublishShares, EndAgent, AssignJob, OfferJobs, PublishQueue, StopTask,
                 ResizeTask, ThrottleTask, LimitPool, JobChanged, WakeAt>;

}  // namespace master
}  // namespace tarcil
