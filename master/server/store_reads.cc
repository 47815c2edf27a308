#include "master/server/store_reads.h"

#include <optional>
#include <utility>

#include "env/linux/worker_thread.h"
#include "rpc/errors.h"

namespace tarcil {

void StoreReads::onThread() {
  thread_ = startWorker([this]() { readAgainAndAgain(); });
}

StoreReads::~StoreReads() {
  {
    const std::lock_guard lock(mutex_);
    quit_ = true;
  }
  added_.notify_all();
  if (thread_.joinable()) thread_.join();
}

kj::Promise<FilePiece> StoreReads::filePiece(const JobId& job, uint32_t piece) {
  return read<FilePiece>([this, job, piece]() { return store_.filePiece(job, piece); });
}

kj::Promise<std::vector<DecisionRecord>> StoreReads::decisions(const JobId& job) {
  return read<std::vector<DecisionRecord>>([this, job]() { return store_.decisions(job); });
}

template <typename T>
kj::Promise<T> StoreReads::read(kj::Function<Result<T>()> read) {
  if (!thread_.joinable()) {
    Result<T> got = read();
    if (!got) return toException(got.error());
    return std::move(*got);
  }
  auto paf = kj::newPromiseAndCrossThreadFulfiller<T>();
  {
    const std::lock_guard lock(mutex_);
    waiting_.emplace_back([read = kj::mv(read), fulfiller = kj::mv(paf.fulfiller)]() mutable {
      std::optional<T> got;
      const Status status = caught([&]() -> Status {
        Result<T> result = read();
        if (!result) return result.error();
        got = std::move(*result);
        return {};
      });
      if (status) {
        fulfiller->fulfill(std::move(*got));
      } else {
        fulfiller->reject(toException(status.error()));
      }
    });
  }
  added_.notify_all();
  return kj::mv(paf.promise);
}

void StoreReads::readAgainAndAgain() {
  std::unique_lock lock(mutex_);
  while (true) {
    added_.wait(lock, [this]() { return quit_ || !waiting_.empty(); });
    if (quit_) return;
    auto read = kj::mv(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    read();
    lock.lock();
  }
}

}  // namespace tarcil
