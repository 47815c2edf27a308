#include "master/logic/jobs/observed_profiles.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "master/logic/health/interference.h"
#include "master/logic/jobs/profiles.h"
#include "master/logic/jobs/rejudging.h"

namespace tarcil::master {
namespace {

using Range = std::pair<ObservedProfiles::iterator, ObservedProfiles::iterator>;

Range ofUser(ObservedProfiles& observed, const std::string& user) {
  return {observed.lower_bound({user, ""}), observed.lower_bound({user + '\0', ""})};
}

void eraseOldest(EventContext& context, const Range& among) {
  const auto oldest = std::min_element(
      among.first, among.second, [](const auto& a, const auto& b) { return a.second.last < b.second.last; });
  context.out.erase(EraseObserved{oldest->second.application, oldest->second.user});
  context.tables.observed.erase(oldest);
}

void makeRoom(EventContext& context, const std::string& user) {
  ObservedProfiles& observed = context.tables.observed;
  const Range own = ofUser(observed, user);
  if (static_cast<size_t>(std::distance(own.first, own.second)) >= kMaxObservedProfilesOfUser) {
    eraseOldest(context, own);
  } else if (observed.size() >= kMaxObservedProfiles) {
    eraseOldest(context, {observed.begin(), observed.end()});
  }
}

// Whether the task is a run that says something of an application.
bool isTelling(const Tables& tables, const Hold& hold) {
  const JobSpec& spec = hold.job->record.spec;
  const AllocationId allocation = hold.job->tasks[hold.task].allocation;
  return !spec.profile.application.empty() && spec.measures.empty() &&
         tables.throttles.find(allocation) == nullptr;
}

// What is known of the task's application and user, and that it is known of one more run.
ObservedProfile& oneRunMore(EventContext& context, const JobRecord& job) {
  ObservedProfiles& all = context.tables.observed;
  const std::string& application = job.spec.profile.application;
  if (!all.contains({job.user, application})) makeRoom(context, job.user);
  ObservedProfile& observed = all[{job.user, application}];
  observed.application = application;
  observed.user = job.user;
  observed.last = context.now.wall;
  return observed;
}

// Of a task that is about to end its monitor may not be able to read all that it read before.
ResourceSet everMeasured(const Resident& resident) {
  ResourceSet measured = resident.measured;
  for (size_t i = 0; i < kResources; ++i) measured[i] = measured[i] || resident.most[i] > 0;
  return measured;
}

}  // namespace

void observeRun(EventContext& context, const Hold& hold) {
  const Resident& resident = residentOf(context.tables, hold);
  const ResourceSet measured = everMeasured(resident);
  if (!isTelling(context.tables, hold) || measured.none()) return;
  ObservedProfile& observed = oneRunMore(context, hold.job->record);
  for (size_t i = 0; i < kResources; ++i) {
    if (measured[i]) observed.caused[i].add(resident.most[i]);
  }
  context.out.put(observed);
  noteLearned(context, observed.application, observed.user);
}

void observePerformance(EventContext& context, const Hold& hold, double reached) {
  const JobSpec& spec = hold.job->record.spec;
  const bool isAsAsked = hold.job->tasks[hold.task].rus.size() == spec.rusPerTask;
  if (!spec.performance || !isAsAsked || !isTelling(context.tables, hold)) return;
  if (!std::isfinite(reached) || reached < 0) return;
  const std::string& platform = context.tables.servers.at(hold.server).record.facts.platform;
  ObservedProfile& observed = oneRunMore(context, hold.job->record);
  observed.addPerformance(platform, spec.performance->metric, spec.rusPerTask, reached, context.now.wall);
  context.out.put(observed);
}

const ObservedProfile* findObserved(const ObservedProfiles& observed, const std::string& application,
                                    const std::string& user) {
  const auto found = observed.find({user, application});
  return found == observed.end() ? nullptr : &found->second;
}

bool forgetObserved(EventContext& context, const std::string& application, const std::string& user) {
  if (context.tables.observed.erase({user, application}) == 0) return false;
  context.out.erase(EraseObserved{application, user});
  noteLearned(context, application, user);
  return true;
}

void forgetCaused(EventContext& context, const std::string& application, const std::string& user) {
  ObservedProfile& observed = context.tables.observed.at({user, application});
  observed.caused = {};
  if (observed.performances.empty()) {
    forgetObserved(context, application, user);
  } else {
    context.out.put(observed);
  }
}

}  // namespace tarcil::master
