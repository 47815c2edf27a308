// Whose turn it is to be tried, of the jobs that wait.
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

// A job here is to be tried, has its turn, rests until something gets better for it, or nobody is there to
// try it. Agents try their jobs when they have a turn, so the order is one for all of them (the
// master holds the queue's order).
//
// Turns are given in batches, the next when all turns of the last are over. The jobs of a batch have one
// rank: none is tried while one of a higher rank is being tried. Agents race within a batch, but for
// the first batches after something got better, each of which has the jobs of one agent only: what came free
// is offered in the exact order first. Where a job is tried in vain, others of its kind and no higher
// priority are not tried until something gets better: the cost of a change is that of the kinds that wait,
// not that of all jobs.
class WaitingQueue {
 public:
  explicit WaitingQueue(Duration ageing) : order_(ageing) {}

  // Users, and what the order is made from.
  WaitingOrder& order() { return order_; }
  const WaitingOrder& order() const { return order_; }

  // Adds the job; one that is there is to be tried if asked, else stays as it is. One that has its turn is
  // tried again after it.
  void put(const QueueKey& key, bool isToTry);
  void erase(const QueueKey& key);

  // Something got better: everything is to be tried again, but for jobs that nobody can try.
  void wakeAll();
  // Somebody came: he may be able to try those.
  void wakeUntriable();

  // What is kept for one job: others may take of it only where they have a higher rank, or `mayPass`, if
  // given, lets them; their turns say so.
  struct Reservation {
    QueueKey job;
    std::vector<ServerId> servers;  // ascending
    std::function<bool(const JobId&)> mayPass = nullptr;
  };
  // What is kept for this purpose and the reservation's job, in place of what was.
  enum class Purpose : uint8_t { kRoom, kPreemption };
  void keep(Purpose purpose, Reservation reservation);
  // Nothing is kept for it any more.
  void release(Purpose purpose, const JobId& job);
  // All that is kept, ascending.
  const std::vector<ServerId>& kept() const { return kept_; }
  // What of it the job leaves to others, ascending. Requires: it waits.
  std::vector<ServerId> leaves(const QueueKey& key) const;

  // What turns are given by.
  struct Candidate {
    std::optional<uint64_t> whoTries;  // a number of the agent that does; none where nobody can
    uint64_t units = 0;                // that it wants
  };
  using LookUp = std::function<Candidate(const JobId&)>;
  // The next turns, at most so many; none while others are not over. Jobs that nobody can try now are set
  // aside. After a wake turns begin anew with the first in order. Where wakes come so fast that they would
  // never get far, every fourth batch goes on where the last such one ended, whatever the order: a long row
  // of jobs that nothing suits does not keep those behind it from being tried.
  std::vector<JobOffer> offerJobs(size_t atMost, const LookUp& lookUp);
  // The job was tried, or cannot be. Does nothing where it has no turn.
  void endOffer(const QueueKey& key);
  // Something got better during the job's turn.
  bool isToBeTriedAgain(const QueueKey& key) const;
  // The job was tried on the state as it is, and found no slot, nor whom to end for it: no other of its kind
  // will. One of a higher priority may, and one that this one had to leave something to.
  void noteFailedAttempt(const QueueKey& key);
  // How often something got better.
  uint64_t capacityVersion() const { return capacityVersion_; }
  // Jobs that have their turn, in no order that means something.
  std::vector<JobId> offered() const;
  // Whoever has a turn has had it long enough.
  void endOffers();
  bool hasOffersOut() const { return !offered_.empty(); }

  // The highest priority of a new job that would come behind one that is to be tried or has its turn, or
  // that something is kept for.
  std::optional<uint8_t> pendingPriority(WallTime now) const;

  bool contains(const QueueKey& key) const { return order_.modeOf(key).has_value(); }
  size_t size() const { return order_.size(); }

 private:
  void listKept();
  bool mayTake(const Reservation& reservation, const QueueKey& key) const;
  bool leavesToItsClass(const QueueKey& key) const;
  JobOffer offerTo(const QueueKey& key) const;
  std::vector<QueueKey> inOrder(size_t atMost, const LookUp& lookUp);
  std::vector<QueueKey> deep(size_t atMost, const LookUp& lookUp);

  WaitingOrder order_;
  std::map<QueueKey, bool> offered_;        // value: to be tried again
  WaitingOrder::SkippedClasses exhausted_;  // of jobs that found no slot since something got better
  uint64_t capacityVersion_ = 0;
  std::map<std::pair<Purpose, JobId>, Reservation> reservations_;
  std::vector<ServerId> kept_;  // of all of them
  QueueKey deepest_;            // given a turn in a batch that did not begin anew in spite of a wake
  bool beginsAnew_ = true;      // since the last batch
  bool isExhausted_ = false;    // nothing has changed since there was nobody to give a turn to
  int batches_ = 0;             // since the last that began anew
  int begunAnew_ = 0;           // batches in a row
};

}  // namespace tarcil::master
