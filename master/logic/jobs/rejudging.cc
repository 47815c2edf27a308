#include "master/logic/jobs/rejudging.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "master/logic/jobs/observed_profiles.h"
#include "master/logic/jobs/profiles.h"
#include "master/logic/queue/reservation.h"

namespace tarcil::master {
namespace {

using Group = FollowerTable::Group;

bool isFar(const Pressure& one, const Pressure& other) {
  return !std::ranges::equal(one, other, [](int a, int b) { return std::abs(a - b) < kPointsThatMatter; });
}

bool isFarOn(const Profile& listing, const Profile& other) {
  return std::ranges::any_of(listing.platforms, [&other](const auto& entry) {
    return std::lround(100 * std::abs(entry.second - platformFactor(other, entry.first))) >=
           kPointsThatMatter;
  });
}

bool differsEnough(const Profile& one, const Profile& other) {
  return one.isAssumed != other.isAssumed || isFar(one.caused, other.caused) ||
         isFar(one.tolerated, other.tolerated) || isFarOn(one, other) || isFarOn(other, one);
}

// As a job of that user would get it now; what is assumed stays so until something is stored. As it is where
// nothing is known any more.
Profile asKnownNow(const Tables& tables, const JobRecord& job) {
  const Profile& used = job.spec.profile;
  const StoredProfile* stored = findProfile(tables.profiles, used.application, job.user);
  const ObservedProfile* observed =
      findObserved(tables.observed, stored ? stored->profile.application : used.application, job.user);
  if (observed != nullptr && !observed->isBelieved()) observed = nullptr;
  if (stored == nullptr && observed == nullptr) return used;
  Profile known =
      stored == nullptr && used.isAssumed ? withObserved(used, *observed) : knownProfile(stored, observed);
  known.application = used.application;
  return known;
}

bool isOutdated(const Tables& tables, const Job& job) {
  return differsEnough(job.record.spec.profile, asKnownNow(tables, job.record));
}

void makeDue(EventContext& context, Group& group) {
  if (group.second.due) return;
  context.tables.jobs.followers().setDue(group, std::max(context.now.steady, group.second.notBefore));
}

void noteLearned(EventContext& context, Group& group) {
  const Job& oldest = *context.tables.jobs.find(group.second.jobs.begin()->second);
  if (isOutdated(context.tables, oldest)) makeDue(context, group);
}

void replaceProfile(EventContext& context, Job& job, Profile profile) {
  Tables& tables = context.tables;
  tables.jobs.setProfile(job, std::move(profile), context.now.wall);
  context.out.put(job.record);
  renewReservation(context, job);
  job.tasks.forEachRecord([&tables, &job](const TaskRecord& task) {
    if (!isActive(task.state)) return;
    Server& server = tables.servers.at(tables.jobs.holder(task.allocation)->server);
    tables.servers.setProfile(server, task.allocation, job.record.spec.profile);
  });
}

// Judges the group's jobs from where its round has come to, until those that were take so many bytes; how
// many they take.
size_t goOn(EventContext& context, Group& group, size_t atMost) {
  Tables& tables = context.tables;
  Followers& followers = group.second;
  auto next = followers.last ? followers.jobs.upper_bound(*followers.last) : followers.jobs.begin();
  size_t bytes = 0;
  bool changesTheQueue = false;
  for (; next != followers.jobs.end() && bytes < atMost; ++next) {
    Job& job = *tables.jobs.find(next->second);
    bytes += job.index.bytes;
    followers.last = *next;
    Profile known = asKnownNow(tables, job.record);
    if (!differsEnough(job.record.spec.profile, known)) continue;
    replaceProfile(context, job, std::move(known));
    changesTheQueue |= job.waits();
  }
  if (changesTheQueue) tables.jobs.queue().wakeAll();
  if (next != followers.jobs.end()) return bytes;
  followers.last.reset();
  followers.notBefore = context.now.steady + kRejudgingInterval;
  tables.jobs.followers().setDue(group, std::nullopt);
  noteLearned(context, group);
  return bytes;
}

}  // namespace

void noteLearned(EventContext& context, const std::string& application, const std::string& user) {
  Group* group = context.tables.jobs.followers().find({application, user});
  if (group != nullptr) noteLearned(context, *group);
}

void noteLearnedForAll(EventContext& context, const std::string& application) {
  for (Group* group : context.tables.jobs.followers().ofApplication(application)) {
    noteLearned(context, *group);
  }
}

void noteFollower(EventContext& context, const Job& job) {
  const JobRecord& record = job.record;
  if (!record.spec.profileLookedUp || !isOutdated(context.tables, job)) return;
  makeDue(context, *context.tables.jobs.followers().find({record.spec.profile.application, record.user}));
}

void judgeDue(EventContext& context) {
  FollowerTable& followers = context.tables.jobs.followers();
  size_t bytes = 0;
  while (bytes < kBytesJudgedAtOnce) {
    Group* group = followers.dueBy(context.now.steady);
    if (group == nullptr) return;
    bytes += goOn(context, *group, kBytesJudgedAtOnce - bytes);
  }
}

}  // namespace tarcil::master
