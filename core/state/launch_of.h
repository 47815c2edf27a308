// What is launched of a task: agents send it to monitors, and the master signs it by its own record of the
// job.
#pragma once

#include <vector>

#include "core/model/launch.h"
#include "core/state/job_state.h"
#include "core/state/server.h"

namespace tarcil {

// What the master has granted a task.
struct TaskUnits {
  AllocationId allocation = 0;
  uint32_t attempt = 0;
  std::vector<RuIndex> rus;
  ExtraNumbers extras{};
};

// All but what depends on the server: its name, `earlier` and `gang`. A memory limit is the job's own.
LaunchSpec launchOf(const JobRecord& record, TaskIndex index, const TaskUnits& units);

// For a server of which the task got more units than its job asks for: a memory limit grows in proportion.
// `unitsMore`: 0 where it got none more.
void growMemory(LaunchSpec& launch, size_t unitsMore, const ServerFacts& facts);

// How many more units these are than those that a task of the job asks for.
size_t unitsMore(const JobSpec& spec, size_t units);

}  // namespace tarcil
