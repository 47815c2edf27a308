#include "monitor/container/result_collector.h"

#include <kj/exception.h>
#include <sys/eventfd.h>

#include <utility>

#include "env/linux/worker_thread.h"
#include "monitor/container/task_results.h"

namespace tarcil {

ResultCollector::ResultCollector(const Clock& clock)
    : clock_(clock), event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

ResultCollector::~ResultCollector() noexcept {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void ResultCollector::collect(const std::string& submitter, Task task) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push(submitter, std::move(task));
  }
  if (!thread_.joinable()) thread_ = startWorker([this] { run(); });
  changed_.notify_one();
}

std::vector<ResultCollector::Kept> ResultCollector::kept() {
  const std::lock_guard lock(mutex_);
  eventfd_t count = 0;
  ::eventfd_read(event_, &count);
  return std::exchange(kept_, {});
}

void ResultCollector::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stop_ || !waiting_.empty(); });
    if (stop_) return;
    const auto next = *waiting_.pop();
    const Task& task = next.item;
    lock.unlock();
    const MonotonicTime began = clock_.now().steady;
    Kept kept{task.allocation, ""};
    KJ_IF_MAYBE (failure, kj::runCatchingExceptions(
                              [&]() { kept.problem = keepResults(task.directory, task.patterns, clock_); })) {
      kept.problem = std::string("its result files cannot be kept: ") + failure->getDescription().cStr();
    }
    lock.lock();
    waiting_.charge(next.user, clock_.now().steady - began);
    kept_.push_back(std::move(kept));
    ::eventfd_write(event_, 1);
  }
}

}  // namespace tarcil
