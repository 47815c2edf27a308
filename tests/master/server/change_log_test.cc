// What has changed behind a number.
#include "master/server/change_log.h"

#include <gtest/gtest.h>

namespace tarcil::change_log_test {

JobId id(uint8_t number) {
  JobId id;
  id.bytes.fill(number);
  return id;
}

constexpr size_t kPlenty = 100;

TEST(ChangeLog, TellsEachThingOnceAndItsLastChange) {
  ChangeLog log(1);
  log.add(id(1));
  log.add(ServerId{7});
  log.add(id(1));
  const auto all = log.behind(0, kPlenty);
  ASSERT_TRUE(all);
  ASSERT_EQ(all->size(), 2u);
  EXPECT_EQ(std::get<ServerId>(all->at(0).what), 7u);
  EXPECT_EQ(all->at(0).number, 2u);
  EXPECT_EQ(std::get<JobId>(all->at(1).what), id(1));
  EXPECT_EQ(all->at(1).number, 3u);
  EXPECT_EQ(log.behind(2, kPlenty)->size(), 1u);
  EXPECT_TRUE(log.behind(3, kPlenty)->empty());
}

TEST(ChangeLog, TellsAFewAtATime) {
  ChangeLog log(1);
  for (uint8_t i = 1; i <= 5; ++i) log.add(id(i));
  const auto some = log.behind(1, 2);
  ASSERT_TRUE(some);
  ASSERT_EQ(some->size(), 2u);
  EXPECT_EQ(some->back().number, 3u);
}

TEST(ChangeLog, ForgetsTheOldestAndSaysSo) {
  ChangeLog log(1, 3);
  for (uint8_t i = 1; i <= 5; ++i) log.add(id(i));
  EXPECT_FALSE(log.behind(0, kPlenty));
  EXPECT_FALSE(log.behind(1, kPlenty));
  ASSERT_TRUE(log.behind(2, kPlenty));
  EXPECT_EQ(log.behind(2, kPlenty)->size(), 3u);
}

TEST(ChangeLog, KnowsNoNumberThatItHasNotGiven) {
  ChangeLog log(1);
  log.add(id(1));
  EXPECT_FALSE(log.behind(2, kPlenty));
}

}  // namespace tarcil::change_log_test
