#include "master/logic/health/learning.h"

#include <algorithm>

#include "master/logic/health/interference.h"
#include "master/logic/jobs/profiles.h"
#include "master/logic/jobs/rejudging.h"

namespace tarcil::master {
namespace {

bool isByOthers(const Cause& cause) {
  return cause.resource && (cause.kind == Cause::Kind::kNeighbour || cause.kind == Cause::Kind::kBackground);
}

// What the task feels of one resource: as much as would reach the bound of a profile that tolerates so much
// (JobView::tolerated, solved for t). 0 where it feels nothing.
int interferenceOf(const Tables& tables, const Hold& hold, size_t resource) {
  const Server& server = tables.servers.at(hold.server);
  const Pressure there = interferenceOn(residentOf(tables, hold), server, tables.settings.contention);
  const int share = server.share[resource];
  if (there[resource] == 0 || share == 0) return 0;
  return std::max(0, kMaxPressure - (kMaxPressure - there[resource]) * kShareUnit / share);
}

// Whether the job could have made up its violation, and so spoil another user's profile: by what its tasks
// say of themselves, by a target, or by what it says of earlier runs.
bool isTrusted(const JobRecord& job, const StoredProfile& stored, const Violation& violation) {
  if (job.user == stored.user) return true;
  return violation.metric != Metric::kReported && job.spec.performance && job.spec.performance->target == 0 &&
         job.spec.earlier.empty();
}

// Whether the job uses the stored profile, in which what its user's runs were observed to cause may have
// taken the place of some entries.
bool isStored(const Profile& used, const Profile& stored) {
  for (size_t i = 0; i < kResources; ++i) {
    const bool isObserved = used.origins.caused[i].origin == Origin::kObserved;
    if (!isObserved && used.caused[i] != stored.caused[i]) return false;
  }
  return true;
}

}  // namespace

void learnFrom(EventContext& context, const Hold& hold, const Violation& violation) {
  Tables& tables = context.tables;
  const Profile& used = hold.job->record.spec.profile;
  if (used.application.empty() || used.isAssumed || violation.causes.empty() ||
      !isByOthers(violation.causes.front()))
    return;
  const StoredProfile* found = findProfile(tables.profiles, used.application, hold.job->record.user);
  if (found == nullptr || !isStored(used, found->profile)) return;
  StoredProfile& stored = tables.profiles.at({found->owner(), found->profile.application});
  if (!isTrusted(hold.job->record, stored, violation)) return;
  if (!stored.history.empty() && context.now.wall - stored.history.back().at < kLessonInterval) return;

  const Resource resource = *violation.causes.front().resource;
  const auto i = static_cast<size_t>(resource);
  const int interference = interferenceOf(tables, hold, i), tolerated = stored.profile.tolerated[i];
  if (interference == 0 || interference > tolerated) return;
  const auto lowered = static_cast<uint8_t>(std::max(interference - 1, tolerated - kMaxLowered));
  stored.profile.tolerated[i] = lowered;
  stored.profile.origins.tolerated[i] = {Origin::kObserved};
  if (stored.history.size() == kMaxLessons) stored.history.erase(stored.history.begin());
  stored.history.push_back({.at = context.now.wall,
                            .resource = resource,
                            .from = static_cast<uint8_t>(tolerated),
                            .to = lowered,
                            .interference = static_cast<uint8_t>(interference),
                            .share = partOfExpected(violation)});
  ++stored.revision;
  context.out.put(stored);
  noteLearnedForAll(context, stored.profile.application);
}

}  // namespace tarcil::master
