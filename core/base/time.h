// Time as logic sees it: passed in, never read from a clock.
#pragma once

#include <chrono>
#include <cstdint>

namespace tarcil {

using Duration = std::chrono::microseconds;

// For deadlines; runs on while the machine sleeps. Only differences mean something, and only in one process.
using MonotonicTime = std::chrono::time_point<std::chrono::steady_clock, Duration>;

// For people and records; may jump. Nothing is decided by it but whether the time has come that a user named.
using WallTime = std::chrono::sys_time<Duration>;

// One reading of both clocks.
struct Now {
  MonotonicTime steady;
  WallTime wall;
};

// The WallTime that stands for "not yet" in records.
inline constexpr WallTime kNever{};

}  // namespace tarcil
