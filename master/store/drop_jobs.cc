#include "master/store/drop_jobs.h"

#include <algorithm>
#include <set>

namespace tarcil {

Result<std::vector<Mutation>> dropJobs(StoreContents& contents, const std::vector<std::string>& ids) {
  std::set<JobId> dropped;
  for (const std::string& text : ids) {
    const std::optional<JobId> id = parseJobId(text);
    if (!id) return invalid("'" + text + "' is no job id; write its 32 hexadecimal digits");
    if (std::ranges::find(contents.jobs, *id, &JobRecord::id) == contents.jobs.end()) {
      return invalid("the store has no job " + text);
    }
    dropped.insert(*id);
  }
  std::vector<Mutation> changes;
  for (const JobId& id : dropped) changes.emplace_back(EraseJob{id});
  for (const Profiling& profiling : contents.profilings) {
    if (dropped.contains(profiling.job)) changes.emplace_back(EraseProfiling{profiling.application});
  }
  std::erase_if(contents.jobs, [&dropped](const JobRecord& job) { return dropped.contains(job.id); });
  std::erase_if(contents.progress, [&dropped](const JobProgress& job) { return dropped.contains(job.id); });
  std::erase_if(contents.tasks, [&dropped](const TaskRecord& task) { return dropped.contains(task.job); });
  std::erase_if(contents.profilings, [&dropped](const Profiling& p) { return dropped.contains(p.job); });
  return changes;
}

}  // namespace tarcil
