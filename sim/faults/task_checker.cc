#include "sim/faults/task_checker.h"

#include "sim/faults/mixed_jobs.h"

namespace tarcil::sim {
namespace {

std::string shown(AllocationId allocation) {
  return "allocation " + std::to_string(allocation);
}

}  // namespace

const TaskChecker::Seen* TaskChecker::find(AllocationId allocation) const {
  const auto found = seen_.find(allocation);
  return found == seen_.end() ? nullptr : &found->second;
}

void TaskChecker::starts(const std::string& machine, const LaunchSpec& spec) {
  const auto which = spec.env.find(kWhich);
  if (which != spec.env.end() && which->second != whichOf(spec.task))
    world_.violated("task " + std::to_string(spec.task) + " is started with " + which->second +
                    " as its item");
  const auto [found, isFirst] = seen_.try_emplace(spec.allocation);
  if (!isFirst && !found->second.isGone) world_.violated(shown(spec.allocation) + " was started twice");
  found->second = {spec, machine, std::nullopt};
  found->second.isOfBefore = spec.allocation < firstOfMaster_;
  world_.countStart(spec.job, spec.task);
  ++running_;
  ++started_;
  own(spec);
  if (!spec.exclusive) return;
  const auto [other, isAlone] = exclusive_.emplace(Task(spec.job, spec.task), spec.allocation);
  if (!isAlone) {
    world_.violated("an exclusive task has two live copies: " + shown(other->second) + " on " +
                    seen_.at(other->second).machine + " and " + shown(spec.allocation) + " on " + machine);
  }
}

void TaskChecker::ended(AllocationId allocation, const TaskEnd& end) {
  Seen& seen = seen_.at(allocation);
  seen.end = end;
  release(seen);
}

void TaskChecker::forgotten(AllocationId allocation) {
  if (const auto found = seen_.find(allocation); found != seen_.end()) found->second.isForgotten = true;
}

void TaskChecker::machineLost(const std::string& machine) {
  for (auto& [allocation, seen] : seen_) {
    if (seen.machine != machine || seen.isGone) continue;
    if (!seen.end) release(seen);
    seen.isGone = true;
  }
}

void TaskChecker::monitorShutDown(const std::string& machine) {
  for (auto& [allocation, seen] : seen_) {
    if (seen.machine == machine && !seen.isGone && !seen.end) seen.isShutDown = true;
  }
}

void TaskChecker::backupRestored(AllocationId next) {
  firstOfMaster_ = next;
  for (auto& [allocation, seen] : seen_) seen.isOfBefore = true;
}

void TaskChecker::resized(AllocationId allocation, const std::vector<RuIndex>& rus) {
  LaunchSpec& spec = seen_.at(allocation).spec;
  disown(spec);
  spec.rus = rus;
  own(spec);
}

void TaskChecker::own(const LaunchSpec& spec) {
  for (const Thing& thing : thingsOf(spec)) {
    const auto [owner, isFree] = owners_.emplace(thing, spec.allocation);
    if (isFree) continue;
    world_.violated(thing.second + " of " + thing.first + " has two owners: " + shown(owner->second) +
                    " and " + shown(spec.allocation));
  }
}

void TaskChecker::disown(const LaunchSpec& spec) {
  for (const Thing& thing : thingsOf(spec)) {
    const auto owner = owners_.find(thing);
    if (owner != owners_.end() && owner->second == spec.allocation) owners_.erase(owner);
  }
}

void TaskChecker::release(const Seen& seen) {
  --running_;
  disown(seen.spec);
  const auto copy = exclusive_.find({seen.spec.job, seen.spec.task});
  if (copy != exclusive_.end() && copy->second == seen.spec.allocation) exclusive_.erase(copy);
}

std::vector<TaskChecker::Thing> TaskChecker::thingsOf(const LaunchSpec& spec) {
  std::vector<Thing> things;
  for (const RuIndex ru : spec.rus) things.emplace_back(spec.server, "unit " + std::to_string(ru));
  for (const auto& [kind, numbers] : spec.extras) {
    for (const uint16_t number : numbers) {
      things.emplace_back(spec.server, kind + " " + std::to_string(number));
    }
  }
  return things;
}

}  // namespace tarcil::sim
