#include "master/store/restoring.h"

#include <algorithm>
#include <map>
#include <set>

namespace tarcil {
namespace {

// Grants that a cluster may have made since the backup was taken: at 1000 a second, a hundred days. As much
// again is left to chance, so that two restores of one backup differ.
constexpr AllocationId kSpareAllocations = AllocationId{1} << 33;
// Jobs that a cluster may have accepted since, and of how many such steps chance takes one. The next job has
// a number that people recognise: 17,000,001.
constexpr JobNumber kSpareJobs = 1'000'000;
constexpr uint64_t kSpareJobSteps = 100;
// Milliseconds: a quarter of an hour.
constexpr uint64_t kSpareEpochs = 1 << 20;
// Versions of servers are made of allocation numbers, and those have to stay below this for it (startup.cc).
constexpr AllocationId kAllocationEnd = AllocationId{1} << 40;

// The queued tasks of unfinished exclusive jobs, with and without records.
void leaveAlone(const StoreContents& contents, std::vector<Mutation>& changes) {
  std::map<JobId, std::set<TaskIndex>> queued;
  for (const JobRecord& job : contents.jobs) {
    if (!job.spec.exclusive) continue;
    std::set<TaskIndex>& tasks = queued[job.id];
    for (TaskIndex task = 0; task < job.spec.tasks; ++task) tasks.insert(task);
  }
  for (const JobProgress& progress : contents.progress) {
    if (isFinal(progress.state)) queued.erase(progress.id);
  }
  const auto leave = [&changes](TaskRecord task) {
    task.mayRunFor = kOneServerTimeout;
    changes.emplace_back(Put{std::move(task)});
  };
  for (const TaskRecord& task : contents.tasks) {
    const auto job = queued.find(task.job);
    if (job == queued.end()) continue;
    job->second.erase(task.index);
    if (task.state == RunState::kQueued) leave(task);
  }
  for (const auto& [job, tasks] : queued) {
    for (TaskIndex index : tasks) {
      TaskRecord task;
      task.job = job;
      task.index = index;
      leave(std::move(task));
    }
  }
}

// What was revoked since the backup must not come back, and nobody knows what was.
void revokeTokens(const StoreContents& contents, std::vector<Mutation>& changes) {
  for (const TokenRecord& token : contents.tokens) changes.emplace_back(EraseToken{token.id});
}

}  // namespace

Result<std::vector<Mutation>> changesOfRestore(const StoreContents& contents, WallTime now, Rng& rng) {
  if (!contents.cluster)
    return invalid("no master has ever started on this store; there is nothing to restore");
  ClusterRecord cluster = *contents.cluster;
  // The time of the restore: a restore takes longer than a millisecond, so the next one gets another. Where
  // the clock has been set back, chance has to tell two restores of one backup apart.
  const auto stamp = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count();
  cluster.epoch = std::max(cluster.epoch + 1 + rng.below(kSpareEpochs), static_cast<uint64_t>(stamp));
  cluster.nextAllocation += kSpareAllocations + rng.below(kSpareAllocations);
  if (cluster.nextAllocation >= kAllocationEnd) {
    return invalid("its numbers of allocations are used up; start on a new store instead");
  }
  for (const JobRecord& job : contents.jobs) cluster.nextJob = std::max(cluster.nextJob, job.number + 1);
  cluster.nextJob = (cluster.nextJob / kSpareJobs + 2 + rng.below(kSpareJobSteps)) * kSpareJobs + 1;
  std::vector<Mutation> changes{Put{cluster}};
  std::set<JobId> running;
  for (TaskRecord task : contents.tasks) {
    if (task.state != RunState::kStarting) continue;
    task.state = RunState::kRunning;
    running.insert(task.job);
    changes.emplace_back(Put{std::move(task)});
  }
  for (JobProgress progress : contents.progress) {
    if (!running.contains(progress.id) || progress.state == RunState::kRunning) continue;
    progress.state = RunState::kRunning;
    changes.emplace_back(Put{std::move(progress)});
  }
  leaveAlone(contents, changes);
  revokeTokens(contents, changes);
  return changes;
}

}  // namespace tarcil
