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

PerformanceLog::Degraded below(uint8_t job, TaskIndex task, int since, double part) {
  return {{id(job), task}, at(since), part};
}

TEST(PerformanceLog, BeginsWhenTheViolationBeganAndEndsWhenItIsOver) {
  PerformanceLog log;
  log.take("s1", {below(1, 3, 5, 0.7)}, at(10));
  log.take("s1", {below(1, 3, 5, 0.8)}, at(20));
  log.take("s1", {}, at(30));
  EXPECT_THAT(log.of(id(1)).at(3),
              ElementsAre(Measure{at(5), 0.7}, Measure{at(20), 0.8}, Measure{at(30), 1}));
}

TEST(PerformanceLog, SaysOnceWhatStaysAsItWas) {
  PerformanceLog log;
  for (int second = 10; second < 20; ++second) log.take("s1", {below(1, 0, 5, 0.7)}, at(second));
  EXPECT_THAT(log.of(id(1)).at(0), ElementsAre(Measure{at(5), 0.7}));
}

TEST(PerformanceLog, EndsOnOneServerWhatBeganThereAlone) {
  PerformanceLog log;
  log.take("s1", {below(1, 0, 5, 0.7), below(1, 1, 6, 0.6)}, at(10));
  log.take("s2", {}, at(11));
  log.take("s1", {below(1, 1, 6, 0.6)}, at(12));
  EXPECT_THAT(log.of(id(1)).at(0), ElementsAre(Measure{at(5), 0.7}, Measure{at(12), 1}));
  EXPECT_THAT(log.of(id(1)).at(1), ElementsAre(Measure{at(6), 0.6}));
}

TEST(PerformanceLog, BelievesNoViolationThatIsToBeginLater) {
  PerformanceLog log;
  log.take("s1", {below(1, 0, 99, 0.7)}, at(10));
  EXPECT_THAT(log.of(id(1)).at(0), ElementsAre(Measure{at(10), 0.7}));
}

TEST(PerformanceLog, KnowsNothingOfOtherJobs) {
  PerformanceLog log;
  log.take("s1", {below(1, 0, 5, 0.7)}, at(10));
  EXPECT_THAT(log.of(id(2)), IsEmpty());
}

TEST(PerformanceLog, IsOfSoManyTasksAndMeasures) {
  PerformanceLog log({.tasks = 2, .measures = 3});
  log.take("s1", {below(1, 0, 1, 0.5)}, at(1));
  log.take("s1", {below(2, 0, 2, 0.5)}, at(2));
  log.take("s1", {below(3, 0, 3, 0.5)}, at(3));
  EXPECT_EQ(log.size(), 2u);
  EXPECT_THAT(log.of(id(1)), IsEmpty());
  for (int second = 4; second < 14; ++second) log.take("s1", {below(3, 0, 3, second / 20.0)}, at(second));
  EXPECT_THAT(log.of(id(3)).at(0), SizeIs(3));
  EXPECT_EQ(log.of(id(3)).at(0).back().at, at(13));
}

}  // namespace tarcil::gateway::performance_log_test
