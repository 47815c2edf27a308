#include "core/decide/impact.h"

#include <algorithm>

#include "core/model/profile.h"
#include "core/model/residents.h"
#include "core/model/slowdown.h"

namespace tarcil {
namespace {

// What is caused by all tasks there.
PressureSum sumOf(const Neighbourhood& there) {
  PressureSum sum = there.unlisted;
  for (const Neighbour& task : there.tasks) {
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += task.caused[i];
  }
  return sum;
}

// What is left to a task that feels these others.
PressureSum slackAmong(const PressureSum& others, const Neighbour& task, const Neighbourhood& there) {
  const Pressure interference = contention(there.model, others, there.share, there.background, there.rus);
  const Pressure demand = scaled(demandOf(task.tolerated), there.share);
  PressureSum slack{};
  for (size_t i = 0; i < slack.size(); ++i) {
    // A task that demands nothing bears anything, since contention ends at 99.
    slack[i] = demand[i] == 0 ? kNoResident : kMaxPressure - demand[i] - interference[i];
  }
  return slack;
}

// The most by which what it tolerates is exceeded.
uint8_t excessOf(const PressureSum& slack) {
  const int32_t least = *std::min_element(slack.begin(), slack.end());
  return static_cast<uint8_t>(std::clamp<int32_t>(-least, 0, kMaxPressure));
}

// From where on the task loses speed, on this platform.
Pressure onsetsOn(const Neighbour& task, const Neighbourhood& there) {
  Pressure tolerated = scaled(demandOf(task.tolerated), there.share);
  for (uint8_t& pressure : tolerated) pressure = static_cast<uint8_t>(kMaxPressure - pressure);
  return onsetsOf(tolerated);
}

// What slows the task down that is there already, neighbour by neighbour; what is not listed counts as one.
Slowdowns slowdownsOn(size_t index, const Pressure& onsets, const Neighbourhood& there) {
  Slowdowns all;
  for (size_t i = 0; i < there.tasks.size(); ++i) {
    if (i != index) all.add(slowdownBeside(scaled(there.tasks[i].caused, there.share), onsets));
  }
  Pressure rest{};
  for (size_t i = 0; i < rest.size(); ++i) {
    const int32_t pressure = scaled(there.unlisted[i], there.share[i]) + there.background[i];
    rest[i] = static_cast<uint8_t>(std::min<int32_t>(pressure, kMaxPressure));
  }
  all.add(slowdownBeside(rest, onsets));
  return all;
}

void addSatisfaction(Impact& impact, const Pressure& caused, uint32_t newcomers, const Neighbourhood& there) {
  const uint8_t before = excessOf(impact.before), after = excessOf(impact.after);
  if (there.model != ContentionModel::kSlowdowns) {
    impact.satisfactionBefore = satisfaction(slowdownAt(before));
    impact.satisfactionAfter = satisfaction(slowdownAt(after));
    return;
  }
  const Pressure onsets = onsetsOn(there.tasks[impact.task], there);
  Slowdowns felt = slowdownsOn(impact.task, onsets, there);
  impact.satisfactionBefore = satisfaction(slowdownBy(felt, before));
  felt.add(slowdownBeside(scaled(caused, there.share), onsets), newcomers);
  impact.satisfactionAfter = satisfaction(slowdownBy(felt, after));
}

Impact impactOn(size_t index, const PressureSum& sum, const PressureSum& added, const Neighbourhood& there) {
  const Neighbour& task = there.tasks[index];
  PressureSum before{}, after{};
  for (size_t i = 0; i < sum.size(); ++i) {
    before[i] = sum[i] - task.caused[i];
    after[i] = before[i] + added[i];
  }
  return {.task = index, .before = slackAmong(before, task, there), .after = slackAmong(after, task, there)};
}

}  // namespace

std::vector<Impact> impactOf(const Neighbourhood& there, const Pressure& caused, uint32_t newcomers) {
  const PressureSum sum = sumOf(there);
  PressureSum added{};
  for (size_t i = 0; i < added.size(); ++i) added[i] = static_cast<int32_t>(newcomers) * caused[i];
  std::vector<Impact> impacts;
  impacts.reserve(there.tasks.size());
  for (size_t i = 0; i < there.tasks.size(); ++i) {
    Impact& impact = impacts.emplace_back(impactOn(i, sum, added, there));
    addSatisfaction(impact, caused, newcomers, there);
  }
  std::stable_sort(impacts.begin(), impacts.end(), isWorse);
  return impacts;
}

std::optional<size_t> worstLoss(const Impact& impact) {
  std::optional<size_t> worst;
  for (size_t i = 0; i < impact.after.size(); ++i) {
    if (impact.after[i] >= impact.before[i]) continue;
    if (!worst || impact.after[i] < impact.after[*worst]) worst = i;
  }
  return worst;
}

bool isWorse(const Impact& a, const Impact& b) {
  const auto worstOfA = worstLoss(a), worstOfB = worstLoss(b);
  if (!worstOfA || !worstOfB) return worstOfA.has_value() && !worstOfB;
  const int32_t leftOfA = a.after[*worstOfA], leftOfB = b.after[*worstOfB];
  if (leftOfA != leftOfB) return leftOfA < leftOfB;
  return a.before[*worstOfA] > b.before[*worstOfB];
}

}  // namespace tarcil
