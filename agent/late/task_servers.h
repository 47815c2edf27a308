// Where each task of a late-bound job may run that prefers or requires servers (Sparrow section 4.1).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/job.h"
#include "core/state/server.h"

namespace tarcil {

// A job holds a place for each pair of a task and a server that it may run on.
inline constexpr size_t kMaxTaskServers = 1'000'000;

// The servers that suit a job.
struct SuitableServers {
  std::vector<ServerId> all;  // ascending, up or not
  // The number of one that is up; nullopt for others.
  std::function<std::optional<ServerId>(const std::string& name)> usable;
  // Those that meet the constraints, ascending, up or not.
  std::function<std::vector<ServerId>(const std::vector<Constraint>&)> meeting;
};

// A list for each of `tasks`, the job's numbers of them, ascending and without duplicates: the usable servers
// that the task prefers, of those that it requires; where there are none all that it requires, up or not,
// since it waits for these; else all. Empty where no task has one to prefer and none requires any: then all
// are alike. Invalid where a task requires what no server is. Exhausted where the lists together are longer
// than kMaxTaskServers. O(names in the placement + length of the lists).
Result<std::vector<std::vector<ServerId>>> serversOfTasks(const Placement& placement,
                                                          const std::vector<TaskIndex>& tasks,
                                                          const SuitableServers& suitable);

// The length of the lists together.
size_t countTaskServers(const std::vector<std::vector<ServerId>>& lists);

}  // namespace tarcil
