#include "agent/late/task_servers.h"

#include <algorithm>
#include <map>

namespace tarcil {

Result<std::vector<std::vector<ServerId>>> serversOfTasks(
    const Placement& placement, const std::vector<TaskIndex>& tasks,
    const std::function<std::optional<ServerId>(const std::string&)>& usable,
    const std::vector<ServerId>& feasible) {
  const auto numbersOf = [&usable](const std::vector<std::string>& names) {
    std::vector<ServerId> servers;
    for (const std::string& name : names) {
      if (const auto server = usable(name)) servers.push_back(*server);
    }
    std::sort(servers.begin(), servers.end());
    servers.erase(std::unique(servers.begin(), servers.end()), servers.end());
    return servers;
  };
  // Names are looked up once, however many tasks there are.
  const std::vector<ServerId> ofJob = numbersOf(placement.prefer);
  std::map<TaskIndex, std::vector<ServerId>> ofTask;
  for (const auto& [task, names] : placement.preferOfTask) ofTask.emplace(task, numbersOf(names));
  const auto preferredBy = [&](TaskIndex task) -> const std::vector<ServerId>& {
    const auto own = ofTask.find(task);
    return own == ofTask.end() ? ofJob : own->second;
  };
  const auto listOf = [&](TaskIndex task) -> const std::vector<ServerId>& {
    const auto& preferred = preferredBy(task);
    return preferred.empty() ? feasible : preferred;
  };
  const auto prefersNone = [&](TaskIndex task) { return preferredBy(task).empty(); };
  std::vector<std::vector<ServerId>> lists;
  if (std::ranges::all_of(tasks, prefersNone)) return lists;
  size_t length = 0;
  for (TaskIndex task : tasks) length += listOf(task).size();
  if (length > kMaxTaskServers) {
    return Error{ErrorCode::kExhausted, "its tasks and the servers that each may run on make " +
                                            std::to_string(length) + " pairs, more than " +
                                            std::to_string(kMaxTaskServers) +
                                            "; write fewer tasks, or let fewer of them prefer servers"};
  }
  lists.reserve(tasks.size());
  for (TaskIndex task : tasks) lists.push_back(listOf(task));
  return lists;
}

size_t countTaskServers(const std::vector<std::vector<ServerId>>& lists) {
  size_t count = 0;
  for (const auto& list : lists) count += list.size();
  return count;
}

}  // namespace tarcil
