// How far jobs are that are waited for, in a line on the terminal.
#pragma once

#include <kj/async.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/cluster.h"
#include "cli/output/job_status.h"
#include "cli/output/progress_line.h"

namespace tarcil {

// "1 of 3 jobs over; 2 queued, 6 running, 4 done"; of one job its tasks alone, and why they wait.
std::string progressText(const std::vector<std::optional<JobCounts>>& jobs);

// Asks how far the jobs are, again and again. Single-threaded.
class WaitingProgress final {
 public:
  // `cluster` outlives it.
  WaitingProgress(Cluster& cluster, std::vector<FoundJob> jobs)
      : cluster_(cluster), jobs_(std::move(jobs)), counts_(jobs_.size()) {}
  KJ_DISALLOW_COPY(WaitingProgress);

  // What ends `waited`, which waits for the jobs: shows their progress meanwhile where stderr is a terminal.
  // Of jobs that the cluster's state does not have, such as late-bound ones, nothing is known. This outlives
  // the promise.
  kj::Promise<void> during(kj::Promise<void> waited);

 private:
  // Never done: to be dropped.
  kj::Promise<void> showFrom(size_t first);
  kj::Promise<void> ask(size_t job);

  Cluster& cluster_;
  std::vector<FoundJob> jobs_;
  std::vector<std::optional<JobCounts>> counts_;
  std::optional<ProgressLine> line_;
};

}  // namespace tarcil
