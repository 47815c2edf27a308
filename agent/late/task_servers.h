// Where each task of a late-bound job may run that prefers servers (Sparrow section 4.1).
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

// A list for each of `tasks`, the job's numbers of them, ascending and without duplicates: of the servers
// that the task prefers those that `usable` gives a number for, else `feasible`, ascending. Empty where no
// task has one to prefer: then all are alike. Exhausted where the lists together are longer than
// kMaxTaskServers. O(names in the placement + length of the lists).
Result<std::vector<std::vector<ServerId>>> serversOfTasks(
    const Placement& placement, const std::vector<TaskIndex>& tasks,
    const std::function<std::optional<ServerId>(const std::string&)>& usable,
    const std::vector<ServerId>& feasible);

// The length of the lists together.
size_t countTaskServers(const std::vector<std::vector<ServerId>>& lists);

}  // namespace tarcil
