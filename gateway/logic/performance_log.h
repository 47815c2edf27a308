// How tasks performed while they were below what is expected of them, as a gateway heard of it. The cluster
// keeps what holds now, and no past. Pure.
#pragma once

#include <cstddef>
#include <deque>
#include <list>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/ids.h"
#include "core/base/time.h"

namespace tarcil::gateway {

// From `at` on, up to the next one.
struct Measure {
  WallTime at{};
  double part = 1;  // of what is expected; 1: no violation any more

  bool operator==(const Measure&) const = default;
};

struct PerformanceBounds {
  size_t tasks = 5'000;   // the one that was first below what is expected goes first
  size_t measures = 500;  // of a task; the oldest go
};

// Single-threaded.
class PerformanceLog final {
 public:
  explicit PerformanceLog(PerformanceBounds bounds = {}) : bounds_(bounds) {}

  using Task = std::pair<JobId, TaskIndex>;
  struct Degraded {
    Task task;
    WallTime since{};  // when it was first below what is expected
    double part = 1;
  };
  // All tasks of a server that perform below what is expected of them now; for those of before that is over.
  void take(const std::string& server, const std::vector<Degraded>& degraded, WallTime now);

  // Of each task of the job of which something is known, in the order of time.
  std::map<TaskIndex, std::deque<Measure>> of(const JobId& job) const;

  size_t size() const { return inOrder_.size(); }

 private:
  std::deque<Measure>& measuresOf(const Task& task);
  void add(const Task& task, const Measure& measure);

  const PerformanceBounds bounds_;
  std::unordered_map<JobId, std::map<TaskIndex, std::deque<Measure>>> jobs_;
  std::deque<Task> inOrder_;                           // as they came
  std::map<std::string, std::vector<Task>> degraded_;  // by server
};

}  // namespace tarcil::gateway
