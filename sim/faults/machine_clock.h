// The clocks of one machine: they are never quite those of another.
#pragma once

#include <functional>
#include <optional>
#include <utility>

#include "sim/faults/virtual_world.h"

namespace tarcil::sim {

// The monotonic clock runs a little too fast or too slow; the one for people jumps.
class MachineClock {
 public:
  explicit MachineClock(const VirtualWorld& world) : world_(world), since_(world.now().steady) {}

  // For the whole run: so many millionths too fast, or below 0 too slow. Requires: ppm > -1,000,000.
  void runBy(int64_t ppm) { ppm_ = ppm; }
  void jump(Duration by) { wallOffset_ += by; }

  Now now() const {
    const Now truth = world_.now();
    return {read(truth.steady), truth.wall + wallOffset_};
  }

  // The first true time at which the monotonic clock shows `reading` or more.
  MonotonicTime truth(MonotonicTime reading) const {
    const Duration elapsed = reading - since_;
    MonotonicTime when = reading - elapsed * ppm_ / (1'000'000 + ppm_);
    while (read(when) >= reading) when -= Duration(1);
    while (read(when) < reading) when += Duration(1);
    return when;
  }

 private:
  MonotonicTime read(MonotonicTime truth) const { return truth + (truth - since_) * ppm_ / 1'000'000; }

  const VirtualWorld& world_;
  const MonotonicTime since_;
  int64_t ppm_ = 0;
  Duration wallOffset_{};
};

// What carries out WakeAt: setting it again replaces what was set before.
class VirtualTimer {
 public:
  // `world` and `clock` outlive it, and it outlives the run.
  VirtualTimer(VirtualWorld& world, const MachineClock& clock, std::function<void()> ring)
      : world_(world), clock_(clock), ring_(std::move(ring)) {}

  // By the machine's clock.
  void set(MonotonicTime when) {
    due_ = clock_.truth(when);
    if (!wakes_ || *due_ < *wakes_) wakeAt(*due_);
  }
  void clear() { due_.reset(); }

 private:
  // One entry of the agenda at a time: one that comes too early looks again.
  void wakeAt(MonotonicTime when) {
    wakes_ = when;
    world_.at(when, [this, current = ++setting_] {
      if (current != setting_) return;
      wakes_.reset();
      if (!due_) return;
      if (*due_ > world_.now().steady) return wakeAt(*due_);
      due_.reset();
      ring_();
    });
  }

  VirtualWorld& world_;
  const MachineClock& clock_;
  const std::function<void()> ring_;
  std::optional<MonotonicTime> due_, wakes_;
  uint64_t setting_ = 0;
};

}  // namespace tarcil::sim
