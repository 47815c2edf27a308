// The unfinished jobs that an agent owns, in the orders in which they are needed, and counts of them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "agent/logic/events.h"
#include "agent/logic/held_job.h"
#include "agent/logic/wait_reason.h"
#include "core/base/time.h"
#include "core/state/explain.h"

namespace tarcil::agent {

// Shortest time between two commits of a job that carry nothing but a wait reason.
inline constexpr Duration kReasonInterval = std::chrono::seconds(1);

// Why a job waits, and the decision behind it; not reported to the master yet.
struct PendingReason {
  WaitReason reason;
  Explanation explanation;
  uint64_t capacityVersion = 0;  // QueueTold's at the decision
};

struct Job {
  explicit Job(HeldJob held) : held(std::move(held)) {}

  HeldJob held;

  // --- Submission
  bool durable = false;            // at the master; else its first commit is in flight
  bool isListed = false;           // by the master since the agent attached last
  FilePieces files;                // until durable
  std::vector<RequestId> clients;  // to be answered when it is durable

  // --- Offer
  bool isOffered = false;                   // the master expects a commit or a decline
  std::vector<ServerId> reservedForOthers;  // ascending; not to be used for this offer, whatever its priority

  // --- Wait
  std::optional<MonotonicTime> waitingSince;  // has had tasks to place and got no slot since then
  std::optional<Duration> masterBound;        // how long to wait for a good slot, if the master set it
  bool isOverdue = false;                     // has waited for its bound: takes the best slot there is
  uint32_t replans = 0;                       // in a row, after refused claims
  std::string reportedKind;                   // of the wait reason reported last
  MonotonicTime reportedAt{};
  std::optional<PendingReason> pendingReason;

  const JobSpec& spec() const { return held.record().spec; }
  const JobId& id() const { return held.record().id; }
  // When another reason may be reported.
  MonotonicTime nextReportAt() const { return reportedAt + kReasonInterval; }

 private:
  friend class JobTable;

  // Kept by the table.
  bool isToTry_ = false;              // when it is idle
  uint64_t tryNumber_ = 0;            // orders the jobs to try
  std::optional<MonotonicTime> due_;  // its timer
  bool hasQueued_ = false;            // is counted in queuedOfUser_
  bool waits_ = false;                // is counted in waiting_
};

// A job is idle when it is durable and has no commit in flight; only then it can be tried, that is, planned.
// Every change is O(log jobs). References to a job are valid until it is erased.
class JobTable {
 public:
  // nullptr if there is none.
  Job* find(const JobId& id);
  // Requires: there is no job with this id.
  Job& add(HeldJob held);
  // Requires: there is a job with this id.
  void erase(const JobId& id);

  auto begin() { return jobs_.begin(); }
  auto end() { return jobs_.end(); }
  size_t size() const { return jobs_.size(); }

  // The job is to be tried when it is idle, after the jobs marked before. Nothing if it is marked already.
  void markToTry(Job& job);
  // Marks it later: takeDeferred() returns it.
  void defer(const Job& job) { deferred_.insert(job.id()); }
  // Neither marked nor deferred any more.
  void unmarkToTry(Job& job);
  // The first of the jobs to try that are idle; nullptr if there is none.
  Job* nextToTry();
  bool hasToTry() const { return !toTry_.empty(); }
  std::vector<Job*> takeDeferred();

  // Updates orders and counts after a change of the job. `due`: when its timer is to fire.
  void update(Job& job, bool isIdle, std::optional<MonotonicTime> due);

  // A job whose timer has fired; nullptr if there is none. Its next update() sets the timer again.
  Job* dueBy(MonotonicTime now);
  std::optional<MonotonicTime> nextDue() const;

  // Idle jobs with tasks to place.
  size_t waiting() const { return waiting_; }
  // Jobs of this user with queued tasks.
  uint32_t queuedOf(const std::string& user) const;

 private:
  void countQueued(Job& job, bool hasQueued);

  std::map<JobId, Job> jobs_;
  std::set<std::pair<uint64_t, JobId>> toTry_;  // idle ones, by tryNumber_
  uint64_t lastTryNumber_ = 0;
  std::set<JobId> deferred_;
  std::set<std::pair<MonotonicTime, JobId>> timers_;
  size_t waiting_ = 0;
  std::map<std::string, uint32_t> queuedOfUser_;
};

}  // namespace tarcil::agent
