// How watched tasks performed over time, as a gateway heard of it. The cluster keeps what holds now, and no
// past. Pure.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <unordered_map>
#include <utility>

#include "core/base/ids.h"
#include "core/base/time.h"

namespace tarcil::gateway {

// From `at` on, up to the next one.
struct Measure {
  WallTime at{};
  double part = 1;  // of what is expected; more where it does better

  bool operator==(const Measure&) const = default;
};

struct PerformanceBounds {
  size_t tasks = 5'000;   // the one that came first goes first
  size_t measures = 500;  // of a task; the oldest go
};

// Single-threaded.
class PerformanceLog final {
 public:
  explicit PerformanceLog(PerformanceBounds bounds = {}) : bounds_(bounds) {}

  using Task = std::pair<JobId, TaskIndex>;
  // What the task reaches now, of what is expected. What stays as it was is not remembered again.
  void take(const Task& task, double part, WallTime now);

  // Of each task of the job of which something is known, in the order of time.
  std::map<TaskIndex, std::deque<Measure>> of(const JobId& job) const;

  size_t size() const { return inOrder_.size(); }

 private:
  std::deque<Measure>& measuresOf(const Task& task);

  const PerformanceBounds bounds_;
  std::unordered_map<JobId, std::map<TaskIndex, std::deque<Measure>>> jobs_;
  std::deque<Task> inOrder_;  // as they came
};

}  // namespace tarcil::gateway
