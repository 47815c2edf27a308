#include "monitor/pressure/task_readers.h"

#include <sys/resource.h>

#include <set>

namespace tarcil {
namespace {

// Of the process's descriptors a quarter: there are readers for the pressures and for the performance of
// tasks, and the monitor's own work needs some.
size_t mostDescriptors() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? static_cast<size_t>(limit.rlim_cur) / 4 : 0;
}

}  // namespace

std::vector<uint32_t> coresForCounters(const RunningTask& task, const std::vector<uint32_t>& all) {
  return task.cores.empty() ? all : task.cores;
}

TaskReader* TaskReaders::of(const RunningTask& task, const std::vector<uint32_t>& interfaces) {
  const auto cores = coresForCounters(task, cores_);
  if (const auto found = readers_.find(task.allocation); found != readers_.end()) {
    if (found->second.cores == cores) return &found->second.reader;
    readers_.erase(found);  // it was resized
  }
  if ((readers_.size() + 1) * TaskReader::descriptors(cores.size()) > mostDescriptors()) return nullptr;
  return &readers_.try_emplace(task.allocation, Open{cores, TaskReader(task.cgroups, cores, interfaces)})
              .first->second.reader;
}

void TaskReaders::closeAllBut(const std::vector<RunningTask>& running) {
  std::set<AllocationId> here;
  for (const RunningTask& task : running) here.insert(task.allocation);
  std::erase_if(readers_, [&here](const auto& entry) { return !here.contains(entry.first); });
}

}  // namespace tarcil
