// What a gateway remembers of how tasks performed.
#include "gateway/logic/performance_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tarcil::gateway::performance_log_test {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

JobId id(uint8_t number) {
  JobId id;
  id.bytes.fill(number);
  return id;
}

WallTime at(int second) {
  return WallTime(std::chrono::seconds(second));
}

TEST(PerformanceLog, HasWhatEachTaskReachedOverTime) {
  PerformanceLog log;
  log.take({id(1), 3}, 1.1, at(10));
  log.take({id(1), 4}, 1, at(11));
  log.take({id(1), 3}, 0.7, at(20));
  EXPECT_THAT(log.of(id(1)).at(3), ElementsAre(Measure{at(10), 1.1}, Measure{at(20), 0.7}));
  EXPECT_THAT(log.of(id(1)).at(4), ElementsAre(Measure{at(11), 1}));
}

TEST(PerformanceLog, SaysOnceWhatStaysAsItWas) {
  PerformanceLog log;
  for (int second = 10; second < 20; ++second) log.take({id(1), 0}, 0.7, at(second));
  EXPECT_THAT(log.of(id(1)).at(0), ElementsAre(Measure{at(10), 0.7}));
}

TEST(PerformanceLog, IsInTheOrderOfTimeThoughTheClockIsSetBack) {
  PerformanceLog log;
  log.take({id(1), 0}, 0.7, at(10));
  log.take({id(1), 0}, 0.8, at(5));
  EXPECT_THAT(log.of(id(1)).at(0), ElementsAre(Measure{at(10), 0.7}, Measure{at(10), 0.8}));
}

TEST(PerformanceLog, KnowsNothingOfOtherJobs) {
  PerformanceLog log;
  log.take({id(1), 0}, 0.7, at(10));
  EXPECT_THAT(log.of(id(2)), IsEmpty());
}

TEST(PerformanceLog, IsOfSoManyTasksAndMeasures) {
  PerformanceLog log({.tasks = 2, .measures = 3});
  for (uint8_t job = 1; job <= 3; ++job) log.take({id(job), 0}, 0.5, at(job));
  EXPECT_EQ(log.size(), 2u);
  EXPECT_THAT(log.of(id(1)), IsEmpty());
  for (int second = 4; second < 14; ++second) log.take({id(3), 0}, second / 20.0, at(second));
  EXPECT_THAT(log.of(id(3)).at(0), SizeIs(3));
  EXPECT_EQ(log.of(id(3)).at(0).back().at, at(13));
}

}  // namespace tarcil::gateway::performance_log_test
