#include "env/alarm.h"

#include <algorithm>

#include "env/stop.h"

namespace tarcil {

Alarm::Alarm(kj::Timer& timer, const Clock& clock, kj::Function<void()> fire)
    : timer_(timer),
      clock_(clock),
      fire_(kj::mv(fire)),
      running_(run().eagerlyEvaluate(stopsIfFailed("a timer"))) {}

void Alarm::set(MonotonicTime when) {
  when_ = when;
  changed_->fulfill();
}

kj::Promise<void> Alarm::run() {
  auto paf = kj::newPromiseAndFulfiller<void>();
  changed_ = kj::mv(paf.fulfiller);
  kj::Promise<void> next = kj::mv(paf.promise);
  KJ_IF_MAYBE (when, when_) {
    const Duration left = std::max(*when - clock_.now().steady, Duration(0));
    next = next.exclusiveJoin(timer_.afterDelay(left.count() * kj::MICROSECONDS));
  }
  return next.then([this]() -> kj::Promise<void> {
    KJ_IF_MAYBE (when, when_) {
      if (*when <= clock_.now().steady) {
        when_ = nullptr;
        fire_();
      }
    }
    return run();
  });
}

}  // namespace tarcil
