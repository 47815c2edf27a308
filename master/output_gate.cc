#include "master/output_gate.h"

#include <kj/debug.h>

#include "env/failpoint.h"

namespace tarcil {

OutputGate::OutputGate(Store& store, kj::Function<void(const Error&)> failed)
    : store_(store),
      failed_(kj::mv(failed)),
      writer_([this]() { writeLoop(); }),
      running_(run().eagerlyEvaluate([this](kj::Exception&& exception) {
        stopped_ = true;
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
  gathering_.mutations.push_back(std::move(mutation));
  if (wake_.get() != nullptr) {
    wake_->fulfill();
    wake_ = nullptr;
  }
}

void OutputGate::afterSync(kj::Function<void()> output) {
  if (stopped_) return;
  if (!gathering_.mutations.empty()) {
    gathering_.outputs.push_back(kj::mv(output));
  } else if (writing_) {
    inFlight_.outputs.push_back(kj::mv(output));
  } else {
    output();
  }
}

kj::Promise<void> OutputGate::run() {
  return untilSomethingGathered().then([this]() { return writeBatch(); }).then([this]() -> kj::Promise<void> {
    if (stopped_) return kj::READY_NOW;
    return run();
  });
}

// The batch starts when the event loop has nothing else to do, so that what arrived together is written
// together.
kj::Promise<void> OutputGate::untilSomethingGathered() {
  if (!gathering_.mutations.empty()) return kj::evalLast([]() {});
  auto paf = kj::newPromiseAndFulfiller<void>();
  wake_ = kj::mv(paf.fulfiller);
  return paf.promise.then([]() { return kj::evalLast([]() {}); });
}

kj::Promise<void> OutputGate::writeBatch() {
  writing_ = true;
  inFlight_ = kj::mv(gathering_);
  gathering_ = {};
  auto paf = kj::newPromiseAndCrossThreadFulfiller<bool>();
  {
    const std::lock_guard lock(mutex_);
    toWrite_ = &inFlight_.mutations;
    written_ = kj::mv(paf.fulfiller);
  }
  handedOver_.notify_one();
  return paf.promise.then([this](bool) {
    Status status;
    {
      const std::lock_guard lock(mutex_);
      status = kj::mv(outcome_);
    }
    release(status);
  });
}

void OutputGate::release(const Status& status) {
  if (!status.ok()) {
    stopped_ = true;
    failed_(status.error());
    return;
  }
  failpoint("master.synced");
  writing_ = false;
  auto outputs = kj::mv(inFlight_.outputs);
  inFlight_ = {};
  for (auto& output : outputs) output();
}

void OutputGate::writeLoop() {
  std::unique_lock lock(mutex_);
  while (true) {
    handedOver_.wait(lock, [this]() { return quit_ || toWrite_ != nullptr; });
    if (quit_) return;
    const std::vector<Mutation>& mutations = *toWrite_;
    toWrite_ = nullptr;
    lock.unlock();
    failpoint("master.before_sync");
    Status status = store_.write(mutations);
    lock.lock();
    outcome_ = std::move(status);
    auto written = kj::mv(written_);
    written->fulfill(true);
  }
}

}  // namespace tarcil
