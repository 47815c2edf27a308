// Late-bound tasks that are timers.
#pragma once

#include <map>

#include "env/alarm.h"
#include "env/clock.h"
#include "monitor/late/late_executor.h"

namespace tarcil {

// A task behaves as monitor/logic/emulated_executor.h says, and is over at once where it takes no time.
// Executors are not started: their tasks do as their commands say. Lives on the event loop's thread.
class LateEmulated final : public LateExecutor {
 public:
  // `clock` outlives it.
  LateEmulated(kj::Timer& timer, const Clock& clock);
  ~LateEmulated() noexcept override {}

  // Before the first start(); it outlives this object.
  void tell(LateExecutorListener& listener) { listener_ = &listener; }

  std::optional<int32_t> start(LateTask task) override;
  void stop(uint32_t server, late::SlotLeaseId lease) override;
  void keepTo(uint32_t, const RuSet&) override {}

 private:
  struct Running {
    uint32_t server = 0;
    late::SlotLeaseId lease = 0;
    int32_t code = 0;
  };

  void advance();

  const Clock& clock_;
  LateExecutorListener* listener_ = nullptr;
  std::multimap<MonotonicTime, Running> running_;  // by end
  Alarm alarm_;
};

}  // namespace tarcil
