#include "shim/backlog.h"

#include <gtest/gtest.h>

namespace tarcil::backlog_test {

constexpr uint64_t kLimit = 100;
constexpr int64_t kPatience = 60;

TEST(Backlog, OfAnOutputThatNobodyTakesIsNeverFull) {
  Backlog backlog;
  EXPECT_FALSE(backlog.isFull(1'000'000, 0));
  backlog.take(10, 1'000'000, 0);
  EXPECT_FALSE(backlog.isFull(1'000'000, 0));
  EXPECT_EQ(backlog.droppable(500), 500u);
  EXPECT_FALSE(backlog.wasGivenUp());
}

TEST(Backlog, IsFullWhileTheLimitIsNotTaken) {
  Backlog backlog(kLimit, kPatience);
  EXPECT_FALSE(backlog.isFull(99, 0));
  EXPECT_TRUE(backlog.isFull(100, 0));
  backlog.take(1, 100, 1);
  EXPECT_FALSE(backlog.isFull(100, 1));
  EXPECT_TRUE(backlog.isFull(101, 1));
}

TEST(Backlog, KeepsWhatIsNotTaken) {
  Backlog backlog(kLimit, kPatience);
  backlog.take(40, 120, 0);
  EXPECT_EQ(backlog.droppable(20), 20u);
  EXPECT_EQ(backlog.droppable(50), 40u);
}

TEST(Backlog, BelievesNothingOfWhatIsNotWritten) {
  Backlog backlog(kLimit, kPatience);
  backlog.take(1'000, 50, 0);
  EXPECT_TRUE(backlog.isFull(150, 0));
  backlog.take(20, 150, 0);
  EXPECT_FALSE(backlog.isFull(149, 0)) << "what was taken stays so";
}

TEST(Backlog, WaitsForNobodyWhereNobodyTakesAnything) {
  Backlog backlog(kLimit, kPatience);
  EXPECT_FALSE(backlog.isFull(50, 0));
  EXPECT_TRUE(backlog.isFull(100, 1'000)) << "the time counts from when it is full";
  EXPECT_EQ(backlog.secondsLeft(1'010), 50);
  EXPECT_TRUE(backlog.isFull(100, 1'059));
  EXPECT_FALSE(backlog.isFull(100, 1'060));
  EXPECT_FALSE(backlog.isFull(10'000, 1'061));
  EXPECT_TRUE(backlog.wasGivenUp());
  EXPECT_EQ(backlog.droppable(500), 500u);
}

TEST(Backlog, NewsThatBringNothingSayThatSomebodyIsThere) {
  Backlog backlog(kLimit, kPatience);
  EXPECT_TRUE(backlog.isFull(100, 0));
  backlog.take(0, 100, 50);
  EXPECT_TRUE(backlog.isFull(100, 109));
  EXPECT_FALSE(backlog.isFull(100, 110));
}

TEST(Backlog, WaitsAgainForWhoeverComesBack) {
  Backlog backlog(kLimit, kPatience);
  EXPECT_TRUE(backlog.isFull(100, 0));
  EXPECT_FALSE(backlog.isFull(100, kPatience));
  EXPECT_FALSE(backlog.isFull(500, 1'000));
  backlog.take(450, 500, 1'000);
  EXPECT_FALSE(backlog.isFull(549, 1'000));
  EXPECT_TRUE(backlog.isFull(550, 1'000));
  EXPECT_EQ(backlog.secondsLeft(1'000), kPatience);
}

}  // namespace tarcil::backlog_test
