// Which tasks of a job wait for tasks of another one.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/ids.h"

namespace tarcil::master {

// A bit for each task, none where no task was ever in it.
class AwaitingTasks {
 public:
  TaskIndex next = 0;  // where the next look at all of them begins

  bool contains(TaskIndex task) const { return task < bits_.size() && bits_[task]; }
  uint32_t count() const { return count_; }
  void insert(TaskIndex task, size_t tasks) {
    bits_.resize(tasks);
    if (!bits_[task]) ++count_;
    bits_[task] = true;
  }
  void erase(TaskIndex task) {
    if (!contains(task)) return;
    bits_[task] = false;
    --count_;
  }

 private:
  std::vector<bool> bits_;
  uint32_t count_ = 0;
};

}  // namespace tarcil::master
