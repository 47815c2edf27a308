#include "agent/late/task_servers.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "core/model/constraint.h"

namespace tarcil {

namespace {

class Lists {
 public:
  Lists(const Placement& placement, const SuitableServers& suitable)
      : placement_(placement), suitable_(suitable), ofJob_(numbersOf(placement.prefer)) {
    for (const auto& [task, names] : placement.preferOfTask) preferred_.emplace(task, numbersOf(names));
    for (const auto& [task, required] : placement.requireOfTask) {
      auto& servers = meeting_[required];
      if (servers.empty()) servers = suitable.meeting(required);
    }
  }

  // Whether the task may run wherever the job's tasks may.
  bool isFree(TaskIndex task) const { return requiredBy(task) == nullptr && preferredBy(task).empty(); }

  std::vector<ServerId> of(TaskIndex task) const {
    const std::vector<ServerId>* const required = requiredBy(task);
    const std::vector<ServerId>& preferred = preferredBy(task);
    if (required == nullptr) return preferred.empty() ? suitable_.all : preferred;
    std::vector<ServerId> both;
    std::ranges::set_intersection(preferred, *required, std::back_inserter(both));
    return both.empty() ? *required : both;
  }

 private:
  // Names are looked up once, however many tasks there are.
  std::vector<ServerId> numbersOf(const std::vector<std::string>& names) const {
    std::vector<ServerId> servers;
    for (const std::string& name : names) {
      if (const auto server = suitable_.usable(name)) servers.push_back(*server);
    }
    std::ranges::sort(servers);
    servers.erase(std::unique(servers.begin(), servers.end()), servers.end());
    return servers;
  }

  const std::vector<ServerId>& preferredBy(TaskIndex task) const {
    const auto own = preferred_.find(task);
    return own == preferred_.end() ? ofJob_ : own->second;
  }

  const std::vector<ServerId>* requiredBy(TaskIndex task) const {
    const auto required = placement_.requireOfTask.find(task);
    return required == placement_.requireOfTask.end() ? nullptr : &meeting_.at(required->second);
  }

  const Placement& placement_;
  const SuitableServers& suitable_;
  const std::vector<ServerId> ofJob_;
  std::map<TaskIndex, std::vector<ServerId>> preferred_;
  std::map<std::vector<Constraint>, std::vector<ServerId>> meeting_;  // by what is required
};

}  // namespace

Result<std::vector<std::vector<ServerId>>> serversOfTasks(const Placement& placement,
                                                          const std::vector<TaskIndex>& tasks,
                                                          const SuitableServers& suitable) {
  const Lists found(placement, suitable);
  std::vector<std::vector<ServerId>> lists;
  if (std::ranges::all_of(tasks, [&](TaskIndex task) { return found.isFree(task); })) return lists;
  lists.reserve(tasks.size());
  size_t length = 0;
  for (TaskIndex task : tasks) {
    std::vector<ServerId> list = found.of(task);
    length += list.size();
    if (list.empty() && placement.requireOfTask.contains(task)) {
      return invalid("task " + std::to_string(task) + " requires " +
                     describe(placement.requireOfTask.at(task)) +
                     ": no server that takes late-bound tasks of this job is one; change placement.require");
    }
    if (length <= kMaxTaskServers) lists.push_back(std::move(list));
  }
  if (length > kMaxTaskServers) {
    return Error{ErrorCode::kExhausted, "its tasks and the servers that each may run on make " +
                                            std::to_string(length) + " pairs, more than " +
                                            std::to_string(kMaxTaskServers) +
                                            "; write fewer tasks, or let fewer of them prefer servers"};
  }
  return lists;
}

size_t countTaskServers(const std::vector<std::vector<ServerId>>& lists) {
  size_t count = 0;
  for (const auto& list : lists) count += list.size();
  return count;
}

}  // namespace tarcil
