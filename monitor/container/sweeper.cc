#include "monitor/container/sweeper.h"

#include <kj/debug.h>

#include "env/linux/worker_thread.h"
#include "monitor/container/tree_removal.h"

namespace tarcil {

Sweeper::Sweeper() : thread_(startWorker([this] { run(); })) {}

Sweeper::~Sweeper() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Sweeper::remove(std::string path) {
  {
    const std::lock_guard lock(mutex_);
    paths_.push_back(std::move(path));
  }
  changed_.notify_one();
}

void Sweeper::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stop_ || !paths_.empty(); });
    if (stop_) return;
    const std::string path = std::move(paths_.front());
    paths_.pop_front();
    lock.unlock();
    // What stays is found at the next start.
    KJ_IF_MAYBE (failure, kj::runCatchingExceptions([&path]() { removeTree(path); })) {
      KJ_LOG(ERROR, "what a task left cannot be removed", path.c_str(), *failure);
    }
    lock.lock();
  }
}

}  // namespace tarcil
