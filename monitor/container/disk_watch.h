// Looks again and again at how much of the disk tasks take up, and tells which take up more than they may.
#pragma once

#include <kj/io.h>

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/base/ids.h"
#include "core/base/time.h"

namespace tarcil {

// On a thread of its own, since a disk may be slow. In each round it looks at the trees of all tasks in turn,
// a piece of each, so that a small one does not wait for a large one. It looks at no more than
// kEntriesPerSecond files and folders; a round takes as long as that takes, and `pause`.
class DiskWatch {
 public:
  // Five hundredths of a core where the kernel has them in memory.
  static constexpr size_t kEntriesPerSecond = 20'000;

  struct Folders {
    std::string work, temporary;
    std::string
        processes;  // file with the ids of the task's processes, for what they have removed; may be empty
  };

  struct Overrun {
    AllocationId allocation = 0;
    std::string problem;  // for people
  };

  // What folders may take up.
  struct Limit {
    uint64_t bytes = 0;
    // The file system holds them to that (monitor/container/project_quota.h). Then a task is found only once
    // it takes up twice as much, which takes what passes quotas: within its quota it has at most so many
    // bytes, and as many again are counted at most for its files.
    bool isQuota = false;
  };

  explicit DiskWatch(Duration pause);
  // Finishes the piece that it is looking at.
  ~DiskWatch() noexcept;

  // From the next round on: what is below these folders together, and files on their disk that the task has
  // removed and still holds open, may take up so much.
  void watch(AllocationId allocation, Folders folders, Limit limit);
  void forget(AllocationId allocation);

  // Readable while there are overruns.
  int fd() const { return event_; }
  // Those found since the last call. Each task is found once, and not looked at any more.
  std::vector<Overrun> overruns();

 private:
  struct Watched {
    Folders folders;
    Limit limit;
  };
  class Look;

  void run();
  bool goRound(std::unique_lock<std::mutex>& lock);
  void report(const Look& look);
  // False: it is to stop.
  bool sleep(std::unique_lock<std::mutex>& lock, Duration duration);

  const Duration pause_;
  const kj::AutoCloseFd event_;
  std::mutex mutex_;
  std::condition_variable stopped_;
  bool stop_ = false;                        // guarded by mutex_, as what follows
  std::map<AllocationId, Watched> watched_;  // and not found
  std::vector<Overrun> overruns_;            // not handed out
  std::thread thread_;                       // last: starts when all else is there
};

}  // namespace tarcil
