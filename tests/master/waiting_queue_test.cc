#include "master/waiting_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/master/master_harness.h"

namespace tarcil::master {
namespace {

using Mode = WaitingQueue::Mode;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;

Place place(uint8_t priority, int job) {
  return {.urgency = static_cast<uint8_t>(255 - priority),
          .submitted = WallTime(Duration(job)),
          .job = jobId(job)};
}

bool anybody(const JobId&) {
  return true;
}

// Jobs 1 to `count` of one priority, to be tried.
WaitingQueue queueOf(int count, uint8_t priority = 50) {
  WaitingQueue queue;
  for (int job = 1; job <= count; ++job) queue.put(place(priority, job), Mode::kToBeTried);
  return queue;
}

TEST(WaitingQueue, GivesTurnsByAge) {
  WaitingQueue queue = queueOf(3);
  EXPECT_THAT(queue.giveTurns(2, anybody), ElementsAre(jobId(1), jobId(2)));
}

TEST(WaitingQueue, TriesNobodyWhileOneOfAHigherPriorityHasItsTurn) {
  WaitingQueue queue = queueOf(1, 10);
  queue.put(place(20, 2), Mode::kToBeTried);
  EXPECT_THAT(queue.giveTurns(8, anybody), ElementsAre(jobId(2)));
  EXPECT_THAT(queue.giveTurns(8, anybody), IsEmpty());
  queue.endTurn(place(20, 2));
  EXPECT_THAT(queue.giveTurns(8, anybody), ElementsAre(jobId(1)));
}

TEST(WaitingQueue, GivesTheNextTurnsWhenAllOfTheLastAreOver) {
  WaitingQueue queue = queueOf(3);
  queue.giveTurns(2, anybody);
  queue.endTurn(place(50, 1));
  EXPECT_THAT(queue.giveTurns(2, anybody), IsEmpty());
  queue.endTurn(place(50, 2));
  EXPECT_THAT(queue.giveTurns(2, anybody), ElementsAre(jobId(3)));
}

TEST(WaitingQueue, JobsThatWereTriedRestUntilSomethingGetsBetter) {
  WaitingQueue queue = queueOf(1);
  queue.giveTurns(8, anybody);
  queue.endTurn(place(50, 1));
  EXPECT_THAT(queue.giveTurns(8, anybody), IsEmpty());
  EXPECT_EQ(queue.size(), 1u);
  queue.wakeAll();
  EXPECT_THAT(queue.giveTurns(8, anybody), ElementsAre(jobId(1)));
}

// The agent may have looked at the state as it was before.
TEST(WaitingQueue, WhatGetsBetterDuringATurnGivesAnotherOne) {
  WaitingQueue queue = queueOf(1);
  queue.giveTurns(8, anybody);
  queue.wakeAll();
  queue.endTurn(place(50, 1));
  EXPECT_THAT(queue.giveTurns(8, anybody), ElementsAre(jobId(1)));
}

TEST(WaitingQueue, TurnsThatLastTooLongHoldNobodyUp) {
  WaitingQueue queue = queueOf(2);
  queue.giveTurns(1, anybody);
  queue.endTurns();
  EXPECT_THAT(queue.giveTurns(1, anybody), ElementsAre(jobId(2)));
}

TEST(WaitingQueue, JobsFarBehindAreReachedThoughAllWakeEachTime) {
  WaitingQueue queue = queueOf(1'000);
  for (int batch = 0; batch < 100; ++batch) {
    const std::vector<JobId> turns = queue.giveTurns(32, anybody);
    if (std::ranges::count(turns, jobId(1'000)) > 0) return;
    queue.wakeAll();
    queue.endTurns();
  }
  FAIL() << "100 batches of 32, and the last of 1,000 was in none of them";
}

TEST(WaitingQueue, TheFirstAreTriedAtLeastInEveryOtherBatch) {
  WaitingQueue queue = queueOf(1'000);
  for (int batch = 0; batch < 100; ++batch) {
    const std::vector<JobId> turns = queue.giveTurns(32, anybody);
    if (batch % 2 == 0) {
      EXPECT_THAT(turns, Contains(jobId(1))) << batch;
    }
    queue.wakeAll();
    queue.endTurns();
  }
}

TEST(WaitingQueue, JobsThatNobodyCanTryWaitUntilSomebodyComes) {
  WaitingQueue queue = queueOf(2);
  const auto nobodyForTheFirst = [](const JobId& job) { return job != jobId(1); };
  EXPECT_THAT(queue.giveTurns(8, nobodyForTheFirst), ElementsAre(jobId(2)));
  queue.endTurns();
  queue.wakeAll();
  EXPECT_THAT(queue.giveTurns(8, anybody), ElementsAre(jobId(2)));
  queue.endTurns();
  queue.wakeUntriable();
  EXPECT_THAT(queue.giveTurns(8, anybody), ElementsAre(jobId(1)));
}

TEST(WaitingQueue, ABatchThatFindsNobodyBehindTheCursorGoesOnInFront) {
  WaitingQueue queue = queueOf(3);
  EXPECT_THAT(queue.giveTurns(1, anybody), ElementsAre(jobId(1)));
  queue.endTurns();
  EXPECT_THAT(queue.giveTurns(1, anybody), ElementsAre(jobId(2)));  // the cursor stands here
  queue.endTurns();
  EXPECT_THAT(queue.giveTurns(1, anybody), ElementsAre(jobId(3)));
  queue.endTurns();
  queue.wakeAll();
  const auto onlyTheFirst = [](const JobId& job) { return job == jobId(1); };
  EXPECT_THAT(queue.giveTurns(1, onlyTheFirst), ElementsAre(jobId(1)));
}

TEST(WaitingQueue, JobToBeTriedStaysSoWhenPutToRest) {
  WaitingQueue queue = queueOf(1);
  queue.put(place(50, 1), Mode::kResting);
  EXPECT_EQ(queue.size(), 1u);
  EXPECT_THAT(queue.giveTurns(8, anybody), ElementsAre(jobId(1)));
}

TEST(WaitingQueue, WhoLeavesHasNoTurnAnyMore) {
  WaitingQueue queue = queueOf(2);
  queue.giveTurns(1, anybody);
  queue.erase(place(50, 1));
  EXPECT_THAT(queue.giveTurns(8, anybody), ElementsAre(jobId(2)));
  EXPECT_EQ(queue.size(), 1u);
}

TEST(WaitingQueue, SaysTheHighestPriorityThatIsStillToBeTried) {
  WaitingQueue queue = queueOf(1, 10);
  queue.put(place(20, 2), Mode::kToBeTried);
  EXPECT_THAT(queue.pendingPriority(), Optional(20));
  queue.giveTurns(8, anybody);
  EXPECT_THAT(queue.pendingPriority(), Optional(20));
  queue.endTurns();
  EXPECT_THAT(queue.pendingPriority(), Optional(10));
  queue.giveTurns(8, anybody);
  queue.endTurns();
  EXPECT_EQ(queue.pendingPriority(), std::nullopt);
}

TEST(WaitingQueue, CountsThoseAheadWhateverTheyDo) {
  WaitingQueue queue = queueOf(4);
  queue.giveTurns(1, anybody);
  queue.endTurns();             // job 1 rests
  queue.giveTurns(1, anybody);  // job 2 has its turn
  EXPECT_EQ(queue.ahead(place(50, 4)), 3u);
  EXPECT_EQ(queue.ahead(place(50, 1)), 0u);
}

}  // namespace
}  // namespace tarcil::master
