// The unfinished jobs that an agent owns, the orders in which it turns to them, and counts of them.
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

// Shortest time between two commits that only say why a job waits.
inline constexpr Duration kReasonInterval = std::chrono::seconds(1);

// Why a job waits, and the decision that found it, where the master has not been told yet.
struct PendingReason {
  WaitReason reason;
  Explanation explanation;
  uint64_t capacityVersion = 0;  // that the decision was made on
};

struct Job {
  explicit Job(HeldJob held) : held(std::move(held)) {}

  HeldJob held;

  // --- Its submission
  bool durable = false;                                 // else its first commit is in flight
  std::shared_ptr<const std::vector<InputFile>> files;  // until durable
  std::vector<RequestId> clients;                       // answered as soon as it is durable

  // --- Its offer
  bool isOffered = false;                   // the master waits for a commit or a decline
  std::vector<ServerId> reservedForOthers;  // ascending; not to be used in this offer, whatever its priority

  // --- Its wait
  std::optional<MonotonicTime> waitingSince;  // has had tasks to place since then, and got no slot
  std::optional<Duration> masterBound;        // how long to wait for a good slot, where the master said so
  bool isOverdue = false;                     // has waited for that long: takes the best slot there is
  uint32_t replans = 0;                       // in a row, because claims were refused
  std::string reportedKind;                   // of the reason that the master was told last
  MonotonicTime reportedAt{};
  std::optional<PendingReason> pendingReason;

  const JobSpec& spec() const { return held.record().spec; }
  const JobId& id() const { return held.record().id; }
  // When the master may be told of another reason.
  MonotonicTime nextReportAt() const { return reportedAt + kReasonInterval; }

 private:
  friend class JobTable;

  bool isToTry_ = false;              // as soon as it is idle
  uint64_t tryNumber_ = 0;            // its place among those to be tried
  std::optional<MonotonicTime> due_;  // its timer
  bool hasQueued_ = false;            // counted in queuedOfUser_
  bool waits_ = false;                // counted in waiting_
};

// Every change is O(log jobs). References to a job hold until it is erased.
class JobTable {
 public:
  // nullptr where there is none.
  Job* find(const JobId& id);
  // Requires: there is no job of this id.
  Job& add(HeldJob held);
  // With its place in every order and its part in every count. Requires: there is one.
  void erase(const JobId& id);

  auto begin() { return jobs_.begin(); }
  auto end() { return jobs_.end(); }
  size_t size() const { return jobs_.size(); }

  // The job is to be tried as soon as it is idle, after those that are to be tried already.
  void markToTry(Job& job);
  // The same, once no job elsewhere comes before it: takeDeferred() gives it back.
  void defer(const Job& job) { deferred_.insert(job.id()); }
  // It is not to be tried, deferred or not.
  void unmarkToTry(Job& job);
  // The idle job that is to be tried first; nullptr where there is none.
  Job* nextToTry();
  bool hasToTry() const { return !toTry_.empty(); }
  std::vector<Job*> takeDeferred();

  // Brings orders and counts in line with the job. `isIdle`: it is durable and has no commit in flight.
  // `due`: when time changes something for it.
  void update(Job& job, bool isIdle, std::optional<MonotonicTime> due);

  // A job that is due by now; nullptr where there is none.
  Job* dueBy(MonotonicTime now);
  std::optional<MonotonicTime> nextDue() const;

  // Idle jobs with tasks that could be placed, were there slots.
  size_t waiting() const { return waiting_; }
  // Jobs of the user with tasks that have no slot.
  uint32_t queuedOf(const std::string& user) const;

 private:
  void countQueued(Job& job, bool hasQueued);

  std::map<JobId, Job> jobs_;
  std::set<std::pair<uint64_t, JobId>> toTry_;  // idle ones, by number
  uint64_t lastTryNumber_ = 0;
  std::set<JobId> deferred_;
  std::set<std::pair<MonotonicTime, JobId>> timers_;
  size_t waiting_ = 0;
  std::map<std::string, uint32_t> queuedOfUser_;
};

}  // namespace tarcil::agent
