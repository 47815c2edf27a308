// Which waiting jobs are offered to their agents next.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/ids.h"
#include "core/base/time.h"
#include "core/state/server.h"
#include "master/logic/events.h"
#include "master/logic/queue/waiting_order.h"

namespace tarcil::master {

// A job here is to be tried, is offered to its agent, rests until new capacity appears, or cannot be tried
// since its agent is away. Agents try waiting jobs only when they are offered, so that there is one order for
// all agents.
//
// Offers are made in batches, the next when all offers of the last have ended. The jobs of a batch have one
// rank: none is tried while one of a higher rank is being tried. Agents race within a batch, except for the
// first batches after new capacity appeared, each of which has jobs of one agent only: what came free is
// first offered in the exact order. Where capacity appears several times during one batch, that
// would leave all agents but one idle, and is not done. Where a job is tried without success, others of its
// class and no higher priority are not tried until new capacity appears: a change costs as much as there are
// classes, not jobs.
class WaitingQueue {
 public:
  explicit WaitingQueue(Duration ageing) : order_(ageing) {}

  // Users, and what the order is made from.
  WaitingOrder& order() { return order_; }
  const WaitingOrder& order() const { return order_; }

  // Adds the job. One that is there is to be tried where `isToTry`, else stays as it is; one that is offered
  // is then tried again when its offer ends.
  void put(const QueueKey& key, bool isToTry);
  void erase(const QueueKey& key);
  // The job competes for other slots than before. One that is offered stays so: what its agent answers is of
  // the key from before. Nothing where it is not there.
  void rekey(const QueueKey& from, const QueueKey& to);

  // New capacity: every job is to be tried again, except those whose agents are away.
  void wakeAll();
  // An agent attached, which may try those.
  void wakeUntriable();

  // Servers reserved for one job: others may use them only where they have a higher rank, or where `mayPass`,
  // if given, lets them; their offers say so.
  struct Reservation {
    QueueKey job;
    std::vector<ServerId> servers;  // ascending
    std::function<bool(const JobId&)> mayPass = nullptr;
  };
  // Replaces the reservation for this purpose and job.
  enum class Purpose : uint8_t { kSeveralUnits, kPreemption };
  void reserve(Purpose purpose, Reservation reservation);
  // Ends the reservation.
  void release(Purpose purpose, const JobId& job);
  // Every reserved server, ascending.
  const std::vector<ServerId>& reserved() const { return reserved_; }
  // Those that the job may not use, ascending. Requires: it waits.
  std::vector<ServerId> reservedForOthers(const QueueKey& key) const;

  // What the queue needs to know of a job to offer it.
  struct Candidate {
    std::optional<uint64_t> whoTries;  // a number of its agent; none where that is away
    uint64_t units = 0;                // that it wants
  };
  using LookUp = std::function<Candidate(const JobId&)>;
  // The next offers, at most so many; none while others are out. Jobs whose agents are away are set aside,
  // kSetAsideAtOnce of them: where there are more, the next call goes on (isInterrupted()).
  // After a wake offers begin again with the first in order. Where wakes come so fast that this would never
  // get far, every fourth batch continues where the last such one ended, whatever the order: a long run of
  // jobs that fit nowhere does not keep those behind it from being tried.
  std::vector<JobOffer> offerJobs(size_t atMost, const LookUp& lookUp);
  static constexpr size_t kSetAsideAtOnce = 512;
  // Whether the last call ended before it had looked at what there is.
  bool isInterrupted() const { return isInterrupted_; }
  // The job was tried, or cannot be. Does nothing where it is not offered.
  void endOffer(const QueueKey& key);
  // Whether new capacity appeared while the job was offered.
  bool isToBeTriedAgain(const QueueKey& key) const;
  // The job was tried on the state as it is, and found no slot: no other of its class will, except one of a
  // higher priority, and one that has a reservation which this one may not use.
  void noteFailedAttempt(const QueueKey& key);
  // How often new capacity appeared.
  uint64_t capacityVersion() const { return capacityVersion_; }
  // Jobs that are offered, in some order.
  std::vector<JobId> offered() const;
  // Ends all offers.
  void endOffers();
  // The same where nobody has tried the jobs: they are still to be tried.
  void withdrawOffers();
  bool hasOffersOut() const { return !offered_.empty(); }

  // The highest priority of a new job that would come behind one that is to be tried, is offered or has
  // a reservation.
  std::optional<uint8_t> pendingPriority(WallTime now) const;

  bool contains(const QueueKey& key) const { return order_.modeOf(key).has_value(); }
  size_t size() const { return order_.size(); }

 private:
  void listReserved();
  bool mayUse(const Reservation& reservation, const QueueKey& key) const;
  bool isReservedForItsClass(const QueueKey& key) const;
  JobOffer offerTo(const QueueKey& key) const;
  // `wakes`: since the last batch.
  std::vector<QueueKey> inOrder(size_t atMost, uint64_t wakes, const LookUp& lookUp);
  std::vector<QueueKey> deep(size_t atMost, const LookUp& lookUp);

  WaitingOrder order_;
  std::map<QueueKey, bool> offered_;        // value: to be tried again
  WaitingOrder::SkippedClasses exhausted_;  // that found no slot since new capacity appeared
  uint64_t capacityVersion_ = 0;
  std::map<std::pair<Purpose, JobId>, Reservation> reservations_;
  std::vector<ServerId> reserved_;  // of all of them
  QueueKey deepest_;                // the last offered in a batch that did not begin anew in spite of a wake
  bool isExhausted_ = false;        // nothing has changed since there was no job to offer
  // From batch to batch.
  struct Progress {
    bool beginsAnew = true;       // since the last batch
    uint64_t versionOfBatch = 0;  // capacity version at the last batch
    int batches = 0;              // since the last that began anew
    int begunAnew = 0;            // batches in a row
  };
  Progress progress_;
  bool isInterrupted_ = false;
};

}  // namespace tarcil::master
