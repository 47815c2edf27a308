#include "monitor/logic/performance/tracker.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tarcil::tracker_test {

using namespace std::chrono_literals;
using Change = PerformanceTracker::Change;

PerformanceGoal aimingAt(double target) {
  return {.metric = Metric::kReported, .target = target, .deviation = 0.1, .window = 10s};
}

// Gives a tracker a sample each second.
struct Tracked {
  explicit Tracked(const PerformanceGoal& goal, double earlier = 0) : tracker(goal, earlier) {}

  // The first change in so many seconds with this value; kNone where there was none.
  Change during(int seconds, double value) {
    Change change = Change::kNone;
    for (int i = 0; i < seconds; ++i) {
      now += 1s;
      const Change one = tracker.take(value, now);
      if (change == Change::kNone) change = one;
    }
    return change;
  }

  PerformanceTracker tracker;
  MonotonicTime now{100s};
};

TEST(PerformanceTracker, TellsOfADeviationThatLastsLongerThanItsWindow) {
  Tracked task(aimingAt(100));
  EXPECT_EQ(task.during(20, 100), Change::kNone);
  EXPECT_EQ(task.during(7, 80), Change::kNone);
  EXPECT_EQ(task.during(1, 80), Change::kBegan);
  EXPECT_TRUE(task.tracker.isDegraded());
  EXPECT_EQ(task.tracker.since(), MonotonicTime(121s));
  EXPECT_EQ(task.tracker.measured(), 80);
  EXPECT_EQ(task.tracker.expected(), 100);
}

TEST(PerformanceTracker, AShortDipIsNoViolation) {
  Tracked task(aimingAt(100));
  task.during(20, 100);
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(task.during(5, 20), Change::kNone);
    EXPECT_EQ(task.during(5, 100), Change::kNone);
  }
}

TEST(PerformanceTracker, OneGoodSampleAmongBadOnesHidesNothing) {
  Tracked task(aimingAt(100));
  task.during(20, 100);
  task.during(4, 50);
  task.during(1, 120);
  EXPECT_EQ(task.during(5, 50), Change::kBegan);
}

TEST(PerformanceTracker, NothingIsSaidBeforeAWholeWindowWasSeen) {
  Tracked task(aimingAt(100));
  EXPECT_EQ(task.during(10, 10), Change::kNone);
  EXPECT_EQ(task.during(1, 10), Change::kBegan);
}

TEST(PerformanceTracker, WithinTheDeviationAllIsWell) {
  Tracked task(aimingAt(100));
  EXPECT_EQ(task.during(60, 90.5), Change::kNone);
  EXPECT_FALSE(task.tracker.suspicious());
}

TEST(PerformanceTracker, AViolationThatSwingsAroundItsBorderIsToldOnce) {
  Tracked task(aimingAt(100));
  task.during(20, 100);
  EXPECT_EQ(task.during(10, 80), Change::kBegan);
  EXPECT_EQ(task.during(30, 92), Change::kNone);  // better than the border, not yet good
  EXPECT_EQ(task.during(30, 89), Change::kNone);
  EXPECT_EQ(task.during(8, 96), Change::kOver);
  EXPECT_EQ(task.during(30, 92), Change::kNone);
}

TEST(PerformanceTracker, WithoutATargetATaskIsHeldAgainstItsOwnPast) {
  Tracked task(aimingAt(0));
  EXPECT_EQ(task.during(12, 10), Change::kNone);  // starts up: does not count
  task.during(60, 200);
  ASSERT_TRUE(task.tracker.expected());
  EXPECT_EQ(*task.tracker.expected(), 200);
  EXPECT_EQ(task.during(12, 150), Change::kBegan);
}

TEST(PerformanceTracker, NothingIsExpectedBeforeThereIsAPast) {
  Tracked task(aimingAt(0));
  EXPECT_EQ(task.during(15, 200), Change::kNone);
  EXPECT_FALSE(task.tracker.expected());
  EXPECT_EQ(task.during(15, 1), Change::kNone);
}

TEST(PerformanceTracker, EarlierRunsShowWhatATaskLacksFromItsStart) {
  Tracked task(aimingAt(0), 200);
  EXPECT_EQ(task.during(20, 100), Change::kNone) << "it may be starting up";
  EXPECT_EQ(task.during(1, 100), Change::kBegan);
  EXPECT_EQ(task.tracker.expected(), 200);
  EXPECT_EQ(task.during(60, 200), Change::kOver);
  EXPECT_EQ(task.tracker.usual(), 200) << "pieces with a violation do not count";
}

TEST(PerformanceTracker, ATaskThatIsBetterThanEarlierRunsIsHeldAgainstItself) {
  Tracked task(aimingAt(0), 100);
  task.during(80, 200);
  EXPECT_EQ(task.tracker.expected(), 200);
  EXPECT_EQ(task.during(12, 150), Change::kBegan);
}

TEST(PerformanceTracker, ATargetComesBeforeEarlierRuns) {
  Tracked task(aimingAt(100), 200);
  EXPECT_EQ(task.during(60, 100), Change::kNone);
  EXPECT_EQ(task.tracker.expected(), 100);
}

TEST(PerformanceTracker, TimesOfViolationDoNotBecomeTheNorm) {
  Tracked task(aimingAt(0));
  task.during(80, 200);
  EXPECT_EQ(task.during(12, 100), Change::kBegan);
  task.during(2000, 100);
  EXPECT_TRUE(task.tracker.isDegraded());
  EXPECT_EQ(*task.tracker.expected(), 200);
}

TEST(PerformanceTracker, ASlowDeclineIsSeenByTheBetterHalfOfThePast) {
  Tracked task(aimingAt(0));
  task.during(80, 200);
  Change change = Change::kNone;
  double value = 200;
  for (int i = 0; i < 400 && change == Change::kNone; ++i) change = task.during(1, value *= 0.998);
  EXPECT_EQ(change, Change::kBegan);
  EXPECT_GT(value, 120);
}

TEST(PerformanceTracker, NumbersThatAreNoneAreLeftOut) {
  Tracked task(aimingAt(100));
  task.during(20, 100);
  for (const double wrong : {double(NAN), double(INFINITY), -1.0}) {
    EXPECT_EQ(task.during(20, wrong), Change::kNone);
  }
  EXPECT_EQ(task.tracker.measured(), 100);
}

TEST(PerformanceTracker, WhereSamplesStopNothingChanges) {
  Tracked task(aimingAt(100));
  task.during(20, 100);
  EXPECT_EQ(task.during(12, 50), Change::kBegan);
  task.now += 600s;
  EXPECT_EQ(task.during(1, 100), Change::kNone);
  EXPECT_TRUE(task.tracker.isDegraded());
  EXPECT_EQ(task.during(1, 100), Change::kOver);
}

TEST(PerformanceTracker, AWindowOfNoLengthHarmsNothing) {
  PerformanceGoal goal = aimingAt(100);
  goal.window = 0s;
  Tracked task(goal);
  EXPECT_EQ(task.during(5, 50), Change::kNone);
}

TEST(PerformanceTracker, TwoLowSamplesAreSuspicious) {
  Tracked task(aimingAt(100));
  task.during(20, 100);
  task.during(1, 50);
  EXPECT_FALSE(task.tracker.suspicious());
  task.during(1, 50);
  EXPECT_TRUE(task.tracker.suspicious());
  task.during(1, 100);
  EXPECT_FALSE(task.tracker.suspicious());
}

}  // namespace tarcil::tracker_test
