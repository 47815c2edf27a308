// The pressure of the late-bound tasks of one server, as the master is to count it (docs/late-binding.md).
#pragma once

#include <array>
#include <optional>

#include "core/base/time.h"
#include "core/model/resources.h"
#include "latebinding/options.h"

namespace tarcil::late {

// Tasks of milliseconds come and go, and each change that the master counts goes to every agent. So their
// pressure is smoothed, and reported from time to time, when it has moved by a few points or has settled.
//
// Single-threaded; no I/O.
class PoolCharge {
 public:
  // Requires: options without problems.
  explicit PoolCharge(const ChargeOptions& options) : options_(options) {}

  // `caused`: the sum over the tasks that hold slots from now on. To be called after each change of it,
  // and at nextWake(): what the master is to count from now on, if that changes. Requires: `now` does
  // not decrease.
  std::optional<PressureSum> update(const PressureSum& caused, MonotonicTime now);

  // max() where nothing will become due.
  MonotonicTime nextWake() const { return wake_; }
  // The last one; zero at first.
  const PressureSum& told() const { return told_; }

 private:
  void smooth(MonotonicTime now);
  bool hasSettled() const;
  PressureSum rounded() const;
  bool isNear(const PressureSum& current) const;

  const ChargeOptions options_;
  PressureSum caused_{};
  std::array<double, kResources> smoothed_{};
  MonotonicTime smoothedAt_{};
  PressureSum told_{};
  MonotonicTime wake_ = MonotonicTime::max();
};

}  // namespace tarcil::late
