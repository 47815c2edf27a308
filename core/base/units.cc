#include "core/base/units.h"

#include <array>
#include <charconv>
#include <cstdio>
#include <optional>

#include "core/base/text.h"

namespace tarcil {
namespace {

struct Unit {
  std::string_view name;
  uint64_t size;
};

constexpr Unit kSizeUnits[] = {
    {"B", 1},     {"KiB", 1ull << 10}, {"MiB", 1ull << 20}, {"GiB", 1ull << 30},  {"TiB", 1ull << 40},
    {"KB", 1000}, {"kB", 1000},        {"MB", 1000'000},    {"GB", 1000'000'000}, {"TB", 1000'000'000'000},
};

// In microseconds, largest first.
constexpr Unit kTimeUnits[] = {
    {"d", 86'400'000'000}, {"h", 3'600'000'000}, {"m", 60'000'000},
    {"s", 1'000'000},      {"ms", 1'000},        {"us", 1},
};

constexpr size_t kMaxDecimals = 6;

bool isDigit(char c) {
  return c >= '0' && c <= '9';
}

size_t countDigits(std::string_view text) {
  size_t count = 0;
  while (count < text.size() && isDigit(text[count])) ++count;
  return count;
}

// A decimal number as digits before and after the point.
struct Decimal {
  std::string_view whole;
  std::string_view fraction;
};

// Takes a number off the front of `text`.
std::optional<Decimal> takeDecimal(std::string_view& text) {
  Decimal number;
  number.whole = text.substr(0, countDigits(text));
  if (number.whole.empty()) return std::nullopt;
  text.remove_prefix(number.whole.size());
  if (text.empty() || text.front() != '.') return number;
  text.remove_prefix(1);
  number.fraction = text.substr(0, countDigits(text));
  if (number.fraction.empty()) return std::nullopt;
  text.remove_prefix(number.fraction.size());
  return number;
}

// Takes a unit's name off the front of `text`: letters, after any spaces.
std::string_view takeUnit(std::string_view& text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  size_t length = 0;
  while (length < text.size() && !isDigit(text[length]) && text[length] != ' ' && text[length] != '.')
    ++length;
  std::string_view unit = text.substr(0, length);
  text.remove_prefix(length);
  return unit;
}

// number * unit, rounded down; nothing where that is more than `most`.
std::optional<uint64_t> inUnits(const Decimal& number, uint64_t unit, uint64_t most) {
  uint64_t whole = 0;
  auto [end, failure] =
      std::from_chars(number.whole.data(), number.whole.data() + number.whole.size(), whole);
  if (failure != std::errc() || whole > most / unit) return std::nullopt;
  uint64_t fraction = 0;
  uint64_t divisor = 1;
  for (char digit : number.fraction.substr(0, kMaxDecimals)) {
    fraction = fraction * 10 + static_cast<uint64_t>(digit - '0');
    divisor *= 10;
  }
  // At most 2^40 * 10^6 in the product: no overflow.
  const uint64_t value = whole * unit + fraction * unit / divisor;
  if (value > most) return std::nullopt;
  return value;
}

template <size_t N>
const Unit* unitNamed(const Unit (&units)[N], std::string_view name) {
  for (const Unit& unit : units) {
    if (unit.name == name) return &unit;
  }
  return nullptr;
}

// At most three decimals, without trailing zeros.
std::string trimmedDecimal(double value) {
  std::array<char, 32> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%.3f", value);
  std::string text = buffer.data();
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

// Below a minute one number with decimals, from there on the two largest units.
std::string formatPositive(uint64_t us) {
  if (us < 1'000) return std::to_string(us) + "us";
  // Cut rather than rounded, so that 59.9999 s does not become 60 s.
  if (us < 1'000'000) return trimmedDecimal(static_cast<double>(us) / 1e3) + "ms";
  const uint64_t ms = us / 1'000;
  if (ms < 60'000) return trimmedDecimal(static_cast<double>(ms) / 1e3) + "s";
  size_t large = 0;
  while (kTimeUnits[large].size > us) ++large;
  const Unit& first = kTimeUnits[large];
  const Unit& second = kTimeUnits[large + 1];
  std::string text = std::to_string(us / first.size) + std::string(first.name);
  const uint64_t rest = us % first.size / second.size;
  return rest == 0 ? text : text + std::to_string(rest) + std::string(second.name);
}

// Exactly `count` digits at `at`, or nothing.
std::optional<int> digitsAt(std::string_view text, size_t at, size_t count) {
  if (at > text.size() || countDigits(text.substr(at, count)) != count) return std::nullopt;
  int value = 0;
  std::from_chars(text.data() + at, text.data() + at + count, value);
  return value;
}

// ".123456Z", ".5Z" or "Z" as microseconds.
std::optional<int> parseFraction(std::string_view text) {
  if (text == "Z") return 0;
  if (text.size() < 3 || text.front() != '.' || text.back() != 'Z') return std::nullopt;
  text = text.substr(1, text.size() - 2);
  if (text.size() > 6 || countDigits(text) != text.size()) return std::nullopt;
  std::string padded(text);
  padded.resize(6, '0');
  return digitsAt(padded, 0, 6);
}

std::optional<WallTime> readTime(std::string_view text) {
  if (text.size() < 20 || text[4] != '-' || text[7] != '-' || text[10] != 'T' || text[13] != ':' ||
      text[16] != ':') {
    return std::nullopt;
  }
  auto year = digitsAt(text, 0, 4), month = digitsAt(text, 5, 2), day = digitsAt(text, 8, 2);
  auto hour = digitsAt(text, 11, 2), minute = digitsAt(text, 14, 2), second = digitsAt(text, 17, 2);
  auto fraction = parseFraction(text.substr(19));
  if (!year || !month || !day || !hour || !minute || !second || !fraction) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok() || *hour > 23 || *minute > 59 || *second > 59) return std::nullopt;
  return WallTime(std::chrono::sys_days(date)) + std::chrono::hours(*hour) + std::chrono::minutes(*minute) +
         std::chrono::seconds(*second) + std::chrono::microseconds(*fraction);
}

}  // namespace

Result<uint64_t> parseSize(std::string_view text) {
  const std::string quoted = shown(text);
  auto number = takeDecimal(text);
  if (!number) return invalid(quoted + " is not a size; write a number with a unit, for example 100MiB");
  const std::string_view name = takeUnit(text);
  if (name.empty() && text.empty()) {
    return invalid(quoted +
                   " has no unit; write one of B, KiB, MiB, GiB, TiB behind the number, for example 100MiB");
  }
  const Unit* unit = unitNamed(kSizeUnits, name);
  if (unit == nullptr || !text.empty()) {
    return invalid(quoted + " has an unknown unit; write one of B, KiB, MiB, GiB, TiB or KB, MB, GB, TB");
  }
  auto bytes = inUnits(*number, unit->size, kMaxSize);
  if (!bytes) return invalid(quoted + " is too large; write at most " + formatSize(kMaxSize));
  return *bytes;
}

std::string formatSize(uint64_t bytes) {
  const Unit* unit = &kSizeUnits[0];
  for (const Unit& larger : kSizeUnits) {
    if (larger.name.ends_with("iB") && larger.size <= bytes) unit = &larger;
  }
  const std::string name(unit->name);
  if (bytes % unit->size == 0) return std::to_string(bytes / unit->size) + name;
  std::array<char, 32> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%.1f",
                static_cast<double>(bytes) / static_cast<double>(unit->size));
  return buffer.data() + name;
}

Result<Duration> parseDuration(std::string_view text) {
  const std::string quoted = shown(text);
  const auto most = static_cast<uint64_t>(kMaxDuration.count());
  uint64_t sum = 0;
  const Unit* last = nullptr;
  do {
    auto number = takeDecimal(text);
    if (!number)
      return invalid(quoted + " is not a duration; write a number with a unit, for example 10s or 500ms");
    const std::string_view name = takeUnit(text);
    if (name.empty()) {
      return invalid(quoted +
                     " has no unit; write one of us, ms, s, m, h, d behind the number, for example 10s");
    }
    const Unit* unit = unitNamed(kTimeUnits, name);
    if (unit == nullptr) return invalid(quoted + " has an unknown unit; write one of us, ms, s, m, h, d");
    if (last != nullptr && last->size <= unit->size) {
      return invalid(quoted + " has its units out of order; write the larger first, for example 1m30s");
    }
    auto part = inUnits(*number, unit->size, most - sum);
    if (!part) return invalid(quoted + " is too long; write at most " + formatDuration(kMaxDuration));
    sum += *part;
    last = unit;
  } while (!text.empty());
  return Duration(static_cast<int64_t>(sum));
}

std::string formatDuration(Duration duration) {
  if (duration.count() == 0) return "0s";
  if (duration.count() > 0) return formatPositive(static_cast<uint64_t>(duration.count()));
  return "-" + formatPositive(0 - static_cast<uint64_t>(duration.count()));
}

std::string formatTime(WallTime time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  std::array<char, 64> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%04d-%02u-%02uT%02d:%02d:%02d.%06dZ",
                static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                static_cast<unsigned>(date.day()), static_cast<int>(clock.hours().count()),
                static_cast<int>(clock.minutes().count()), static_cast<int>(clock.seconds().count()),
                static_cast<int>(clock.subseconds().count()));
  return buffer.data();
}

Result<WallTime> parseTime(std::string_view text) {
  if (auto time = readTime(text)) return *time;
  return invalid(shown(text) + " is not a time; write it as 2024-05-01T12:34:56Z, in UTC");
}

std::string formatRelative(WallTime time, WallTime now) {
  static constexpr Unit kUnits[] = {{"d", 86'400}, {"h", 3'600}, {"min", 60}, {"s", 1}};
  const bool isPast = time <= now;
  // What is 2 h ahead is that also a moment later.
  const auto seconds = static_cast<uint64_t>((isPast ? std::chrono::floor<std::chrono::seconds>(now - time)
                                                     : std::chrono::ceil<std::chrono::seconds>(time - now))
                                                 .count());
  for (const Unit& unit : kUnits) {
    if (seconds < unit.size) continue;
    const std::string amount = std::to_string(seconds / unit.size) + ' ' + std::string(unit.name);
    return isPast ? amount + " ago" : "in " + amount;
  }
  return "now";
}

}  // namespace tarcil
