// Which tasks one monitor is still to be told to stop.
#pragma once

#include <kj/async.h>

#include <set>

#include "core/base/ids.h"
#include "schema/master.capnp.h"

namespace tarcil {

// One message is under way at a time; what is to be stopped meanwhile is joined, each task once. So a monitor
// that does not answer costs a bounded amount of memory, however often somebody asks. Single-threaded.
class StopSender final {
 public:
  explicit StopSender(wire::MonitorControl::Client control) : control_(kj::mv(control)) {}

  void stop(AllocationId allocation);

 private:
  kj::Promise<void> run();

  wire::MonitorControl::Client control_;
  std::set<AllocationId> waiting_;
  bool sending_ = false;
  kj::Promise<void> running_ = nullptr;
};

}  // namespace tarcil
