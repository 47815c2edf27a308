#include "env/stall_detector.h"

#include <gtest/gtest.h>

namespace tarcil::stall_detector_test {

using News = StallDetector::News;

struct StallDetectorTest : testing::Test {
  // The first news of so many looks at which nothing was done.
  News look(int times, bool isAwaited = true) {
    News first = News::kNone;
    for (int i = 0; i < times; ++i) {
      const News news = detector.look(done, isAwaited);
      if (first == News::kNone) first = news;
    }
    return first;
  }
  StallDetector detector;
  uint64_t done = 0;
};

TEST_F(StallDetectorTest, SaysOnceThatNothingGoesOn) {
  EXPECT_EQ(look(StallDetector::kLooksUntilStalled - 1), News::kNone);
  EXPECT_EQ(look(1), News::kStalled);
  EXPECT_EQ(look(1), News::kNone);
}

TEST_F(StallDetectorTest, SaysThatItGoesOnAndBeginsAnew) {
  look(StallDetector::kLooksUntilStalled + 3);
  ++done;
  EXPECT_EQ(look(1), News::kGoesOn);
  EXPECT_EQ(look(StallDetector::kLooksUntilStalled - 1), News::kNone);
  EXPECT_EQ(look(1), News::kStalled);
}

TEST_F(StallDetectorTest, TakesWhatMovesNowAndThenForMoving) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(look(StallDetector::kLooksUntilStalled - 2), News::kNone);
    ++done;
  }
}

TEST_F(StallDetectorTest, DoesNotWaitForWhatNobodyAwaits) {
  EXPECT_EQ(look(2 * StallDetector::kLooksUntilStalled, false), News::kNone);
  EXPECT_EQ(look(StallDetector::kLooksUntilStalled - 1), News::kNone);
  EXPECT_EQ(look(1), News::kStalled);
  EXPECT_EQ(look(1, false), News::kGoesOn);
}

}  // namespace tarcil::stall_detector_test
