#include "env/loop_step.h"

#include <ctime>
#include <utility>

namespace tarcil {
namespace {

// One for each thread, as each has an event loop of its own if any.
thread_local bool isInStep = false;
thread_local LongestStep longest;

}  // namespace

Duration threadTime() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::duration_cast<Duration>(std::chrono::seconds(time.tv_sec) +
                                              std::chrono::nanoseconds(time.tv_nsec));
}

LongestStep longestStep() {
  return longest;
}

LoopStep::LoopStep(std::string_view what)
    : what_(what),
      isOutermost_(!std::exchange(isInStep, true)),
      begin_(isOutermost_ ? threadTime() : Duration{}) {}

LoopStep::~LoopStep() {
  if (!isOutermost_) return;
  isInStep = false;
  if (const Duration took = threadTime() - begin_; took > longest.took) longest = {took, what_};
}

}  // namespace tarcil
