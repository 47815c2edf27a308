// everFeasible() of chooser.h: what is wrong with a job that no server could ever take, in words that its
// owner can act on.
#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "core/base/units.h"
#include "core/decide/chooser.h"
#include "core/decide/group_flow.h"
#include "core/decide/spread_count.h"
#include "core/model/constraint.h"
#include "core/state/extras.h"

namespace tarcil {
namespace {

constexpr size_t kMaxListed = 8;

using Texts = std::unordered_set<std::string_view>;

// "a, b, c" in alphabetical order, cut where it grows long.
std::string listed(const Texts& items) {
  std::vector<std::string_view> first(std::min(items.size(), kMaxListed));
  std::partial_sort_copy(items.begin(), items.end(), first.begin(), first.end());
  std::string text;
  for (const std::string_view item : first) {
    if (!text.empty()) text += ", ";
    text += item.empty() ? "(empty)" : item;
  }
  if (first.size() == items.size()) return text;
  return text + " and " + std::to_string(items.size() - first.size()) + " more";
}

// What the servers have instead, for a constraint that none of them meets.
std::string whatThereIs(const ClusterState& state, const std::string& attribute) {
  Texts names{"platform", "rack", "server"}, values;
  for (ServerId id = 0; id < state.size(); ++id) {
    if (!state.all().contains(id)) continue;
    if (const auto value = state.attribute(id, attribute)) values.insert(*value);
    for (const auto& [name, value] : state.attributes(id)) names.insert(name);
  }
  if (values.empty()) return "no server has the attribute " + attribute + "; there are " + listed(names);
  return "for " + attribute + " the cluster has " + listed(values);
}

Error unmet(const ClusterState& state, const std::vector<Constraint>& constraints) {
  for (const Constraint& constraint : constraints) {
    const ServerNeeds needs{{constraint}, {}};
    ServerId id = 0;
    while (id < state.size() && !(state.all().contains(id) && state.meets(id, needs))) ++id;
    if (id == state.size()) {
      return invalid("no server meets the constraint " + describe(constraint) + ": " +
                     whatThereIs(state, constraint.attribute));
    }
  }
  return invalid("no server meets all constraints together (" + describe(constraints) +
                 "): each is met by some server; leave out the one that matters least");
}

// What the servers that meet a job's constraints could hold of it, were they all up and empty.
class Capacity {
 public:
  Capacity(const ClusterState& state, const JobSpec& spec) : spec_(spec), inDomain_(state, spec.placement) {}

  // Returns the slots of the server.
  uint64_t add(ServerId server, const Vacancy& vacancy, const Extras& extras, const ByteSupply& bytes) {
    ++servers_;
    largest_ = std::max<uint32_t>(largest_, vacancy.rus);
    const uint64_t slotsByUnits = vacancy.rus / spec_.rusPerTask;
    const uint64_t slots = std::min({slotsByUnits, slotsByExtras(extras), slotsByBytes(bytes)});
    slotsByUnits_ += slotsByUnits;
    slots_ += slots;
    if (inDomain_.isLimited()) {
      const auto more = static_cast<uint32_t>(std::min<uint64_t>(slots, inDomain_.room(server)));
      inDomain_.add(server, more);
      spread_ += more;
    }
    return slots;
  }

  uint64_t servers() const { return servers_; }
  uint32_t largest() const { return largest_; }
  uint64_t slots() const { return slots_; }
  // As if extras did not count.
  uint64_t slotsByUnits() const { return slotsByUnits_; }
  // The most of a kind on one server.
  const Extras& mostExtras() const { return mostExtras_; }
  // The most of memory and of disk that one server gives; UINT64_MAX where it is not counted.
  uint64_t mostMemory() const { return mostMemory_; }
  uint64_t mostDisk() const { return mostDisk_; }
  // Slots within what placement.spread allows.
  uint64_t spreadSlots() const { return inDomain_.isLimited() ? spread_ : slots_; }

 private:
  uint64_t slotsByExtras(const Extras& there) {
    for (const auto& [kind, count] : there) mostExtras_[kind] = std::max(mostExtras_[kind], count);
    uint64_t slots = UINT64_MAX;
    for (const auto& [kind, needed] : spec_.extras) {
      const auto found = there.find(kind);
      slots = std::min<uint64_t>(slots, found == there.end() ? 0 : found->second / needed);
    }
    return slots;
  }

  uint64_t slotsByBytes(const ByteSupply& there) {
    const auto more = [](uint64_t most, uint64_t amount) {
      return amount == 0 ? kUncounted : std::max(most, amount);
    };
    mostMemory_ = more(mostMemory_, there.allocatable.memory);
    mostDisk_ = more(mostDisk_, there.allocatable.disk);
    return timesFitting(there.allocatable, {}, claimed(spec_.byteRequest(), spec_.rusPerTask, there));
  }

  static constexpr uint64_t kUncounted = UINT64_MAX;

