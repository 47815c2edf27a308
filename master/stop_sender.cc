#include "master/stop_sender.h"

namespace tarcil {

void StopSender::stop(AllocationId allocation) {
  waiting_.insert(allocation);
  if (sending_) return;
  sending_ = true;
  // A failed call means that the connection is going: the monitor is told again when it attaches.
  running_ = kj::evalLast([this]() { return run(); }).eagerlyEvaluate([](kj::Exception&&) {});
}

kj::Promise<void> StopSender::run() {
  if (waiting_.empty()) {
    sending_ = false;
    return kj::READY_NOW;
  }
  auto request = control_.stopRequest();
  auto allocations = request.initAllocations(static_cast<uint32_t>(waiting_.size()));
  uint32_t i = 0;
  for (AllocationId allocation : waiting_) allocations.set(i++, allocation);
  waiting_.clear();
  return request.send().ignoreResult().then([this]() { return run(); });
}

}  // namespace tarcil
