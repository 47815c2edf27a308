#include "agent/waiting_queue.h"

#include <gtest/gtest.h>

#include "tests/agent/agent_harness.h"

namespace tarcil::agent {
namespace {

using Mode = WaitingQueue::Mode;

WaitingKey key(uint8_t urgency, uint8_t job) {
  return {.urgency = urgency, .submitted = kNever, .job = jobId(job)};
}

TEST(WaitingQueue, MostUrgentComesFirst) {
  WaitingQueue queue;
  queue.put(key(20, 1), Mode::kToBeTried);
  queue.put(key(10, 2), Mode::kToBeTried);
  EXPECT_EQ(queue.next(), jobId(2));
  EXPECT_EQ(queue.next(), jobId(1));
  EXPECT_EQ(queue.next(), std::nullopt);
}

TEST(WaitingQueue, TriedJobsRestUntilSomethingChanges) {
  WaitingQueue queue;
  queue.put(key(10, 1), Mode::kToBeTried);
  queue.next();
  EXPECT_FALSE(queue.anyToTry());
  EXPECT_EQ(queue.size(), 1u);
  queue.wakeAll();
  EXPECT_EQ(queue.next(), jobId(1));
}

TEST(WaitingQueue, JobsFarBehindAreReachedThoughAllWakeEachTime) {
  WaitingQueue queue;
  for (uint8_t job = 0; job < 100; ++job) queue.put(key(job, job), Mode::kToBeTried);
  bool reached = false;
  for (int round = 0; round < 100 && !reached; ++round) {
    for (int tries = 0; tries < 4; ++tries) reached |= queue.next() == jobId(99);
    queue.wakeAll();
  }
  EXPECT_TRUE(reached);
}

TEST(WaitingQueue, JobToBeTriedStaysSoWhenPutToRest) {
  WaitingQueue queue;
  queue.put(key(10, 1), Mode::kToBeTried);
  queue.put(key(10, 1), Mode::kResting);
  EXPECT_EQ(queue.size(), 1u);
  EXPECT_TRUE(queue.anyToTry());
}

}  // namespace
}  // namespace tarcil::agent
