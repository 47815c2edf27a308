// Durable before visible: an output that depends on a record leaves only when the record is synced, and while
// the store says that what it holds may be told.
#pragma once

#include <kj/async.h>
#include <kj/function.h>
#include <kj/timer.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "env/clock.h"
#include "master/server/audit_trail.h"
#include "master/store/group_commit.h"
#include "master/store/store.h"

namespace tarcil {

// A batch that has been written.
struct WrittenBatch {
  size_t records = 0;
  Duration sync{};  // the writing
  Duration held{};  // from its first record until the outputs that waited for it leave
};

// Group commit on a thread of its own, one batch at a time; the next one gathers meanwhile, without a timer.
// Of a batch that many outputs wait for they leave a bounded time at once, and what else the event loop has
// to do goes in between. Used from the event loop's thread.
class OutputGate final {
 public:
  // `failed` is called on the event loop's thread when a write fails: its outcome is unknown, no output that
  // was held back is ever released, and the process must stop. `written` is called there before the outputs
  // of each batch leave. `store`, `clock`, which any thread may read, `timer` and `trail` outlive the gate;
  // without a trail nothing is audited.
  OutputGate(kj::Timer& timer, Store& store, const Clock& clock, kj::Function<void(const Error&)> failed,
             kj::Function<void(const WrittenBatch&)> written, AuditTrail* trail = nullptr);
  ~OutputGate();

  OutputGate(const OutputGate&) = delete;
  OutputGate& operator=(const OutputGate&) = delete;

  // Adds a record to the batch that is being gathered.
  void persist(Mutation mutation);
  // The same of an entry of the audit log.
  void audit(audit::Entry entry);

  // Runs `output` once everything persisted so far is synced; in the order of the calls. At once where
  // nothing waits for that, nor to leave.
  void afterSync(kj::Function<void()> output);

  // Batches that have been written, and whether one is being written.
  uint64_t batches() const { return batches_; }
  bool isWriting() const { return commit_.isWriting(); }

 private:
  kj::Promise<void> run();
  // Where the store says no, it has failed.
  bool mayTell();
  kj::Promise<void> untilSomethingGathered();
  kj::Promise<void> writeBatches();
  kj::Promise<bool> handOver();
  std::vector<kj::Function<void()>> takeOutputs();
  kj::Promise<void> releaseSome();
  void writeLoop();
  Status write(GroupCommit<kj::Function<void()>>::Batch& batch);
  void noteGathering();
  void wake();

  kj::Timer& timer_;
  Store& store_;
  const Clock& clock_;
  kj::Function<void(const Error&)> failed_;
  kj::Function<void(const WrittenBatch&)> written_;
  AuditTrail* const trail_;
  GroupCommit<kj::Function<void()>> commit_;
  uint64_t batches_ = 0;
  std::deque<kj::Function<void()>> leaving_;  // in order; what they rest on is on disk
  bool isReleasing_ = false;
  MonotonicTime gathersSince_, writtenSince_;  // first record of the batch that gathers, that is written
  kj::Own<kj::PromiseFulfiller<void>> wake_;   // set while the gate waits for something to write

  // Hand-over to the writing thread, guarded by mutex_.
  std::mutex mutex_;
  std::condition_variable handedOver_;
  GroupCommit<kj::Function<void()>>::Batch* toWrite_ = nullptr;
  kj::Own<kj::CrossThreadPromiseFulfiller<bool>> done_;
  Status outcome_;
  Duration sync_{};
  bool quit_ = false;
  std::thread writer_;

  kj::Promise<void> running_;
  kj::Promise<void> releasing_ = nullptr;
};

}  // namespace tarcil
