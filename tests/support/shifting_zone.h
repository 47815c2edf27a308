// A time zone whose clocks are put forward or back at instants that a test chooses.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "core/base/time_zones.h"

namespace tarcil {

class ShiftingZone final : public ZoneRules {
 public:
  // `offsets`: local time less UTC from each instant on; before the first one it is zero.
  explicit ShiftingZone(std::map<WallTime, std::chrono::minutes> offsets) : offsets_(std::move(offsets)) {}

  std::chrono::seconds offsetAt(WallTime instant) const override {
    const auto next = offsets_.upper_bound(instant);
    return next == offsets_.begin() ? std::chrono::minutes(0) : std::prev(next)->second;
  }
  WallTime instantOf(LocalTime local) const override {
    std::chrono::minutes offset(0);
    for (const auto& [from, after] : offsets_) {
      const WallTime instant(local.time_since_epoch() - offset);
      if (instant < from) return instant;  // by the offset until then
      if (local.time_since_epoch() < from.time_since_epoch() + after) return from;  // put forward over it
      offset = after;
    }
    return WallTime(local.time_since_epoch() - offset);
  }

 private:
  std::map<WallTime, std::chrono::minutes> offsets_;
};

// Knows UTC, and another zone by the name "Shifting".
class ShiftingZones final : public TimeZones {
 public:
  explicit ShiftingZones(ShiftingZone zone) : zone_(std::make_shared<const ShiftingZone>(std::move(zone))) {}

  Result<std::shared_ptr<const ZoneRules>> named(const std::string& name) const override {
    if (name == "Shifting") return zone_;
    return utcOnly().named(name);
  }

 private:
  std::shared_ptr<const ZoneRules> zone_;
};

}  // namespace tarcil
