// Keeps result files of ended tasks on a thread of its own: a tree that a task left may be large. Submitters
// take turns.
#pragma once

#include <kj/io.h>

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/base/ids.h"
#include "env/clock.h"
#include "rpc/fair_queue.h"

namespace tarcil {

// One task after the other, each for a bounded time (ResultSearch::kMaxTime).
class ResultCollector {
 public:
  struct Kept {
    AllocationId allocation = 0;
    std::string problem;  // as keepResults()
  };

  // `clock` is read on its thread, and outlives it.
  explicit ResultCollector(const Clock& clock);
  // Finishes the task that it is at, and leaves the others to a successor.
  ~ResultCollector() noexcept;

  struct Task {
    AllocationId allocation = 0;
    std::string directory;
    std::vector<std::string> patterns;
  };

  // Of a task of this submitter, some time.
  void collect(const std::string& submitter, Task task);

  // Readable while there are tasks that are done.
  int fd() const { return event_; }
  // Those that were done since the last call.
  std::vector<Kept> kept();

 private:
  void run();

  const Clock& clock_;
  const kj::AutoCloseFd event_;
  std::mutex mutex_;
  std::condition_variable changed_;
  FairQueue<Task> waiting_;  // by submitter and the time taken; guarded by mutex_, as what follows
  std::vector<Kept> kept_;
  bool stop_ = false;
  std::thread thread_;  // from the first task on: most servers never have one
};

}  // namespace tarcil
