#include "monitor/container/disk_watch.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <deque>
#include <utility>

#include "core/base/units.h"
#include "env/linux/worker_thread.h"
#include "monitor/container/disk_walk.h"
#include "monitor/container/removed_files.h"

namespace tarcil {
namespace {

// Looked at in one go.
constexpr size_t kPiece = 1'000;
constexpr int64_t kMicrosPerEntry = 1'000'000 / DiskWatch::kEntriesPerSecond;

}  // namespace

// At one task, once.
class DiskWatch::Look {
 public:
  Look(AllocationId allocation, const Watched& task)
      : allocation_(allocation),
        limit_(task.limit),
        walk_({task.folders.work, task.folders.temporary}),
        removed_(task.folders.processes, task.folders.work) {}

  AllocationId allocation() const { return allocation_; }
  uint64_t entries() const { return walk_.entries() + removed_.entries(); }
  bool isOver() const { return bytes() > most() || walk_.isTooDeep(); }

  // A piece more. True once all has been looked at.
  bool advance() {
    if (!hasWalked_) {
      hasWalked_ = walk_.advance(kPiece);
      return false;
    }
    return removed_.advance(kPiece);
  }

  // Requires: isOver().
  std::string problem() const {
    if (walk_.isTooDeep()) {
      return "killed: its folders are more than " + std::to_string(DiskWalk::kMaxDepth) +
             " deep, and what it takes up on the disk cannot be measured";
    }
    return "killed: it took up " + formatSize(bytes()) + " on the disk, more than its " +
           formatSize(limit_.bytes) + " (limits.disk of the job); ask for more, or write less";
  }

 private:
  uint64_t bytes() const { return walk_.bytes() + removed_.bytes(); }
  uint64_t most() const { return limit_.isQuota ? 2 * limit_.bytes : limit_.bytes; }

  AllocationId allocation_;
  Limit limit_;
  DiskWalk walk_;
  RemovedFiles removed_;
  bool hasWalked_ = false;
};

DiskWatch::DiskWatch(Duration pause)
    : pause_(pause),
      event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      thread_(startWorker([this] { run(); })) {}

DiskWatch::~DiskWatch() noexcept {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  stopped_.notify_one();
  thread_.join();
}

void DiskWatch::watch(AllocationId allocation, Folders folders, Limit limit) {
  const std::lock_guard lock(mutex_);
  watched_.insert_or_assign(allocation, Watched{std::move(folders), limit});
}

void DiskWatch::forget(AllocationId allocation) {
  const std::lock_guard lock(mutex_);
  watched_.erase(allocation);
}

std::vector<DiskWatch::Overrun> DiskWatch::overruns() {
  const std::lock_guard lock(mutex_);
  eventfd_t count = 0;
  ::eventfd_read(event_, &count);
  return std::exchange(overruns_, {});
}

void DiskWatch::run() {
  std::unique_lock lock(mutex_);
  while (sleep(lock, pause_)) {
    if (!goRound(lock)) return;
  }
}

// False: it is to stop.
bool DiskWatch::goRound(std::unique_lock<std::mutex>& lock) {
  std::deque<Look> left;
  for (const auto& [allocation, task] : watched_) left.emplace_back(allocation, task);
  uint64_t entries = 0;  // since it slept last
  while (!left.empty()) {
    Look look = std::move(left.front());
    left.pop_front();
    lock.unlock();
    const uint64_t before = look.entries();
    const bool isDone = look.advance();
    entries += look.entries() - before;
    lock.lock();
    if (look.isOver()) {
      report(look);
    } else if (!isDone) {
      left.push_back(std::move(look));
    }
    if (entries < kPiece) continue;
    if (!sleep(lock, Duration(kMicrosPerEntry * static_cast<int64_t>(std::exchange(entries, 0)))))
      return false;
  }
  return true;
}

void DiskWatch::report(const Look& look) {
  if (watched_.erase(look.allocation()) == 0) return;
  overruns_.push_back({look.allocation(), look.problem()});
  ::eventfd_write(event_, 1);
}

bool DiskWatch::sleep(std::unique_lock<std::mutex>& lock, Duration duration) {
  return !stopped_.wait_for(lock, duration, [this] { return stop_; });
}

}  // namespace tarcil
