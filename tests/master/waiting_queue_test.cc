#include "master/waiting_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>

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

std::optional<uint64_t> anybody(const JobId&) {
  return 1;
}

// Only these jobs can be tried.
WaitingQueue::WhoTries onlyFor(std::set<JobId> jobs) {
  return [jobs](const JobId& job) { return jobs.contains(job) ? std::optional<uint64_t>(1) : std::nullopt; };
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
  for (int batch = 0; batch < 200; ++batch) {
    const std::vector<JobId> turns = queue.giveTurns(32, anybody);
    if (std::ranges::count(turns, jobId(1'000)) > 0) return;
    queue.wakeAll();
    queue.endTurns();
  }
  FAIL() << "200 batches of 32, and the last of 1,000 was in none of them";
}

TEST(WaitingQueue, TheFirstAreTriedInThreeOfFourBatchesThoughAllWakeEachTime) {
  WaitingQueue queue = queueOf(1'000);
  int tried = 0;
  for (int batch = 0; batch < 100; ++batch) {
    const std::vector<JobId> turns = queue.giveTurns(32, anybody);
    tried += static_cast<int>(std::ranges::count(turns, jobId(1)));
    queue.wakeAll();
    queue.endTurns();
  }
  EXPECT_GE(tried, 75);
}

// Jobs of two agents in turn.
std::optional<uint64_t> byTurns(const JobId& job) {
  return job.bytes[1] % 2;
}

TEST(WaitingQueue, WhatCameFreeIsOfferedInTheExactOrderFirst) {
  WaitingQueue queue = queueOf(40);
  queue.wakeAll();
  for (int job = 1; job <= 4; ++job) {
    EXPECT_THAT(queue.giveTurns(32, byTurns), ElementsAre(jobId(job)));
    queue.endTurns();
  }
  EXPECT_EQ(queue.giveTurns(32, byTurns).size(), 32u);
}

TEST(WaitingQueue, TurnsBeginAnewWithTheFirstAfterAWake) {
  WaitingQueue queue = queueOf(4);
  queue.giveTurns(1, anybody);
  queue.endTurns();
  EXPECT_THAT(queue.giveTurns(1, anybody), ElementsAre(jobId(2)));
  queue.wakeAll();
  queue.endTurns();
  EXPECT_THAT(queue.giveTurns(1, anybody), ElementsAre(jobId(1)));
}

TEST(WaitingQueue, JobsThatNobodyCanTryWaitUntilSomebodyComes) {
  WaitingQueue queue = queueOf(2);
  EXPECT_THAT(queue.giveTurns(8, onlyFor({jobId(2)})), ElementsAre(jobId(2)));
  queue.endTurns();
  queue.wakeAll();
  EXPECT_THAT(queue.giveTurns(8, anybody), ElementsAre(jobId(2)));
  queue.endTurns();
  queue.wakeUntriable();
  EXPECT_THAT(queue.giveTurns(8, anybody), ElementsAre(jobId(1)));
}

TEST(WaitingQueue, ABatchThatFindsNobodyBehindTheLastGoesOnInFront) {
  WaitingQueue queue = queueOf(3);
  for (int batch = 0; batch < 3; ++batch) {  // of job 1 each, since all wake
    queue.giveTurns(1, anybody);
    queue.wakeAll();
    queue.endTurns();
  }
  EXPECT_THAT(queue.giveTurns(2, anybody), ElementsAre(jobId(1), jobId(2)));  // as deep as that
  for (int batch = 0; batch < 4; ++batch) {
    queue.wakeAll();
    queue.endTurns();
    EXPECT_THAT(queue.giveTurns(1, onlyFor({jobId(1)})), ElementsAre(jobId(1))) << batch;
  }
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

TEST(WaitingQueue, ListsTheFirstInOrderWhateverTheyDo) {
  WaitingQueue queue = queueOf(4);
  queue.giveTurns(1, anybody);
  queue.endTurns();             // job 1 rests
  queue.giveTurns(1, anybody);  // job 2 has its turn
  EXPECT_THAT(queue.first(3), ElementsAre(jobId(1), jobId(2), jobId(3)));
  EXPECT_THAT(queue.first(9), ElementsAre(jobId(1), jobId(2), jobId(3), jobId(4)));
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
