#include "env/time_zone.h"

#include <absl/time/civil_time.h>
#include <absl/time/time.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "core/base/text.h"

namespace tarcil {
namespace {

using std::chrono::floor;
using std::chrono::seconds;

constexpr const char* kLocalZone = "/etc/localtime";
constexpr size_t kMaxZoneName = 100;
constexpr const char* kOrWithZone =
    "or write the time with its zone, such as 2026-05-01T12:34:56Z or ...+02:00";

// Where the library looks, too.
std::string databaseFolder() {
  const char* folder = std::getenv("TZDIR");
  return folder != nullptr && *folder != '\0' ? folder : "/usr/share/zoneinfo";
}

// Of what is below the folder of the database.
bool isZoneName(std::string_view name) {
  const auto isAllowed = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '/' ||
           c == '_' || c == '+' || c == '-';
  };
  return !name.empty() && name.size() <= kMaxZoneName && name.front() != '/' &&
         std::ranges::all_of(name, isAllowed);
}

// What may be done about a zone of the database that cannot be read.
std::string whyUnreadable() {
  const std::string folder = databaseFolder();
  std::error_code failure;
  if (std::filesystem::is_directory(folder, failure)) {
    return "is no time zone of this machine; write one such as Europe/Berlin, ";
  }
  return "cannot be read: this machine has no time zones in " + folder + "; install the package tzdata, ";
}

seconds sinceEpoch(absl::Time time) {
  return seconds(absl::ToUnixSeconds(time));
}

}  // namespace

struct TimeZone::Rules {
  absl::TimeZone zone;
};

TimeZone::TimeZone(std::shared_ptr<const Rules> rules) : rules_(std::move(rules)) {}

TimeZone TimeZone::fixed(seconds offset) {
  return TimeZone(
      std::make_shared<const Rules>(Rules{absl::FixedTimeZone(static_cast<int>(offset.count()))}));
}

Result<TimeZone> TimeZone::loaded(const std::string& file) {
  absl::TimeZone zone;
  if (!absl::LoadTimeZone(file, &zone)) return notFound(file);
  return TimeZone(std::make_shared<const Rules>(Rules{zone}));
}

Result<TimeZone> TimeZone::named(std::string_view name) {
  if (!isZoneName(name)) {
    return invalid(shown(name) + " is no time zone; write one such as Europe/Berlin, " + kOrWithZone);
  }
  auto zone = loaded(std::string(name));
  if (!zone) return invalid(shown(name) + " " + whyUnreadable() + kOrWithZone);
  return zone;
}

Result<TimeZone> TimeZone::ofUser(const char* tz) {
  if (tz == nullptr) {
    std::error_code failure;
    if (std::filesystem::symlink_status(kLocalZone, failure).type() ==
        std::filesystem::file_type::not_found) {
      return TimeZone();
    }
    auto zone = loaded(kLocalZone);
    if (zone) return zone;
    return invalid(std::string("the time zone of this machine, ") + kLocalZone +
                   ", cannot be read; install the package tzdata, set TZ=UTC, " + kOrWithZone);
  }
  // A colon means that what follows names a file.
  const std::string name = *tz == ':' ? tz + 1 : tz;
  if (name.empty()) return TimeZone();
  auto zone = loaded(name);
  if (zone) return zone;
  return invalid("the environment variable TZ: " + shown(name) + " " + whyUnreadable() + kOrWithZone);
}

seconds TimeZone::offsetAt(WallTime instant) const {
  if (!rules_) return seconds(0);
  const auto second = floor<seconds>(instant).time_since_epoch().count();
  return seconds(rules_->zone.At(absl::FromUnixSeconds(second)).offset);
}

WallTime TimeZone::instantOf(LocalTime local) const {
  if (!rules_) return WallTime(local.time_since_epoch());
  const auto second = floor<seconds>(local);
  const auto found =
      rules_->zone.At(absl::CivilSecond(1970, 1, 1) + absl::civil_diff_t{second.time_since_epoch().count()});
  if (found.kind == absl::TimeZone::TimeInfo::SKIPPED) return WallTime(sinceEpoch(found.trans));
  return WallTime(sinceEpoch(found.pre) + (local - second));
}

namespace {

class SystemTimeZones final : public TimeZones {
 public:
  Result<std::shared_ptr<const ZoneRules>> named(const std::string& name) const override {
    auto zone = TimeZone::named(name);
    if (!zone) return invalid(shown(name) + " " + whyUnreadable() + "or write UTC");
    return std::shared_ptr<const ZoneRules>(std::make_shared<const TimeZone>(std::move(*zone)));
  }
};

}  // namespace

const TimeZones& systemTimeZones() {
  static const SystemTimeZones kZones;
  return kZones;
}

Result<std::string> zoneNameOfUser(const char* tz) {
  const auto checked = TimeZone::ofUser(tz);
  if (!checked) return checked.error();
  std::string name;
  if (tz != nullptr) {
    name = *tz == ':' ? tz + 1 : tz;
  } else {
    // A link to the zone's file, on every distribution of today.
    std::error_code failure;
    name = std::filesystem::read_symlink(kLocalZone, failure).string();
  }
  const std::string_view folder = "zoneinfo/";
  if (const size_t at = name.find(folder); at != std::string::npos) name.erase(0, at + folder.size());
  return isZoneName(name) ? name : std::string("UTC");
}

}  // namespace tarcil