  const JobSpec& spec_;
  uint64_t mostMemory_ = 0, mostDisk_ = 0;
  uint64_t servers_ = 0, slots_ = 0, slotsByUnits_ = 0, spread_ = 0;
  uint32_t largest_ = 0;
  Extras mostExtras_;
  SpreadCount inDomain_;
};

// A gang's tasks start at once; others may run one after the other.
uint64_t slotsNeeded(const JobSpec& spec) {
  return spec.schedule == Schedule::kGang ? spec.mostAtOnce() : 1;
}

// How a gang of too many tasks is made to fit.
std::string remedy(uint64_t fits) {
  return "set tasks (a gang starts at once) to at most " + std::to_string(fits) +
         ", or leave schedule: gang out";
}

// Extras of which no server that meets the job's constraints has as many as one task needs; nothing where
// there is no such kind.
std::optional<Error> tooFewOfAKind(const JobSpec& spec, const Extras& most) {
  for (const auto& [kind, needed] : spec.extras) {
    const std::string need = "a task needs " + std::to_string(needed) + " " + kind;
    const auto there = most.find(kind);
    if (most.empty()) return invalid(need + ", and no server that suits it has extras: leave extras out");
    if (there == most.end()) {
      return invalid(need + ", and no server that suits it has that; one has at most " + inWords(most) +
                     ": change extras." + kind + " or leave it out");
    }
    if (there->second < needed) {
      return invalid(need + " on one server; the most that one that suits it has is " +
                     std::to_string(there->second) + ": lower extras." + kind);
    }
  }
  return std::nullopt;
}

// Memory or disk of which no server that meets the job's constraints has as much as one task asks for.
std::optional<Error> tooLittleOf(const char* what, uint64_t asked, uint64_t most, const std::string& field) {
  if (asked <= most) return std::nullopt;
  return invalid("a task asks for " + formatSize(asked) + " of " + what +
                 "; a server that suits it gives at most " + formatSize(most) + ": lower " + field);
}

// "each with 2 units, 8 GiB of memory and 1 gpus".
std::string eachWith(const JobSpec& spec) {
  std::string text = "each with " + std::to_string(spec.rusPerTask) + " units";
  if (spec.limits.memoryBytes > 0) text += ", " + formatSize(spec.limits.memoryBytes) + " of memory";
  if (spec.limits.diskBytes > 0) text += ", " + formatSize(spec.limits.diskBytes) + " of disk";
  if (!spec.extras.empty()) text += ", " + inWords(spec.extras);
  return text;
}

// Of a job whose tasks would fit but for their extras, memory or disk.
Error tooLittleBesideUnits(const JobSpec& spec, const Capacity& capacity) {
  if (auto error = tooFewOfAKind(spec, capacity.mostExtras())) return *error;
  if (auto error = tooLittleOf("memory", spec.limits.memoryBytes, capacity.mostMemory(), "limits.memory")) {
    return *error;
  }
  if (auto error = tooLittleOf("disk", spec.limits.diskBytes, capacity.mostDisk(), "limits.disk"))
    return *error;
  const std::string each = eachWith(spec);
  if (capacity.slots() == 0) {
    return invalid("no server that suits it has room for a task, " + each +
                   ": lower one of them, or leave something out");
  }
  return invalid("places " + std::to_string(slotsNeeded(spec)) + " tasks at once, " + each +
                 "; the servers that suit it have enough for " + std::to_string(capacity.slots()) + ": " +
                 remedy(capacity.slots()));
}

Error tooLarge(const JobSpec& spec, const Capacity& capacity) {
  if (capacity.slots() < slotsNeeded(spec) && capacity.slots() < capacity.slotsByUnits())
    return tooLittleBesideUnits(spec, capacity);
  const std::string rus = std::to_string(spec.rusPerTask);
  if (capacity.slots() == 0) {
    return invalid("a task needs " + rus + " units on one server; the largest that suits it has " +
                   std::to_string(capacity.largest()) + ": lower rus_per_task");
  }
  const uint64_t tasks = slotsNeeded(spec);
  if (capacity.slots() < tasks) {
    const std::string each =
        spec.rusPerTask == 1 ? "" : " (" + std::to_string(tasks) + " tasks of " + rus + ")";
    return invalid("needs " + std::to_string(tasks * spec.rusPerTask) + " units at once" + each +
                   ", the servers that suit it have " + std::to_string(capacity.slots() * spec.rusPerTask) +
                   " for it: " + remedy(capacity.slots()));
  }
  return invalid("places " + std::to_string(tasks) + " tasks at once; with at most " +
                 std::to_string(spec.placement.atMost) + " on a " + spec.placement.spread +
                 " the servers that suit it take " + std::to_string(capacity.spreadSlots()) +
                 ": raise placement.at_most or " + remedy(capacity.spreadSlots()));
}

// Calls visit(server) for those that meet the constraints, while it returns true.
template <typename Visit>
void forEachMeeting(const ClusterState& state, const std::vector<Constraint>& constraints,
                    const Visit& visit) {
  const ServerNeeds needs{constraints, {}};
  if (const Constraint* list = listIn(constraints)) {
    for (ServerId id : state.listedBy(*list)) {
      if (state.meets(id, needs) && !visit(id)) return;
    }
    return;
  }
  const ServerSet& feasible = state.meeting(needs);
  for (ServerId id = 0; id < state.size(); ++id) {
    if (feasible.contains(id) && !visit(id)) return;
  }
}

// The same but for what single tasks require.
Status everFeasibleAlike(const ClusterState& state, const JobSpec& spec) {
  Capacity capacity(state, spec);
  const auto isEnough = [&] { return capacity.spreadSlots() >= slotsNeeded(spec); };
  forEachMeeting(state, spec.placement.constraints, [&](ServerId id) {
    capacity.add(id, state.vacancy(id), state.extras(id), state.byteSupply(id));
    return !isEnough();
  });
  if (isEnough()) return {};
  if (capacity.servers() == 0) return unmet(state, spec.placement.constraints);
  return tooLarge(spec, capacity);
}

// Tasks that require the same.
using Groups = std::map<std::vector<Constraint>, std::vector<TaskIndex>>;

std::vector<Constraint> withThoseOfAll(const JobSpec& spec, const std::vector<Constraint>& required) {
  std::vector<Constraint> constraints = spec.placement.constraints;
  std::ranges::copy(required, std::back_inserter(constraints));
  return constraints;
}

Error inRequirement(TaskIndex task, const std::vector<Constraint>& required, const std::string& problem) {
  return invalid("task " + std::to_string(task) + " requires " + describe(required) + ": " + problem);
}

// Of a group of a gang, so many tasks of which find a slot.
Error tooFewBesideOthers(const JobSpec& spec, const std::vector<TaskIndex>& tasks, uint32_t placed) {
  const Placement& placement = spec.placement;
  const std::string need = tasks.size() == 1
                               ? "it needs 1 slot"
                               : std::to_string(tasks.size()) + " tasks that require this need " +
                                     std::to_string(tasks.size()) + " slots";
  const std::string spread = placement.spread.empty() ? ""
                                                      : ", with at most " + std::to_string(placement.atMost) +
                                                            " on a " + placement.spread;
  return inRequirement(tasks.front(), placement.requireOfTask.at(tasks.front()),
                       need + " there, and beside the gang's other tasks that require servers there " +
                           (placed == 1 ? "is " : "are ") + std::to_string(placed) + spread +
                           ": let some of these tasks run on more servers, or leave schedule: gang out");
}

// Whether the tasks of a gang that require servers could run at once.
Status requirementsFeasibleTogether(const ClusterState& state, const JobSpec& spec, const Groups& groups) {
  GroupFlow flow(SpreadCount(state, spec.placement),
                 static_cast<uint32_t>(spec.placement.requireOfTask.size()));
  for (const auto& [required, tasks] : groups) {
    flow.addGroup(static_cast<uint32_t>(tasks.size()));
    Capacity capacity(state, spec);
    forEachMeeting(state, withThoseOfAll(spec, required), [&](ServerId id) {
      const uint64_t slots = capacity.add(id, state.vacancy(id), state.extras(id), state.byteSupply(id));
      return flow.addServer(id, static_cast<uint32_t>(std::min<uint64_t>(slots, UINT32_MAX)));
    });
  }
  if (flow.isCut()) {
    return invalid("placement.require of this gang makes more than " + std::to_string(GroupFlow::kMaxPairs) +
                   " pairs of requirements and servers: name fewer servers, or leave schedule: gang out");
  }
  std::vector<uint32_t> placed(groups.size());
  for (const GroupFlow::Share& share : flow.largest()) placed[share.group] += share.tasks;
  auto count = placed.begin();
  for (const auto& [required, tasks] : groups) {
    if (*count < tasks.size()) return tooFewBesideOthers(spec, tasks, *count);
    ++count;
  }
  return {};
}

// Whether the tasks that require servers of their own could run: those that require the same by themselves,
// and those of a gang all together.
Status requirementsFeasible(const ClusterState& state, const JobSpec& spec) {
  Groups groups;
  for (const auto& [task, required] : spec.placement.requireOfTask) groups[required].push_back(task);
  JobSpec group = spec;
  group.placement.requireOfTask.clear();
  for (const auto& [required, tasks] : groups) {
    group.tasks = static_cast<uint32_t>(tasks.size());
    group.placement.constraints = withThoseOfAll(spec, required);
    if (Status feasible = everFeasibleAlike(state, group); !feasible) {
      return inRequirement(tasks.front(), required, feasible.error().message);
    }
  }
  const bool areTogether = spec.schedule == Schedule::kGang && groups.size() > 1;
  return areTogether ? requirementsFeasibleTogether(state, spec, groups) : Status();
}

}  // namespace

Status everFeasible(const ClusterState& state, const JobSpec& spec) {
  if (state.platforms().empty()) {
    return invalid("the cluster has no servers yet: start a monitor (tarcil serve monitor) and submit again");
  }
  if (Status feasible = everFeasibleAlike(state, spec); !feasible) return feasible;
  return requirementsFeasible(state, spec);
}

}  // namespace tarcil
