// Time zones of the system's database: what a clock on the wall shows at an instant, and the instant at which
// it shows that.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/base/time.h"
#include "core/base/time_zones.h"

namespace tarcil {

// Immutable, cheap to copy; any thread. Rules hold for all years to come, as far as the database knows now.
class TimeZone final : public ZoneRules {
 public:
  // UTC, which needs no database.
  TimeZone() = default;

  // UTC and that much more. Requires: less than a day.
  static TimeZone fixed(std::chrono::seconds offset);

  // By a name of the database, "Europe/Berlin", or "UTC". Reads a file below TZDIR, else /usr/share/zoneinfo.
  // Error: kInvalid, with what to do, where there is no such zone or no database.
  static Result<TimeZone> named(std::string_view name);

  // That of a user whose environment variable TZ is `tz`; null: it is not set, and /etc/localtime counts, or
  // UTC where the machine has no such file. Error: kInvalid, with what to do, where it cannot be read.
  static Result<TimeZone> ofUser(const char* tz);

  std::chrono::seconds offsetAt(WallTime instant) const override;
  WallTime instantOf(LocalTime local) const override;

 private:
  struct Rules;

  explicit TimeZone(std::shared_ptr<const Rules> rules);
  static Result<TimeZone> loaded(const std::string& file);

  std::shared_ptr<const Rules> rules_;  // null: UTC
};

// The zones of this machine's database, as TimeZone::named() finds them.
const TimeZones& systemTimeZones();

// The name of the zone that TimeZone::ofUser(tz) is; UTC where this machine's own zone has none. Error: as
// there.
Result<std::string> zoneNameOfUser(const char* tz);

}  // namespace tarcil
