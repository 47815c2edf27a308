// Removes files and folders of ended tasks on a thread of its own: a tree that a task left may be large.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <thread>

namespace tarcil {

class Sweeper {
 public:
  Sweeper();
  // Finishes what it is removing now and leaves the rest.
  ~Sweeper();

  // Removes `path` with all that is below it, some time. Symbolic links are removed, not followed. Failures
  // are ignored: the owner of the folder sweeps it again at its next start.
  void remove(std::string path);

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> paths_;  // guarded by mutex_
  bool stop_ = false;              // guarded by mutex_
  std::thread thread_;             // last: starts when all else is there
};

}  // namespace tarcil
