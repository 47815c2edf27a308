// Keeps the tasks of a job in the foreground from ending faster than their output is taken.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "cli/cluster.h"

namespace tarcil {

// A server keeps the output of so many ended tasks, and so much of it, only. Where more than a number of
// them wait to be copied because whoever reads us does not read, the job is held: no further task starts
// until half as many wait, or he reads.
class OutputLag final {
 public:
  // How many ended tasks may wait, of which each has at most so many bytes in a stream.
  static uint32_t most(uint64_t bytes);

  // `isStuck`: our reader takes nothing now. `cluster` outlives it.
  OutputLag(Cluster& cluster, const JobId& job, uint32_t most, std::function<bool()> isStuck)
      : cluster_(cluster), job_(job), most_(most), isStuck_(std::move(isStuck)) {}
  KJ_DISALLOW_COPY(OutputLag);

  // The output of one more task is copied.
  void noteCopied() { ++copied_; }

  // Looks after the job until it is over. To be dropped where the job is cancelled.
  kj::Promise<void> limit();

 private:
  bool isTooLarge(uint32_t ended) const;

  Cluster& cluster_;
  const JobId job_;
  const uint32_t most_;
  const std::function<bool()> isStuck_;
  uint32_t copied_ = 0;
  bool isHeld_ = false;
};

}  // namespace tarcil
