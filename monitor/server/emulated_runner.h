// Drives an EmulatedExecutor by the real clock.
#pragma once

#include <kj/function.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "env/alarm.h"
#include "env/clock.h"
#include "monitor/logic/emulated_executor.h"

namespace tarcil {

// Lives on the event loop's thread. `clock` and `listener` outlive it. The emulated time moves only in the
// alarm, since it may call the listener; starts and signals are kept until then.
class EmulatedRunner final : public Executor {
 public:
  using Tell = kj::Function<void(const std::vector<Violation>&, const std::vector<PerformanceSample>&)>;
  // `shares` as for EmulatedExecutor. `tell`: what the master is to hear of the tasks' performance.
  EmulatedRunner(kj::Timer& timer, const Clock& clock, ExecutorListener& listener,
                 std::map<std::string, Share> shares, Tell tell)
      : clock_(clock),
        emulated_(listener, clock.now(), std::move(shares)),
        tell_(kj::mv(tell)),
        alarm_(timer, clock, [this]() { advance(); }) {}

  ~EmulatedRunner() noexcept override {}

  void record(const LaunchSpec& spec) override { emulated_.record(spec); }

  void extendLease(MonotonicTime until) override {
    later([this, until]() { emulated_.extendLease(until); });
  }

  // A timer has no use for secrets.
  void start(const LaunchSpec& spec, const std::vector<InputFile>& files,
             const std::vector<TaskSecret>&) override {
    later([this, spec, files]() { emulated_.start(spec, files, {}); });
  }

  void recordReason(AllocationId allocation, EndCause reason) override {
    emulated_.recordReason(allocation, reason);
  }

  Status resize(AllocationId allocation, const std::vector<RuIndex>& rus) override {
    if (!emulated_.speed(allocation)) return notFound("this task is not running");
    later([this, allocation, rus]() { (void)emulated_.resize(allocation, rus); });
    return {};
  }

  Status throttle(AllocationId allocation, const Throttle& throttle) override {
    return emulated_.throttle(allocation, throttle);
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
    if (const MonotonicTime now = clock_.now().steady; emulated_.watched() > 0 && now >= nextSample_) {
      nextSample_ = now + kSamplePeriod;
      const auto violations = emulated_.sample();
      const auto moved = emulated_.moved();
      if (!violations.empty() || !moved.empty()) tell_(violations, moved);
    }
    if (!requests_.empty()) return alarm_.set(clock_.now().steady);
    auto next = emulated_.nextWake();
    if (emulated_.watched() > 0) next = std::min(next.value_or(nextSample_), nextSample_);
    if (next) alarm_.set(*next);
  }

  // Short enough for the windows of tests; a sample takes a microsecond.
  static constexpr Duration kSamplePeriod = std::chrono::milliseconds(100);

  const Clock& clock_;
  EmulatedExecutor emulated_;
  Tell tell_;
  MonotonicTime nextSample_{};
  std::vector<kj::Function<void()>> requests_;
  Alarm alarm_;
};

}  // namespace tarcil
