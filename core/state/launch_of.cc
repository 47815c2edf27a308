#include "core/state/launch_of.h"

#include <algorithm>

#include "core/model/array.h"

namespace tarcil {

LaunchSpec launchOf(const JobRecord& record, TaskIndex index, const TaskUnits& units) {
  const JobSpec& spec = record.spec;
  LaunchSpec launch;
  static_cast<TaskSpec&>(launch) = specOfTask(spec, index, units.attempt);
  launch.user = record.runAs;
  launch.submitter = record.user;
  launch.allocation = units.allocation;
  launch.job = record.id;
  launch.jobName = spec.name;
  launch.task = index;
  launch.attempt = units.attempt;
  launch.tasks = spec.tasks;
  launch.rus = units.rus;
  launch.extras = units.extras;
  launch.hasFiles = record.hasFiles;
  launch.caused = spec.profile.caused;
  launch.tolerated = spec.profile.tolerated;
  launch.measures = !spec.measures.empty();
  return launch;
}

void growMemory(LaunchSpec& launch, size_t unitsMore, const ServerFacts& facts) {
  if (unitsMore == 0 || launch.limits.memoryBytes == 0) return;
  launch.limits.memoryBytes += unitsMore * (facts.memoryBytes / std::max(1u, facts.rus));
}

size_t unitsMore(const JobSpec& spec, size_t units) {
  return std::max<size_t>(units, spec.rusPerTask) - spec.rusPerTask;
}

}  // namespace tarcil
