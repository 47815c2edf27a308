#include "monitor/logic/performance/watch.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace tarcil {
namespace {

using Change = PerformanceTracker::Change;

auto identityOf(const Cause& cause) {
  return std::tuple(cause.kind, cause.resource, cause.neighbour);
}

}  // namespace

void PerformanceWatch::begin(AllocationId task, const PerformanceGoal& goal, double earlier) {
  tasks_.try_emplace(task, goal, earlier);
}

void PerformanceWatch::end(AllocationId task) {
  tasks_.erase(task);
}

void PerformanceWatch::take(AllocationId task, double value, Now now) {
  const auto found = tasks_.find(task);
  if (found == tasks_.end()) return;
  const Change change = found->second.tracker.take(value, now.steady);
  if (change != Change::kNone) found->second.change = change;
}

std::map<AllocationId, double> PerformanceWatch::usual() const {
  std::map<AllocationId, double> usual;
  for (const auto& [allocation, task] : tasks_) {
    if (const auto performance = task.tracker.usual()) usual.emplace(allocation, *performance);
  }
  return usual;
}

std::vector<PerformanceSample> PerformanceWatch::moved(Now now) {
  std::vector<PerformanceSample> moved;
  for (auto& [allocation, task] : tasks_) {
    const auto expected = task.tracker.expected();
    if (!expected || !task.tracker.hasSamples()) continue;
    const Reached reached{*expected, task.tracker.measured()};
    if (!isSound(reached)) continue;
    const double part = partOf(reached);
    if (task.toldPart &&
        (std::abs(part - *task.toldPart) < kMoved || now.steady - task.toldAt < task.goal.window)) {
      continue;
    }
    task.toldPart = part;
    task.toldAt = now.steady;
    moved.push_back({allocation, reached});
  }
  return moved;
}

bool PerformanceWatch::suspicious() const {
  return std::any_of(tasks_.begin(), tasks_.end(),
                     [](const auto& task) { return task.second.tracker.suspicious(); });
}

size_t PerformanceWatch::isDegraded() const {
  return static_cast<size_t>(std::count_if(
      tasks_.begin(), tasks_.end(), [](const auto& task) { return task.second.tracker.isDegraded(); }));
}

std::vector<Violation> PerformanceWatch::changes(const SceneOf& sceneOf, Now now) {
  std::vector<Violation> changes;
  for (auto& [allocation, task] : tasks_) {
    const Change change = std::exchange(task.change, Change::kNone);
    const bool judgeAgain =
        change == Change::kNone && task.tracker.isDegraded() && now.steady - task.judged >= task.goal.window;
    if (change == Change::kNone && !judgeAgain) continue;
    const auto scene = change == Change::kOver ? std::nullopt : sceneOf(allocation);
    // A cause that is not known yet will be at the next look, and whoever hears of a violation acts on
    // its cause.
    if (change == Change::kBegan && !scene && !std::exchange(task.postponed, true)) {
      task.change = change;
      continue;
    }
    task.postponed = false;
    Violation violation = task.told;
    violation.allocation = allocation;
    violation.metric = task.goal.metric;
    violation.expected = task.tracker.expected().value_or(0);
    violation.measured = task.tracker.measured();
    violation.over = change == Change::kOver;
    violation.causes.clear();
    if (!violation.over) {
      violation.causes = causesOf(scene.value_or(Scene{}));
      task.judged = now.steady;
    }
    if (change == Change::kBegan) violation.since = now.wall - (now.steady - task.tracker.since());
    const bool same = judgeAgain && identityOf(violation.causes[0]) == identityOf(task.told.causes[0]);
    if (same) continue;
    task.told = violation;
    changes.push_back(std::move(violation));
  }
  return changes;
}

}  // namespace tarcil
