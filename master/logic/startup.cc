#include "master/logic/startup.h"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>
#include <vector>

#include "core/base/units.h"
#include "master/logic/cron/cron_jobs.h"
#include "master/logic/health/resizing.h"
#include "master/logic/jobs/dependencies.h"
#include "master/logic/jobs/job_numbers.h"
#include "master/logic/jobs/rejudging.h"
#include "master/logic/jobs/task_life.h"
#include "master/logic/jobs/uploads.h"
#include "master/logic/people/account_bounds.h"
#include "master/logic/servers/job_resident.h"
#include "master/logic/servers/steering.h"
#include "master/store/restoring.h"

namespace tarcil::master {
namespace {

// Versions of servers begin this many bits above the counter of allocations. The counter rises with each
// start and each grant, and no server changes 2^24 times per allocation, so no version of one start is met
// again in a later one: agents may keep their copies across a restart, and a claim made before it never
// passes unchecked.
constexpr int kVersionBits = 24;

// A new store's numbers of allocations begin at a random one of so many blocks: monitors may have outlived
// the store before it, and refuse what they know by number. Below 2^40, so that versions have their bits.
constexpr uint64_t kFirstBlocks = uint64_t{1} << 26;

ClusterRecord clusterOf(const StoreContents& contents) {
  ClusterRecord cluster = contents.cluster.value_or(ClusterRecord{});
  for (const TaskRecord& task : contents.tasks) {
    cluster.nextAllocation = std::max(cluster.nextAllocation, task.allocation + 1);
  }
  return cluster;
}

std::string randomName(Rng& rng) {
  JobId id;
  for (uint8_t& byte : id.bytes) byte = static_cast<uint8_t>(rng());
  return toString(id).substr(0, 16);
}

// Puts the task back on its server. A store that names no such server cannot say what became of the task.
void restoreTask(EventContext& context, Job& job, const TaskRecord& task) {
  Tables& tables = context.tables;
  Server* server = tables.servers.find(task.server);
  if (server == nullptr) {
    TaskEnd end;
    end.cause = EndCause::kLost;
    end.problem = "server " + task.server + " is not in the store";
    end.ended = context.now.wall;
    concludeAttempt(context, job, task.index, end, tables.options.serverTimeout);
    return;
  }
  const JobSpec& spec = job.record.spec;
  tables.servers.restore(*server, residentOf(spec, task.allocation, task.rus, task.extras));
  tables.jobs.hold(task.allocation, {&job, task.index, server->record.id, unitsKept(tables, spec, *server)});
}

void restoreJob(EventContext& context, Job& job) {
  if (isFinal(job.progress.state)) return;
  Agent& owner = context.tables.agents.named(job.progress.owner);
  owner.jobs.insert(job.record.id);
  if (!owner.deadline) owner.overdue = true;  // nobody the store knows
  job.tasks.forEachRecord([&context, &job](TaskRecord& task) {
    if (task.mayRunFor == kOneServerTimeout) task.mayRunFor = context.tables.options.serverTimeout;
    if (isActive(task.state)) restoreTask(context, job, task);
  });
  noteFollower(context, job);
}

Profiles profilesOf(std::vector<StoredProfile> stored) {
  Profiles profiles;
  for (StoredProfile& profile : stored) {
    std::pair key{profile.owner(), profile.profile.application};
    profiles[std::move(key)] = std::move(profile);
  }
  return profiles;
}

Profilings profilingsOf(std::vector<Profiling> stored) {
  Profilings profilings;
  for (Profiling& profiling : stored) {
    const std::string application = profiling.application;
    profilings[application] = std::move(profiling);
  }
  return profilings;
}

ObservedProfiles observedOf(std::vector<ObservedProfile> stored) {
  ObservedProfiles observed;
  for (ObservedProfile& each : stored) {
    std::pair key{each.user, each.application};
    observed.emplace(std::move(key), std::move(each));
  }
  return observed;
}

// With a clock that is wrong the history would be erased at once, and for good.
constexpr Duration kDoubtfulGap = std::chrono::days(1);
constexpr Duration kTimeToMendTheClock = std::chrono::hours(1);

void judgeClock(Tables& tables) {
  const Duration gap = tables.began.wall - tables.jobs.latest();
  if (tables.options.readOnly || tables.jobs.latest() == kNever || gap < kDoubtfulGap) return;
  tables.doubtfulGap = gap;
  tables.ageCountsFrom = tables.began.steady + kTimeToMendTheClock;
}

// How far beyond its bounds for submissions a master starts.
constexpr uint64_t kTimesTheBound = 2;
constexpr size_t kLargestNamed = 3;

}  // namespace

Status requireRoom(const MasterOptions& options, const StoreContents& contents) {
  if (options.readOnly) return {};
  std::set<JobId> finished;
  for (const JobProgress& progress : contents.progress) {
    if (isFinal(progress.state)) finished.insert(progress.id);
  }
  uint64_t bytes = 0;
  std::vector<std::pair<uint64_t, const JobRecord*>> bySize;
  for (const JobRecord& job : contents.jobs) {
    if (finished.contains(job.id)) continue;
    const uint64_t size = bytesOf(job);
    bytes += size;
    bySize.emplace_back(size, &job);
  }
  std::string beyond;
  if (bytes > kTimesTheBound * options.maxUnfinishedBytes) {
    beyond = "may take " + formatSize(bytes) + " of memory, more than twice --max-jobs-size (" +
             formatSize(options.maxUnfinishedBytes) + ")";
  } else if (bySize.size() > kTimesTheBound * options.maxUnfinished) {
    beyond = "are " + std::to_string(bySize.size()) + ", more than twice --max-jobs (" +
             std::to_string(options.maxUnfinished) + ")";
  } else {
    return {};
  }
  const size_t named = std::min(kLargestNamed, bySize.size());
  std::partial_sort(bySize.begin(), bySize.begin() + static_cast<ptrdiff_t>(named), bySize.end(),
                    std::greater<>());
  bySize.resize(named);
  std::string names;
  for (const auto& [size, job] : bySize) {
    names +=
        (names.empty() ? "" : ", ") + toString(job->id) + " of " + job->user + " (" + formatSize(size) + ")";
  }
  return invalid("the store's unfinished jobs " + beyond + "; the largest: " + names +
                 ". Raise the bound, start without some of them (--drop-job ID, once for each), or look at "
                 "them first: --read-only changes nothing");
}

Tables tablesFrom(const MasterOptions& options, StoreContents contents, Now now, const TimeZones& zones) {
  const ClusterRecord cluster = clusterOf(contents);
  return Tables{
      options,
      now,
      cluster,
      cluster.nextJob,
      cluster.nextAllocation,
      contents.settings.value_or(QualitySettings{}),
      ServerTable(std::move(contents.servers), contents.platforms, cluster.nextAllocation << kVersionBits,
                  now.steady + options.serverTimeout),
      JobTable(std::move(contents.jobs), std::move(contents.progress), std::move(contents.tasks),
               options.ageing, now.wall),
      AgentTable(std::move(contents.agents), std::move(contents.answers), now.steady + options.agentTimeout),
      UsageTable(std::move(contents.usage)),
      profilesOf(std::move(contents.profiles)),
      profilingsOf(std::move(contents.profilings)),
      observedOf(std::move(contents.observed)),
      UploadTable(contents.uploads),
      CronTable(std::move(contents.crons), zones),
      MemberTable(std::move(contents.members)),
      PeopleTable(std::move(contents.users), std::move(contents.accounts), std::move(contents.tokens)),
      SecretTable(std::move(contents.secrets)),
      DependencyTable(),
      std::nullopt,
      std::nullopt,
      std::nullopt,
      {},
      std::nullopt};
}

void start(EventContext& context, Rng& rng) {
  Tables& tables = context.tables;
  judgeClock(tables);
  WaitingOrder& order = tables.jobs.queue().order();
  for (const auto& [user, usage] : tables.usage.all()) order.setShares(order.numberOf(user), usage.shares);
  placeAllInAccounts(tables);
  for (auto& [id, job] : tables.jobs.all()) restoreJob(context, job);
  tables.servers.rebuildAll();
  resumeDrains(context);
  restoreExtraUnits(context);
  dropOverdueUploads(context);
  if (tables.cluster.cluster.empty()) {
    tables.cluster.cluster = randomName(rng);
    tables.nextAllocation += rng.below(kFirstBlocks) * kAllocationBlock;
  }
  numberJobs(context);
  for (auto& [id, job] : tables.jobs.all()) {
    if (!isFinal(job.progress.state) && !job.progress.cancelRequested) awaitOthers(context, job);
  }
  resumeCrons(context);
  tables.cluster.nextAllocation = tables.nextAllocation + kAllocationBlock;
  context.out.put(tables.cluster);
  if (tables.settings.version == 0) {
    tables.settings.version = 1;
    context.out.put(tables.settings);
  }
}

}  // namespace tarcil::master
