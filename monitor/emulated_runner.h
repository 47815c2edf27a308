// Drives an EmulatedExecutor by the real clock.
#pragma once

#include <kj/function.h>

#include <utility>
#include <vector>

#include "env/alarm.h"
#include "env/clock.h"
#include "monitor/emulated_executor.h"

namespace tarcil {

// Lives on the event loop's thread. `clock` and `listener` outlive it. The emulated time moves only in the
// alarm, since it may call the listener; starts and signals are kept until then.
class EmulatedRunner final : public Executor {
 public:
  EmulatedRunner(kj::Timer& timer, const Clock& clock, ExecutorListener& listener)
      : clock_(clock), emulated_(listener, clock.now()), alarm_(timer, clock, [this]() { advance(); }) {}

  ~EmulatedRunner() noexcept override {}

  void record(const LaunchSpec& spec) override { emulated_.record(spec); }

  void extendLease(MonotonicTime until) override {
    later([this, until]() { emulated_.extendLease(until); });
  }

  void start(const LaunchSpec& spec, const std::vector<InputFile>& files) override {
    later([this, spec, files]() { emulated_.start(spec, files); });
  }

  void recordReason(AllocationId allocation, EndCause reason) override {
    emulated_.recordReason(allocation, reason);
  }

  void signal(AllocationId allocation, int signal) override {
    later([this, allocation, signal]() { emulated_.signal(allocation, signal); });
  }

  void forget(AllocationId allocation) override { emulated_.forget(allocation); }
  std::vector<RecoveredTask> recover() override { return emulated_.recover(); }

 private:
  void later(kj::Function<void()> request) {
    requests_.push_back(kj::mv(request));
    alarm_.set(clock_.now().steady);
  }

  void advance() {
    emulated_.advance(clock_.now());
    for (auto& request : std::exchange(requests_, {})) request();
    if (!requests_.empty()) {
      alarm_.set(clock_.now().steady);
    } else if (const auto next = emulated_.nextWake()) {
      alarm_.set(*next);
    }
  }

  const Clock& clock_;
  EmulatedExecutor emulated_;
  std::vector<kj::Function<void()>> requests_;
  Alarm alarm_;
};

}  // namespace tarcil
