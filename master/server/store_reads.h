// What is read from the store while the master serves, without the event loop waiting for a store that is on
// other machines.
#pragma once

#include <kj/async.h>
#include <kj/function.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "master/store/store.h"

namespace tarcil {

// At once, or on a thread in the order of the calls, once onThread() says so. Used on the event loop's
// thread.
class StoreReads final {
 public:
  // `store` outlives this object.
  explicit StoreReads(Store& store) : store_(store) {}
  // Waits for the one under way; the others come to nothing.
  ~StoreReads();
  StoreReads(const StoreReads&) = delete;
  StoreReads& operator=(const StoreReads&) = delete;

  // For a store whose reads may wait for other machines, and that takes them on any thread. Once.
  void onThread();

  // As those of Store; what these fail with the promises fail with.
  kj::Promise<FilePiece> filePiece(const JobId& job, uint32_t piece);
  kj::Promise<std::vector<DecisionRecord>> decisions(const JobId& job);

 private:
  template <typename T>
  kj::Promise<T> read(kj::Function<Result<T>()> read);
  void readAgainAndAgain();

  Store& store_;
  std::mutex mutex_;
  std::condition_variable added_;
  std::deque<kj::Function<void()>> waiting_;  // guarded by mutex_
  bool quit_ = false;                         // guarded by mutex_
  std::thread thread_;                        // since onThread()
};

}  // namespace tarcil
