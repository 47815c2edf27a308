// One settable wake-up on the event loop: what a logic class asks for with WakeAt.
#pragma once

#include <kj/async.h>
#include <kj/function.h>
#include <kj/timer.h>

#include "env/clock.h"

namespace tarcil {

// Used on the event loop's thread. `fire` may call set(); what it throws ends the process (env/stop.h).
class Alarm final {
 public:
  // `timer` and `clock` outlive the alarm.
  Alarm(kj::Timer& timer, const Clock& clock, kj::Function<void()> fire);

  // Replaces the earlier wish. A time that is past fires soon; one that came while the machine slept, later
  // by no more than it slept.
  void set(MonotonicTime when);

 private:
  kj::Promise<void> run();

  kj::Timer& timer_;
  const Clock& clock_;
  kj::Function<void()> fire_;
  kj::Maybe<MonotonicTime> when_;
  kj::Own<kj::PromiseFulfiller<void>> changed_;
  kj::Promise<void> running_;
};

}  // namespace tarcil
