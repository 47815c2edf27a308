#include "master/server/control_sender.h"

#include <memory>

#include "rpc/errors.h"
#include "rpc/turns.h"
#include "schema/convert_support.h"

namespace tarcil {

void ControlSender::stop(AllocationId allocation) {
  waiting_.insert(allocation);
  runSoon();
}

void ControlSender::limit(const std::string& server, const late::PoolLimit& limit) {
  limits_[server] = limit;
  runSoon();
}

kj::Promise<void> ControlSender::tellRevoked(const std::vector<uint64_t>& serials) {
  auto request = control_.revokedRequest();
  convert::writeNumbers<uint64_t>(serials, request.initSerials(static_cast<uint32_t>(serials.size())));
  return request.send().ignoreResult();
}

void ControlSender::runSoon() {
  if (sending_) return;
  sending_ = true;
  running_ =
      untilIdle(timer_).then([this]() { return run(); }).eagerlyEvaluate([this](kj::Exception&& exception) {
        // Where the connection is lost, the monitor is told again when it attaches.
        if (exception.getType() != kj::Exception::Type::DISCONNECTED) failed_(fromException(exception));
      });
}

kj::Promise<void> ControlSender::sendLimits() {
  auto request = control_.limitPoolsRequest();
  auto limits = request.initLimits(static_cast<uint32_t>(limits_.size()));
  uint32_t i = 0;
  for (const auto& [server, limit] : limits_) {
    limits[i].setServer(convert::text(server));
    limits[i].setRevision(limit.revision);
    limits[i++].setUnits(limit.units);
  }
  limits_.clear();
  return request.send().ignoreResult();
}

kj::Promise<void> ControlSender::run() {
  if (!limits_.empty()) return sendLimits().then([this]() { return run(); });
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

void ControlSender::resize(AllocationId allocation, const std::vector<RuIndex>& rus,
                           kj::Function<void(Status)> answered) {
  auto request = control_.resizeRequest();
  request.setAllocation(allocation);
  convert::writeNumbers<uint16_t>(rus, request.initRus(static_cast<uint32_t>(rus.size())));
  await(request.send().ignoreResult(), kj::mv(answered));
}

void ControlSender::throttle(AllocationId allocation, const Throttle& throttle,
                             kj::Function<void(Status)> answered) {
  auto request = control_.throttleRequest();
  request.setAllocation(allocation);
  request.setCpu(throttle.cpu);
  request.setDisk(throttle.disk);
  request.setNetwork(throttle.network);
  request.setCacheWays(throttle.cacheWays);
  request.setMemoryBandwidth(throttle.memoryBandwidth);
  await(request.send().ignoreResult(), kj::mv(answered));
}

void ControlSender::await(kj::Promise<void> change, kj::Function<void(Status)> answered) {
  const auto answer = std::make_shared<kj::Function<void(Status)>>(kj::mv(answered));
  changes_.add(change.then([answer]() { (*answer)({}); },
                           [answer](kj::Exception&& exception) {
                             if (exception.getType() != kj::Exception::Type::DISCONNECTED)
                               (*answer)(fromException(exception));
                           }));
}

}  // namespace tarcil
