#include "agent/late/late_numbers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <kj/async-io.h>
#include <kj/debug.h>

#include <deque>
#include <map>

namespace tarcil::late_numbers_test {

using testing::ElementsAre;
using testing::Pair;

// A master that answers when it is told to.
struct LateNumbersTest : testing::Test {
  ~LateNumbersTest() noexcept override = default;

  kj::EventLoop loop;
  kj::WaitScope scope{loop};
  std::deque<std::pair<uint32_t, kj::Own<kj::PromiseFulfiller<JobNumber>>>> asked;
  std::map<late::JobNumber, JobNumber> given;
  LateNumbers numbers{[this](uint32_t count) {
                        auto answer = kj::newPromiseAndFulfiller<JobNumber>();
                        asked.emplace_back(count, kj::mv(answer.fulfiller));
                        return kj::mv(answer.promise);
                      },
                      [this](late::JobNumber job, JobNumber number) { given[job] = number; }};

  void answer(JobNumber first) {
    asked.front().second->fulfill(kj::mv(first));
    asked.pop_front();
    scope.poll();
  }
};

TEST_F(LateNumbersTest, TheFirstJobsWaitForTheMaster) {
  EXPECT_TRUE(asked.empty()) << "an agent without late-bound jobs takes no numbers";
  EXPECT_EQ(numbers.take(100), 0u);
  EXPECT_EQ(numbers.take(101), 0u);
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0].first, LateNumbers::kFirstLease);
  auto settled = numbers.settled();
  EXPECT_FALSE(settled.poll(scope));
  answer(4711);
  EXPECT_TRUE(settled.poll(scope));
  EXPECT_THAT(given, ElementsAre(Pair(100, 4711), Pair(101, 4712)));
  EXPECT_EQ(numbers.take(102), 4713u);
}

TEST_F(LateNumbersTest, LeasesGrowWhereTheyAreUsedUp) {
  numbers.take(0);
  answer(1);
  for (JobNumber number = 2; number <= LateNumbers::kFirstLease; ++number)
    EXPECT_EQ(numbers.take(number), number);
  EXPECT_EQ(numbers.take(50), 0u);
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0].first, 8 * LateNumbers::kFirstLease);
  answer(1000);
  EXPECT_EQ(given.at(50), 1000u);
}

TEST_F(LateNumbersTest, TheNextJobAsksAgainWhereTheMasterWasOutOfReach) {
  numbers.take(0);
  asked.front().second->reject(KJ_EXCEPTION(DISCONNECTED, "away"));
  asked.pop_front();
  scope.poll();
  EXPECT_TRUE(numbers.settled().poll(scope)) << "nobody waits for what will not come";
  numbers.take(1);
  answer(7);
  EXPECT_THAT(given, ElementsAre(Pair(0, 7), Pair(1, 8)));
}

TEST_F(LateNumbersTest, OnlySoManyJobsWaitForOne) {
  for (late::JobNumber job = 0; job < LateNumbers::kMostWaiting + 5; ++job) numbers.take(job);
  EXPECT_EQ(asked.size(), 1u);
  answer(1);
  EXPECT_EQ(given.size(), LateNumbers::kFirstLease);
  EXPECT_EQ(numbers.take(0), 0u) << "others wait before it";
}

}  // namespace tarcil::late_numbers_test
