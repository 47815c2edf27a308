#include "core/decide/impact.h"

#include <algorithm>

#include "core/model/profile.h"
#include "core/model/residents.h"

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

Impact impactOn(size_t index, const PressureSum& sum, const PressureSum& added, const Neighbourhood& there) {
  const Neighbour& task = there.tasks[index];
  PressureSum before{}, after{};
  for (size_t i = 0; i < sum.size(); ++i) {
    before[i] = sum[i] - task.caused[i];
    after[i] = before[i] + added[i];
  }
  return {index, slackAmong(before, task, there), slackAmong(after, task, there)};
}

}  // namespace

std::vector<Impact> impactOf(const Neighbourhood& there, const PressureSum& added) {
  const PressureSum sum = sumOf(there);
  std::vector<Impact> impacts;
  impacts.reserve(there.tasks.size());
  for (size_t i = 0; i < there.tasks.size(); ++i) impacts.push_back(impactOn(i, sum, added, there));
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
