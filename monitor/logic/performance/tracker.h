// Follows the performance of one task and says when a violation begins and when it is over. Pure.
//
// Expected is the job's target. Without one it is what earlier runs of the application lead to expect, or
// what the task itself did before, whichever is more. Of the latter: its time is cut into pieces of the
// goal's window; each piece without a violation counts with the median of its samples, and the task's usual
// performance is the median of the better half of the last 60 pieces, so that neither a burst nor a slow
// decline moves it much. The first piece, in which a task starts up, does not count, and is not judged but by
// a target; the usual performance is not known before three pieces do.
//
// A violation begins when, over a whole window, three quarters of the samples were below
// (1 - deviation) x expected. It is over when over a whole window three quarters were above
// (1 - deviation / 2) x expected: what swings around a border is told once.
#pragma once

#include <deque>
#include <optional>

#include "core/base/time.h"
#include "core/model/performance.h"

namespace tarcil {

class PerformanceTracker final {
 public:
  // `earlier`: as LaunchSpec::earlier.
  explicit PerformanceTracker(const PerformanceGoal& goal, double earlier = 0)
      : goal_(goal), earlier_(earlier) {}

  enum class Change : uint8_t { kNone, kBegan, kOver };

  // The metric was `value` since the last sample. A value that is not a number, or negative, is ignored.
  // Requires: `now` does not decrease. While there are no samples, nothing changes.
  Change take(double value, MonotonicTime now);

  // The latest samples are low: the task may be degraded soon, or it is.
  bool suspicious() const { return degraded_ || low_ >= kSuspicious; }
  bool isDegraded() const { return degraded_; }

  // nullopt: not known yet.
  std::optional<double> expected() const;
  // Of the task itself, in times without a violation; nullopt: not known yet.
  std::optional<double> usual() const;
  bool hasSamples() const { return !window_.empty(); }
  // Median of the samples of the latest window. Requires: hasSamples().
  double measured() const;
  // When the violation began: the first low sample of the window that showed it. Requires: isDegraded().
  MonotonicTime since() const { return since_; }

 private:
  struct Sample {
    MonotonicTime when;
    double value;
  };

  // Of so many low samples in a row the first may be the start of a violation.
  static constexpr int kSuspicious = 2;

  void remember(double value, MonotonicTime now);
  void learn(MonotonicTime now);

  const PerformanceGoal goal_;
  const double earlier_;
  std::deque<Sample> window_;           // the samples of the latest window
  std::optional<MonotonicTime> begin_;  // of the first sample
  std::deque<double> piece_;            // samples of the piece under way
  MonotonicTime pieceBegin_{};
  int pieces_ = 0;  // closed, also those that do not count
  bool isPieceSuspicious_ = false;
  std::deque<double> history_;  // medians of pieces, the oldest first
  int low_ = 0;                 // samples in a row, up to now
  bool degraded_ = false;
  MonotonicTime since_{};
};

}  // namespace tarcil
