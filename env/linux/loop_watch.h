// Says that an event loop hangs, and whether it is for a disk: who waits for the process sees it in its log
// while it lasts, and not only when it is over.
#pragma once

#include <kj/async.h>
#include <kj/timer.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace tarcil {

// Of the calling thread's event loop, watched from a thread of its own. Says on stderr when the loop has not
// gone on for five looks, a second apart, and when it goes on again.
class LoopWatch final {
 public:
  // `name` begins what it says; `timer` is the loop's and outlives it.
  LoopWatch(kj::Timer& timer, std::string name);
  ~LoopWatch() noexcept;
  LoopWatch(const LoopWatch&) = delete;
  LoopWatch& operator=(const LoopWatch&) = delete;

 private:
  kj::Promise<void> beat();
  void watch();

  kj::Timer& timer_;
  const std::string name_;
  const int loop_;  // the loop's thread, as the kernel numbers it
  std::atomic<uint64_t> beats_ = 0;
  std::mutex mutex_;
  std::condition_variable stopped_;
  bool stop_ = false;  // guarded by mutex_
  kj::Promise<void> beating_;
  std::thread thread_;  // last: starts when all else is there
};

}  // namespace tarcil
