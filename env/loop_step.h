// How long the steps of an event loop take: while one runs, nobody else is served.
#pragma once

#include <chrono>
#include <string_view>

#include "core/base/time.h"

namespace tarcil {

// What is done at once of much that waits to be done: short beside what a user notices, long beside what it
// takes to go on.
inline constexpr Duration kWorkAtOnce = std::chrono::milliseconds(1);

// Processor time of the calling thread.
Duration threadTime();

struct LongestStep {
  Duration took{};  // processor time
  std::string_view what;
};
// Of the calling thread since it began.
LongestStep longestStep();

// What the calling thread does while there is one is a step, or a part of the step around it.
class LoopStep final {
 public:
  // `what` says what is done, for operators; it lives as long as the process.
  explicit LoopStep(std::string_view what);
  ~LoopStep();
  LoopStep(const LoopStep&) = delete;
  LoopStep& operator=(const LoopStep&) = delete;

 private:
  const std::string_view what_;
  const bool isOutermost_;
  const Duration begin_;
};

}  // namespace tarcil
