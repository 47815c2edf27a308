// Sizes, durations and times as people write and read them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/base/time.h"

namespace tarcil {

inline constexpr uint64_t kMaxSize = 1ull << 60;                       // 1 EiB
inline constexpr Duration kMaxDuration = std::chrono::days(10 * 365);  // about ten years

// As far as a job may wait for its time, and any duration that a peer tells: about a thousand years.
inline constexpr Duration kFarthest = 100 * kMaxDuration;

// A number and one of B, KiB, MiB, GiB, TiB (powers of 1024), KB, MB, GB, TB (powers of 1000): "2GiB",
// "1.5 MB". At most kMaxSize; rounded down to whole bytes. Error: kInvalid with problem and remedy,
// without a place.
Result<uint64_t> parseSize(std::string_view text);

// In the largest unit of 1024 that gives at least 1; exact where that is a whole number, else with
// one decimal.
std::string formatSize(uint64_t bytes);

// Numbers with one of us, ms, s, m, h, d, larger units first: "10s", "1.5h", "1m30s". At most kMaxDuration;
// rounded down to microseconds. Error: kInvalid with problem and remedy, without a place.
Result<Duration> parseDuration(std::string_view text);

// Short and readable by parseDuration; what is below a thousandth of the value may be cut.
std::string formatDuration(Duration duration);

// ISO 8601, UTC, microseconds: "2024-05-01T12:34:56.123456Z".
std::string formatTime(WallTime time);

// What formatTime writes; fewer than six decimals or none are read too. Error: kInvalid with problem
// and remedy.
Result<WallTime> parseTime(std::string_view text);

// "3 min ago", "in 2 h", "now" within a second; the largest unit only.
std::string formatRelative(WallTime time, WallTime now);

}  // namespace tarcil
