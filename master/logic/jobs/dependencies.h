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
struct JobSpec;
}  // namespace tarcil

namespace tarcil::master {

struct EventContext;
struct Job;
struct Tables;

class DependencyTable {
 public:
  void add(const JobId& waiter, const After& after);
  void erase(const JobId& waiter, const After& after);

  // Unfinished jobs that wait for the end of this one, and those that wait for it task by task; ascending.
  const std::set<JobId>& waitersFor(const JobId& job) const { return of(waiters_, job); }
  const std::set<JobId>& eachWaitersFor(const JobId& job) const { return of(eachWaiters_, job); }

  // The waiter is to be looked at again.
  void noteDue(const JobId& waiter) { due_.insert(waiter); }
  bool isDue(const JobId& waiter) const { return due_.contains(waiter); }
  bool hasDue() const { return !due_.empty(); }
  // Requires: there is one.
  JobId takeDue();

 private:
  using Waiters = std::map<JobId, std::set<JobId>>;  // by the job that they wait for; none is empty
  static const std::set<JobId>& of(const Waiters& waiters, const JobId& job);

  Waiters waiters_, eachWaiters_;
  std::set<JobId> due_;
};

// Why a new job cannot wait for those that it names; empty where it can.
std::string whyNotAfter(const Tables& tables, const JobRecord& record);

// What would become of it because of those. Requires: it can wait for them.
AfterOutlook outlookOf(const Tables& tables, const JobSpec& spec);

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

// The job is to be erased from the history: who waits for it in vain is cancelled, a bounded number per
// event. False where others are left, and the job has to stay until then.
bool giveUpWaiting(EventContext& context, const Job& job);

// Lets go, holds or cancels those that are to be looked at; what would take long is left for the next event.
void settleDependencies(EventContext& context);

// Says why no task of the job can be placed, where all of them wait for tasks of another job.
void noteAwaitedTasks(EventContext& context, Job& job);

}  // namespace tarcil::master
