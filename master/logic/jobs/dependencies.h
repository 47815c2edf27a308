// Jobs that start after others (core/model/after.h): who waits for whom, and what becomes of those that wait.
// Nothing of it is stored but the jobs themselves: of a job that is no longer there, whoever waited for it
// had been told how it ended before it was erased.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/model/after.h"

namespace tarcil {
struct JobRecord;
}

namespace tarcil::master {

struct EventContext;
struct Job;
struct Tables;

class DependencyTable {
 public:
  void add(const JobId& waiter, const After& after);
  void erase(const JobId& waiter, const After& after);

  bool isAwaited(const JobId& job) const { return waiters_.contains(job); }
  // Of which unfinished jobs wait for this one, all of it or task by task; ascending.
  const std::set<JobId>& waitersFor(const JobId& job) const;

  // The waiter is to be looked at again.
  void noteDue(const JobId& waiter) { due_.insert(waiter); }
  bool hasDue() const { return !due_.empty(); }
  // Requires: there is one.
  JobId takeDue();

 private:
  std::map<JobId, std::set<JobId>> waiters_;  // by the job that they wait for; none is empty
  std::set<JobId> due_;
};

// Why a new job cannot wait for those that it names; empty where it can.
std::string whyNotAfter(const Tables& tables, const JobRecord& record);

// Why a job that names these would be cancelled at once, after "job 4711"; empty where it would not.
std::string whyNotNow(const Tables& tables, const After& after);

// The job, which is new or was read from the store, waits for those that it names, until settle() finds
// otherwise. Nothing where it names none.
void awaitOthers(EventContext& context, Job& job);

// Holds the job for those that it waits for, also where its user holds it; false where there are none.
bool holdForOthers(EventContext& context, Job& job);

// It does not wait any more for any, whatever becomes of them. Nothing where it waits for none.
void forgetOthers(EventContext& context, Job& job);

// The event changed the job, or tasks of it: those that wait for it are to be looked at. Requires: its
// changes are still noted.
void noteForWaiters(EventContext& context, const Job& job);

// The job is about to be erased from the history: who waits for it in vain is cancelled.
void giveUpWaiting(EventContext& context, const Job& job);

// Lets go, holds or cancels those that are to be looked at, so many at most; the rest is left for the next
// event.
void settleDependencies(EventContext& context, size_t atMost);

// Says why no task of the job can be placed, where all of them wait for tasks of another job.
void noteAwaitedTasks(EventContext& context, Job& job);

}  // namespace tarcil::master
