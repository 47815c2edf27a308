// Time zones as logic sees them: rules that are passed in, never read from a machine.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "core/base/result.h"
#include "core/base/time.h"

namespace tarcil {

// A date and a time of day, wherever that is.
using LocalTime = std::chrono::local_time<Duration>;

// What a clock on the wall of one place shows. Immutable; any thread.
class ZoneRules {
 public:
  virtual ~ZoneRules() = default;

  // Local time less UTC.
  virtual std::chrono::seconds offsetAt(WallTime instant) const = 0;

  // The first instant at which a clock on the wall shows `local` or, where it is put forward over that, what
  // comes after: of a time that there is twice the first, and for one that there is not when the clock is put
  // forward. Requires: a year from 1 to 9999.
  virtual WallTime instantOf(LocalTime local) const = 0;

  LocalTime localTime(WallTime instant) const {
    return LocalTime(instant.time_since_epoch() + offsetAt(instant));
  }
};

// The zones that a program knows, by their names in the system's database.
class TimeZones {
 public:
  virtual ~TimeZones() = default;

  // Error: kInvalid, with what to do, where there is no such zone.
  virtual Result<std::shared_ptr<const ZoneRules>> named(const std::string& name) const = 0;
};

// UTC alone.
const TimeZones& utcOnly();

}  // namespace tarcil
