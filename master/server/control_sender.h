// Commands to one monitor: stop tasks, resize and throttle them, limit pools.
#pragma once

#include <kj/async.h>
#include <kj/function.h>
#include <kj/timer.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/model/performance.h"
#include "env/stop.h"
#include "latebinding/pool_messages.h"
#include "schema/master.capnp.h"

namespace tarcil {

// Single-threaded.
class ControlSender final {
 public:
  // `failed`: the monitor did not take a stop or a limit, and no more are sent; it may not destroy this at
  // once. `timer` outlives this.
  ControlSender(kj::Timer& timer, wire::MonitorControl::Client control,
                kj::Function<void(const Error&)> failed)
      : timer_(timer), control_(kj::mv(control)), failed_(kj::mv(failed)) {}

  // One message is under way at a time; requests meanwhile are coalesced, each task once, so that a monitor
  // that does not answer costs bounded memory.
  void stop(AllocationId allocation);

  // Coalesced in the same way: the last limit of each server.
  void limit(const std::string& server, const late::PoolLimit& limit);

  // As MonitorControl.revoked.
  kj::Promise<void> tellRevoked(const std::vector<uint64_t>& serials);

  // `answered` is called with the monitor's answer, and not at all where the connection is lost. The master
  // has at most one resize under way for each task, and throttles a task at most once a step.
  void resize(AllocationId allocation, const std::vector<RuIndex>& rus, kj::Function<void(Status)> answered);
  void throttle(AllocationId allocation, const Throttle& throttle, kj::Function<void(Status)> answered);

 private:
  void await(kj::Promise<void> change, kj::Function<void(Status)> answered);
  void runSoon();
  kj::Promise<void> run();
  kj::Promise<void> sendLimits();

  kj::Timer& timer_;
  wire::MonitorControl::Client control_;
  kj::Function<void(const Error&)> failed_;
  std::set<AllocationId> waiting_;                 // to be stopped
  std::map<std::string, late::PoolLimit> limits_;  // by server
  bool sending_ = false;
  kj::Promise<void> running_ = nullptr;
  StopsIfFailed stops_{"the answer to a resize or a throttle"};
  kj::TaskSet changes_{stops_};  // of tasks, under way
};

}  // namespace tarcil
