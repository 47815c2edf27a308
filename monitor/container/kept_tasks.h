// Ended tasks whose folders are kept for their users, and which of them goes first. Pure.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>

#include "core/base/ids.h"
#include "core/base/time.h"

namespace tarcil {

struct KeepDone {
  size_t tasks = 2000;
  uint64_t bytes = uint64_t{4} << 30;         // of output and result files, all tasks together
  Duration age = std::chrono::hours(7 * 24);  // since they were forgotten
};

// Where there are too many, the oldest goes of the submitter who has most of them: nobody's tasks push out
// those of somebody who has fewer.
class KeptTasks {
 public:
  struct Task {
    AllocationId allocation = 0;
    std::string submitter;
    uint64_t bytes = 0;
    WallTime since{};  // no older than the one added before
  };

  explicit KeptTasks(KeepDone keep) : keep_(keep) {}

  void add(Task task);

  // The task that goes, if there are too many, or one is too old.
  std::optional<Task> takeExcess(WallTime now);
  // The one that goes for another one of this submitter; nullopt while there is room for it.
  std::optional<Task> takeForAnother(const std::string& submitter);

  // Oldest first.
  const std::deque<Task>& all() const { return tasks_; }

 private:
  struct Share {
    size_t tasks = 0;
    uint64_t bytes = 0;
  };

  // Of whoever has most of these; `more` is what `submitter` will have besides.
  template <typename Amount>
  Task takeOldestOfLargest(Amount Share::*of, const std::string& submitter = {}, Amount more = 0);
  Task take(std::deque<Task>::iterator task);

  const KeepDone keep_;
  std::deque<Task> tasks_;
  std::map<std::string, Share> shares_;  // by submitter
  uint64_t bytes_ = 0;
};

}  // namespace tarcil
