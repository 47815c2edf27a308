#include "sim/workload/workload.h"

#include <algorithm>

namespace tarcil::sim {

void Workload::add(SimJob job, const std::vector<Duration>& tasks) {
  job.firstTask = static_cast<TaskNumber>(work.size());
  job.tasks = static_cast<uint32_t>(tasks.size());
  jobs.push_back(job);
  work.insert(work.end(), tasks.begin(), tasks.end());
}

void Workload::add(SimJob job, uint32_t tasks, Duration each) {
  job.firstTask = static_cast<TaskNumber>(work.size());
  job.tasks = tasks;
  jobs.push_back(job);
  work.resize(work.size() + tasks, each);
}

Duration Workload::longest(const SimJob& job) const {
  const auto first = work.begin() + job.firstTask;
  return *std::max_element(first, first + job.tasks);
}

double Workload::ruSeconds() const {
  double sum = 0;
  for (const SimJob& job : jobs) {
    for (TaskNumber task = job.firstTask; task < job.firstTask + job.tasks; ++task) {
      sum += static_cast<double>(work[task].count()) * 1e-6 * job.rus;
    }
  }
  return sum;
}

}  // namespace tarcil::sim
