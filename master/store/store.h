// The interface of durable storage: typed records, written in atomic batches.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "core/base/result.h"
#include "core/decide/options.h"
#include "core/state/commit.h"
#include "core/state/cron.h"
#include "core/state/job_state.h"
#include "core/state/observed_profile.h"
#include "core/state/stored_profile.h"
#include "core/state/usage.h"
#include "identity/logic/member.h"
#include "identity/logic/person.h"
#include "latebinding/pool_lease.h"
#include "secrets/logic/secret.h"

namespace tarcil {

// Identity of the cluster and counters that must never go back.
struct ClusterRecord {
  std::string cluster;              // random name, made with the store
  uint64_t epoch = 1;               // rises when a backup is restored (master/store/restoring.h)
  AllocationId nextAllocation = 1;  // every smaller one may have been given out
  uint64_t forgottenEpoch = 0;      // no agent that was forgotten had a higher one
  JobNumber nextJob = 1;            // every smaller one may have been given out; so may those of stored jobs

  bool operator==(const ClusterRecord&) const = default;
};

struct ServerRecord {
  ServerId id = 0;
  ServerFacts facts;
  std::string monitor;         // identity of the monitor that registered it
  bool cordoned = false;       // takes no new tasks
  bool draining = false;       // ... and those that it has are to go elsewhere
  WallTime drainAt = kNever;   // draining: until then they may end by themselves; kNever: they may not
  std::string cordonReason{};  // who wanted it so; empty where it is not cordoned
  bool removed = false;        // until it comes up again; no task holds a unit of it
  late::PoolLease pool{};      // its units for late-bound tasks; no task of a job holds one

  bool operator==(const ServerRecord&) const = default;
};

struct AgentRecord {
  std::string name;
  uint64_t epoch = 0;  // the current one; commits of others are refused

  bool operator==(const AgentRecord&) const = default;
};

// The answer to a commit, kept until the agent says that it has it.
struct AnswerRecord {
  std::string agent;
  uint64_t epoch = 0;
  CommitAnswer answer;  // without server states: they are read anew for a repeat

  bool operator==(const AnswerRecord&) const = default;
};

// A piece of a job's input files, as long as the job is unfinished: then nobody needs them any more.
struct FilesRecord {
  JobId job;
  std::shared_ptr<const FilePiece> files;
  uint32_t piece = 0;
};

// There are pieces of input files of a job that is not there yet.
struct UploadRecord {
  JobId job;

  bool operator==(const UploadRecord&) const = default;
};

struct PlatformRecord {
  std::string name;
  Share share{};

  bool operator==(const PlatformRecord&) const = default;
};

// Entries of the audit log that were stored together (docs/audit.md), as its lines: until they are in its
// files, and of the newest always.
struct AuditRecord {
  uint64_t first = 0;  // number of the first of them
  std::string lines;   // each with its end

  bool operator==(const AuditRecord&) const = default;
};

using Record = std::variant<ClusterRecord, ServerRecord, AgentRecord, AnswerRecord, JobRecord, JobProgress,
                            TaskRecord, DecisionRecord, FilesRecord, UploadRecord, PlatformRecord,
                            QualitySettings, Usage, StoredProfile, Profiling, ObservedProfile, Cron,
                            MemberRecord, UserRecord, AccountRecord, TokenRecord, AuditRecord, SecretRecord>;

struct Put {
  Record record;
};
struct EraseAgent {
  std::string name;
};
struct EraseAnswer {
  std::string agent;
  uint64_t epoch = 0;
  uint64_t sequence = 0;
};
// A job with its progress, tasks, decisions and files.
struct EraseJob {
  JobId job;
};
// All pieces.
struct EraseFiles {
  JobId job;
};
// The record alone.
struct EraseUpload {
  JobId job;
};

struct EraseProfile {
  std::string application;
  std::string owner;  // StoredProfile::owner()
};
struct EraseProfiling {
  std::string application;
};
struct EraseObserved {
  std::string application, user;
};
struct EraseCron {
  std::string user, name;
};
struct EraseMember {
  MemberRole role = MemberRole::kMonitor;
  std::string name;
};
struct EraseUser {
  std::string name;
};
struct EraseAccount {
  std::string name;
};
struct EraseToken {
  uint64_t id = 0;
};
struct EraseAudit {
  uint64_t first = 0;
};
struct EraseSecret {
  std::string owner, name;
};

using Mutation = std::variant<Put, EraseAgent, EraseAnswer, EraseJob, EraseFiles, EraseUpload, EraseProfile,
                              EraseProfiling, EraseObserved, EraseCron, EraseMember, EraseUser, EraseAccount,
                              EraseToken, EraseAudit, EraseSecret>;

// Everything but input files and decisions, which are read on demand.
struct StoreContents {
  std::optional<ClusterRecord> cluster;  // absent in a store just made
  std::optional<QualitySettings> settings;
  std::vector<ServerRecord> servers;
  std::vector<AgentRecord> agents;
  std::vector<AnswerRecord> answers;
  std::vector<PlatformRecord> platforms;
  std::vector<JobProgress> progress;
  // Of these there may be a million: whoever takes them gives their memory back one by one.
  std::deque<JobRecord> jobs;
  std::deque<TaskRecord> tasks;
  std::vector<Usage> usage;
  std::vector<StoredProfile> profiles;
  std::vector<Profiling> profilings;
  std::vector<ObservedProfile> observed;
  std::vector<UploadRecord> uploads;
  std::vector<Cron> crons;
  std::vector<MemberRecord> members{};
  std::vector<UserRecord> users{};
  std::vector<AccountRecord> accounts{};
  std::vector<TokenRecord> tokens{};
  std::vector<AuditRecord> audit{};  // in order
  std::vector<SecretRecord> secrets{};
};

// In bytes.
struct StoreSpace {
  uint64_t free = 0;  // where the store is kept
  uint64_t used = 0;  // by the store
};

// Synchronous; used by one thread at a time.
class Store {
 public:
  virtual ~Store() = default;

  virtual Result<StoreContents> load() = 0;

  // Makes all of it durable (synced) or fails. After a failure the outcome is unknown and the store must not
  // be used again: the process stops and recovers by load().
  virtual Status write(std::span<const Mutation> mutations) = 0;

  // The piece of this number, from 0 on, of the job's input files; empty where there is none.
  virtual Result<FilePiece> filePiece(const JobId& job, uint32_t piece) = 0;
  // All of them; empty where the job ships none.
  Result<std::vector<InputFile>> files(const JobId& job);

  // In order of their numbers.
  virtual Result<std::vector<DecisionRecord>> decisions(const JobId& job) = 0;

  // Copies the whole store, as some write() left it that had returned when this was called or a later one, to
  // a folder (an absolute path) that is not there or empty. The folder appears under its name when all of it
  // is on disk. Invalid where the folder cannot be used. May be called on a thread of its own, while the
  // store is in use.
  virtual Status backup(const std::string& folder) = 0;

  // May be called while the store is in use, as often as every second.
  virtual Result<StoreSpace> space() = 0;

  // Whether what the store holds may be told now: not where another process may write it by now, which this
  // one does not know of. Asked before anything leaves the process; cheap; from any thread.
  virtual Status mayTell() const { return {}; }
};

}  // namespace tarcil
