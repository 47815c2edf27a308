#include "master/server/output_gate.h"

#include <kj/debug.h>

#include "env/failpoint.h"
#include "env/loop_step.h"
#include "env/stop.h"
#include "rpc/errors.h"
#include "rpc/turns.h"

namespace tarcil {

OutputGate::OutputGate(kj::Timer& timer, Store& store, const Clock& clock,
                       kj::Function<void(const Error&)> failed,
                       kj::Function<void(const WrittenBatch&)> written, AuditTrail* trail)
    : timer_(timer),
      store_(store),
      clock_(clock),
      failed_(kj::mv(failed)),
      written_(kj::mv(written)),
      trail_(trail),
      writer_([this]() { writeLoop(); }),
      running_(run().eagerlyEvaluate([this](kj::Exception&& exception) {
        commit_.fail();
        const auto text = exception.getDescription();
        failed_({ErrorCode::kInternal, std::string(text.begin(), text.size())});
      })) {}

OutputGate::~OutputGate() {
  {
    const std::lock_guard lock(mutex_);
    quit_ = true;
  }
  handedOver_.notify_one();
  writer_.join();
}

void OutputGate::persist(Mutation mutation) {
  noteGathering();
  commit_.add(std::move(mutation));
  wake();
}

void OutputGate::audit(audit::Entry entry) {
  if (trail_ == nullptr) return;
  noteGathering();
  commit_.add(std::move(entry));
  wake();
}

void OutputGate::noteGathering() {
  if (!commit_.hasGathered()) gathersSince_ = clock_.now().steady;
}

void OutputGate::wake() {
  if (wake_.get() != nullptr) {
    wake_->fulfill();
    wake_ = nullptr;
  }
}

void OutputGate::afterSync(kj::Function<void()> output) {
  auto free = commit_.hold(kj::mv(output));
  if (!free) return;
  if (leaving_.empty()) {
    if (mayTell()) (*free)();
    return;
  }
  leaving_.push_back(kj::mv(*free));
}

bool OutputGate::mayTell() {
  const Status may = store_.mayTell();
  if (!may) {
    commit_.fail();
    failed_(may.error());
  }
  return may.ok();
}

kj::Promise<void> OutputGate::run() {
  return untilSomethingGathered()
      .then([this]() { return writeBatches(); })
      .then([this]() -> kj::Promise<void> {
        if (commit_.hasFailed()) return kj::READY_NOW;
        return run();
      });
}

// The first batch after a pause starts when what arrived together has been dealt with, so that it is written
// together.
kj::Promise<void> OutputGate::untilSomethingGathered() {
  if (commit_.hasGathered()) return untilIdle(timer_);
  auto paf = kj::newPromiseAndFulfiller<void>();
  wake_ = kj::mv(paf.fulfiller);
  return paf.promise.then([this]() { return untilIdle(timer_); });
}

// What gathered while one batch was written is the next: it is on its way before the outputs of the former
// leave, so that the disk does not wait for them.
kj::Promise<void> OutputGate::writeBatches() {
  return handOver().then([this](bool) -> kj::Promise<void> {
    std::vector<kj::Function<void()>> outputs = takeOutputs();
    if (commit_.hasFailed()) return kj::READY_NOW;
    kj::Promise<void> next = commit_.hasGathered() ? writeBatches() : kj::READY_NOW;
    for (auto& output : outputs) leaving_.push_back(kj::mv(output));
    if (!std::exchange(isReleasing_, true)) {
      releasing_ = releaseSome().eagerlyEvaluate(stopsIfFailed("the release of answers"));
    }
    return next;
  });
}

kj::Promise<void> OutputGate::releaseSome() {
  const LoopStep step("answers that leave");
  const Duration begin = threadTime();
  while (!leaving_.empty() && threadTime() - begin < kWorkAtOnce) {
    if (!mayTell()) return kj::READY_NOW;
    auto output = kj::mv(leaving_.front());
    leaving_.pop_front();
    output();
  }
  isReleasing_ = !leaving_.empty();
  if (!isReleasing_) return kj::READY_NOW;
  return nextTurn(timer_).then([this]() { return releaseSome(); });
}

// Resolves when the batch has been written, or could not be.
kj::Promise<bool> OutputGate::handOver() {
  writtenSince_ = gathersSince_;
  auto& batch = commit_.begin();
  auto paf = kj::newPromiseAndCrossThreadFulfiller<bool>();
  {
    const std::lock_guard lock(mutex_);
    toWrite_ = &batch;
    done_ = kj::mv(paf.fulfiller);
  }
  handedOver_.notify_one();
  return kj::mv(paf.promise);
}

// Of the batch that has been written; none where that failed.
std::vector<kj::Function<void()>> OutputGate::takeOutputs() {
  Status status;
  WrittenBatch written;
  {
    const std::lock_guard lock(mutex_);
    status = kj::mv(outcome_);
    written.sync = sync_;
  }
  if (!status.ok()) {
    commit_.fail();
    failed_(status.error());
    return {};
  }
  failpoint("master.synced");
  auto batch = commit_.end();
  ++batches_;
  written.records = batch.mutations.size();
  written.held = clock_.now().steady - writtenSince_;
  written_(written);
  return kj::mv(batch.outputs);
}

// Outputs may be added to the batch meanwhile; the rest of it is this thread's.
Status OutputGate::write(GroupCommit<kj::Function<void()>>::Batch& batch) {
  if (trail_ != nullptr) {
    if (Status sealed = trail_->seal(batch.audited, clock_.now().wall, batch.mutations); !sealed)
      return sealed;
  }
  failpoint("master.before_sync");
  Status written = store_.write(batch.mutations);
  if (written && trail_ != nullptr) trail_->stored();
  return written;
}

void OutputGate::writeLoop() {
  std::unique_lock lock(mutex_);
  while (true) {
    handedOver_.wait(lock, [this]() { return quit_ || toWrite_ != nullptr; });
    if (quit_) return;
    auto& batch = *toWrite_;
    toWrite_ = nullptr;
    lock.unlock();
    const MonotonicTime begin = clock_.now().steady;
    Status status = caught([this, &batch]() { return write(batch); });
    const MonotonicTime end = clock_.now().steady;
    lock.lock();
    outcome_ = std::move(status);
    sync_ = end - begin;
    auto done = kj::mv(done_);
    done->fulfill(true);
  }
}

}  // namespace tarcil
