#include "latebinding/reservation_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/builders.h"

namespace tarcil::late::reservation_queue_test {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A queue, and what it said since it was last asked.
class ReservationQueueTest : public ::testing::Test {
 protected:
  static constexpr uint64_t kFirstLease = 1'000;

  static Reserve reserve(JobNumber job, UserNumber user = 0, uint8_t priority = 50) {
    Reserve message;
    message.agent = 1;
    message.server = 7;
    message.job = job;
    message.user = user;
    message.priority = priority;
    return message;
  }

  ReservationQueue aQueue(uint32_t slots, const QueueOptions& options = {}) {
    ReservationQueue queue(options, 7, kFirstLease);
    queue.setSlots(slots, now_, said_);
    return queue;
  }

  // Jobs that were asked for since the last call; the leases of the asks are in asks_.
  std::vector<JobNumber> asked() {
    std::vector<JobNumber> jobs;
    for (const Ask& ask : said_.asks) jobs.push_back(ask.job);
    asks_.insert(asks_.end(), said_.asks.begin(), said_.asks.end());
    said_.asks.clear();
    return jobs;
  }

  void give(ReservationQueue& queue, const Ask& ask, TaskIndex task) {
    queue.handle(Give{ask.agent, ask.server, ask.job, ask.lease, task}, now_, said_);
  }

  // The slot of the job asked for last runs its task for so long.
  void runLast(ReservationQueue& queue, Duration duration) {
    const Ask ask = asks_.back();
    give(queue, ask, 0);
    now_ += duration;
    queue.taskEnded(ask.lease, 0, now_, said_);
  }

  MonotonicTime now_{milliseconds(1000)};
  QueueActions said_;
  std::vector<Ask> asks_;
};

TEST_F(ReservationQueueTest, AsksForAsManyTasksAsItHasSlots) {
  ReservationQueue queue = aQueue(2);
  for (JobNumber job = 1; job <= 3; ++job) queue.handle(reserve(job), now_, said_);
  EXPECT_THAT(asked(), ElementsAre(1, 2));
  EXPECT_EQ(queue.busy(), 2u);
  EXPECT_EQ(queue.queued(), 1u);
}

TEST_F(ReservationQueueTest, StartsTheTaskItIsGivenAndAsksAgainWhenItEnds) {
  ReservationQueue queue = aQueue(1);
  queue.handle(reserve(1), now_, said_);
  queue.handle(reserve(2), now_, said_);
  asked();
  give(queue, asks_[0], 5);
  ASSERT_EQ(said_.starts.size(), 1u);
  EXPECT_EQ(said_.starts[0].job, 1u);
  EXPECT_EQ(said_.starts[0].task, 5u);
  EXPECT_THAT(asked(), IsEmpty());
  queue.taskEnded(asks_[0].lease, 3, now_, said_);
  EXPECT_THAT(asked(), ElementsAre(2));
  ASSERT_EQ(said_.ended.size(), 1u);
  EXPECT_EQ(said_.ended[0].code, 3);
}

TEST_F(ReservationQueueTest, StopsTheTaskThatItsAgentWantsStopped) {
  ReservationQueue queue = aQueue(1);
  queue.handle(reserve(1), now_, said_);
  asked();
  const Ask ask = asks_[0];
  queue.handle(Stop{ask.agent, ask.server, ask.lease}, said_);
  EXPECT_TRUE(said_.stops.empty()) << "nothing runs yet";
  give(queue, ask, 0);
  queue.handle(Stop{ask.agent + 1, ask.server, ask.lease}, said_);
  EXPECT_TRUE(said_.stops.empty()) << "it is another agent's";
  queue.handle(Stop{ask.agent, ask.server, ask.lease}, said_);
  ASSERT_EQ(said_.stops.size(), 1u);
  EXPECT_EQ(said_.stops[0].lease, ask.lease);
  EXPECT_EQ(queue.busy(), 1u) << "until it has ended";
  queue.taskEnded(ask.lease, 143, now_, said_);
  EXPECT_EQ(queue.busy(), 0u);
  queue.handle(Stop{ask.agent, ask.server, ask.lease}, said_);
  EXPECT_EQ(said_.stops.size(), 1u);
}

TEST_F(ReservationQueueTest, TellsWhereTheTimeWent) {
  ReservationQueue queue = aQueue(1);
  queue.handle(reserve(1), now_, said_);
  queue.handle(reserve(2), now_, said_);
  asked();
  runLast(queue, milliseconds(30));
  asked();
  now_ += milliseconds(2);
  runLast(queue, milliseconds(50));
  const Ended& ended = said_.ended.back();
  EXPECT_EQ(ended.queue, milliseconds(30));
  EXPECT_EQ(ended.getTask, milliseconds(2));
  EXPECT_EQ(ended.service, milliseconds(50));
}

TEST_F(ReservationQueueTest, FreesTheSlotWhereNoTaskIsLeft) {
  ReservationQueue queue = aQueue(1);
  Reserve several = reserve(1);
  several.count = 3;
  queue.handle(several, now_, said_);
  queue.handle(reserve(2), now_, said_);
  asked();
  give(queue, asks_[0], kNoTask);
  // The rest of the reservation goes with it.
  EXPECT_THAT(asked(), ElementsAre(2));
  EXPECT_EQ(queue.queued(), 0u);
}

TEST_F(ReservationQueueTest, AsksAsOftenAsAReservationCounts) {
  ReservationQueue queue = aQueue(2);
  Reserve several = reserve(1);
  several.count = 3;
  queue.handle(several, now_, said_);
  EXPECT_THAT(asked(), ElementsAre(1, 1));
  EXPECT_EQ(queue.queued(), 1u);
}

TEST_F(ReservationQueueTest, IgnoresARepeatedReservation) {
  ReservationQueue queue = aQueue(0);
  queue.handle(reserve(1), now_, said_);
  queue.handle(reserve(1), now_, said_);
  EXPECT_EQ(queue.queued(), 1u);
}

TEST_F(ReservationQueueTest, DropsWhatIsBeyondItsBound) {
  ReservationQueue queue = aQueue(0, {.mostReservations = 2});
  for (JobNumber job = 1; job <= 3; ++job) queue.handle(reserve(job), now_, said_);
  EXPECT_EQ(queue.queued(), 2u);
}

// --- Races

TEST_F(ReservationQueueTest, CancelTakesAReservationOutOfTheQueue) {
  ReservationQueue queue = aQueue(1);
  for (JobNumber job = 1; job <= 3; ++job) queue.handle(reserve(job), now_, said_);
  asked();
  queue.handle(Cancel{1, 7, 2, 0});
  give(queue, asks_[0], kNoTask);
  EXPECT_THAT(asked(), ElementsAre(3));
}

TEST_F(ReservationQueueTest, CancelThatCrossesAnAskLeavesItsAnswerToCome) {
  ReservationQueue queue = aQueue(1);
  queue.handle(reserve(1), now_, said_);
  asked();
  queue.handle(Cancel{1, 7, 1, 0});
  EXPECT_EQ(queue.busy(), 1u);
  give(queue, asks_[0], 4);
  EXPECT_EQ(said_.starts.size(), 1u);
}

TEST_F(ReservationQueueTest, StartsATaskOnceHoweverOftenItIsGiven) {
  ReservationQueue queue = aQueue(1);
  queue.handle(reserve(1), now_, said_);
  asked();
  give(queue, asks_[0], 4);
  give(queue, asks_[0], 4);
  EXPECT_EQ(said_.starts.size(), 1u);
  ASSERT_EQ(said_.started.size(), 1u);  // the repeat is answered
  EXPECT_EQ(said_.started[0].task, 4u);
  queue.taskEnded(asks_[0].lease, 0, now_, said_);
  give(queue, asks_[0], 4);
  EXPECT_EQ(said_.starts.size(), 1u);
  EXPECT_THAT(said_.notStarted, IsEmpty());
}

TEST_F(ReservationQueueTest, OneAgentHasNoSayInTheTurnsOfAnother) {
  ReservationQueue queue = aQueue(1);
  queue.handle(reserve(1), now_, said_);
  asked();
  queue.handle(Give{2, 7, 1, asks_[0].lease, 4}, now_, said_);
  EXPECT_THAT(said_.starts, IsEmpty());
  runLast(queue, milliseconds(10));
  queue.handle(Forget{2, 7, asks_[0].lease});
  now_ += QueueOptions{}.repeat;
  queue.advance(now_, said_);
  EXPECT_EQ(said_.ended.size(), 2u);
}

TEST_F(ReservationQueueTest, RepeatsAnAskThatIsNotAnswered) {
  ReservationQueue queue = aQueue(1);
  queue.handle(reserve(1), now_, said_);
  asked();
  now_ = queue.nextWake();
  queue.advance(now_, said_);
  ASSERT_THAT(asked(), ElementsAre(1));
  EXPECT_EQ(asks_[0].lease, asks_[1].lease);
}

TEST_F(ReservationQueueTest, GivesUpAskingAndSaysSoWhenTheTaskComesLate) {
  ReservationQueue queue = aQueue(1);
  queue.handle(reserve(1), now_, said_);
  Reserve other = reserve(9);
  other.agent = 2;
  queue.handle(other, now_, said_);
  asked();
  now_ += QueueOptions{}.patience;
  queue.advance(now_, said_);
  EXPECT_THAT(asked(), ElementsAre(9));
  give(queue, asks_[0], 4);
  EXPECT_THAT(said_.starts, IsEmpty());
  ASSERT_EQ(said_.notStarted.size(), 1u);
  EXPECT_EQ(said_.notStarted[0].task, 4u);
  EXPECT_EQ(said_.notStarted[0].lease, asks_[0].lease);
}

TEST_F(ReservationQueueTest, DropsAllReservationsOfAnAgentThatDoesNotAnswer) {
  ReservationQueue queue = aQueue(1);
  for (JobNumber job = 1; job <= 5; ++job) queue.handle(reserve(job), now_, said_);
  now_ += QueueOptions{}.patience;
  queue.advance(now_, said_);
  EXPECT_EQ(queue.busy(), 0u);
  EXPECT_EQ(queue.queued(), 0u);
}

// What an earlier monitor of this server began is not known here: it may have started.
TEST_F(ReservationQueueTest, SaysNothingOfTurnsBeforeItsOwn) {
  ReservationQueue queue = aQueue(1);
  queue.handle(Give{1, 7, 1, kFirstLease << 16, 4}, now_, said_);
  queue.handle(Give{1, 7, 1, (kFirstLease + 1) << 16, 4}, now_, said_);  // nor of those to come
  EXPECT_THAT(said_.notStarted, IsEmpty());
}

TEST_F(ReservationQueueTest, RepeatsAnEndUntilItIsAcknowledged) {
  ReservationQueue queue = aQueue(1);
  queue.handle(reserve(1), now_, said_);
  asked();
  runLast(queue, milliseconds(10));
  now_ += QueueOptions{}.repeat;
  queue.advance(now_, said_);
  ASSERT_EQ(said_.ended.size(), 2u);
  EXPECT_EQ(said_.ended[0].lease, said_.ended[1].lease);
  queue.handle(Forget{1, 7, asks_[0].lease});
  now_ += milliseconds(1000);
  queue.advance(now_, said_);
  EXPECT_EQ(said_.ended.size(), 2u);
  EXPECT_EQ(queue.nextWake(), MonotonicTime::max());
}

TEST_F(ReservationQueueTest, LostAgentsSlotsAreFreeAndItsTasksRunOn) {
  ReservationQueue queue = aQueue(2);
  for (JobNumber job = 1; job <= 3; ++job) queue.handle(reserve(job), now_, said_);
  Reserve other = reserve(9);
  other.agent = 2;
  queue.handle(other, now_, said_);
  asked();
  give(queue, asks_[0], 0);
  queue.agentLost(1, now_, said_);
  EXPECT_THAT(asked(), ElementsAre(9));
  EXPECT_EQ(queue.busy(), 2u);
  EXPECT_EQ(queue.queued(), 0u);
  queue.taskEnded(asks_[0].lease, 0, now_, said_);
  EXPECT_EQ(queue.busy(), 1u);
  EXPECT_THAT(said_.ended, IsEmpty());
}

TEST_F(ReservationQueueTest, FewerSlotsLetTurnsRunToTheirEnd) {
  ReservationQueue queue = aQueue(2);
  for (JobNumber job = 1; job <= 4; ++job) queue.handle(reserve(job), now_, said_);
  asked();
  queue.setSlots(1, now_, said_);
  give(queue, asks_[0], kNoTask);
  EXPECT_THAT(asked(), IsEmpty());
  give(queue, asks_[1], kNoTask);
  EXPECT_THAT(asked(), ElementsAre(3));
}

// --- Order

TEST_F(ReservationQueueTest, HigherPriorityComesFirst) {
  ReservationQueue queue = aQueue(0);
  queue.handle(reserve(1, 0, 10), now_, said_);
  queue.handle(reserve(2, 0, 90), now_, said_);
  queue.handle(reserve(3, 0, 50), now_, said_);
  queue.setSlots(3, now_, said_);
  EXPECT_THAT(asked(), ElementsAre(2, 3, 1));
}

// Runs the queue on one slot for a while and counts leases by user; tasks last as long as told.
std::map<UserNumber, Duration> shares(std::map<UserNumber, Duration> tasks,
                                      std::map<UserNumber, uint16_t> shares) {
  ReservationQueue queue(QueueOptions{}, 0, 1);
  QueueActions said;
  MonotonicTime now{};
  std::map<UserNumber, Duration> ran;
  for (JobNumber job = 0; job < 2'000; ++job) {
    for (const auto& [user, duration] : tasks) {
      Reserve message;
      message.job = user * 10'000 + job;
      message.user = user;
      message.shares = shares.at(user);
      queue.handle(message, now, said);
    }
  }
  queue.setSlots(1, now, said);
  while (now < MonotonicTime(std::chrono::seconds(10))) {
    const Ask ask = said.asks.back();
    const auto user = static_cast<UserNumber>(ask.job / 10'000);
    said.clear();
    queue.handle(Give{0, 0, ask.job, ask.lease, 0}, now, said);
    now += tasks.at(user);
    ran[user] += tasks.at(user);
    queue.taskEnded(ask.lease, 0, now, said);
  }
  return ran;
}

TEST(FairFlows, UsersGetTheirSharesOfTimeWhateverTheirTasksLast) {
  auto ran = shares({{0, milliseconds(10)}, {1, milliseconds(40)}}, {{0, 1}, {1, 1}});
  EXPECT_NEAR(static_cast<double>(ran[0].count()) / static_cast<double>(ran[1].count()), 1, 0.02);
  ran = shares({{0, milliseconds(10)}, {1, milliseconds(10)}}, {{0, 3}, {1, 1}});
  EXPECT_NEAR(static_cast<double>(ran[0].count()) / static_cast<double>(ran[1].count()), 3, 0.06);
}

TEST_F(ReservationQueueTest, WhoComesLateHasSavedUpNothing) {
  ReservationQueue queue = aQueue(1);
  for (JobNumber job = 0; job < 40; ++job) queue.handle(reserve(job, 0), now_, said_);
  asked();
  for (int i = 0; i < 10; ++i) {
    runLast(queue, milliseconds(100));
    asked();
  }
  for (JobNumber job = 100; job < 140; ++job) queue.handle(reserve(job, 1), now_, said_);
  int ofSecond = 0;
  for (int i = 0; i < 10; ++i) {
    runLast(queue, milliseconds(100));
    ofSecond += asked().front() >= 100 ? 1 : 0;
  }
  EXPECT_NEAR(ofSecond, 5, 1);
}

TEST_F(ReservationQueueTest, WhoGoesAwayForAMomentHasWrittenOffNothing) {
  ReservationQueue queue = aQueue(3);
  queue.handle(reserve(1, 0), now_, said_);
  queue.handle(reserve(2, 0), now_, said_);
  queue.handle(reserve(3, 1), now_, said_);
  asked();
  for (const Ask& ask : asks_) give(queue, ask, 0);
  now_ += milliseconds(100);  // user 0 has used 200 ms, user 1 half of it
  queue.setSlots(1, now_, said_);
  queue.taskEnded(asks_[0].lease, 0, now_, said_);
  queue.taskEnded(asks_[1].lease, 0, now_, said_);
  queue.handle(reserve(4, 0), now_, said_);
  queue.handle(reserve(5, 1), now_, said_);
  now_ += milliseconds(10);
  queue.taskEnded(asks_[2].lease, 0, now_, said_);
  EXPECT_THAT(asked(), ElementsAre(5));
}

// --- Interference

Bearing bearing(Pressures caused, Pressures tolerated) {
  const Profile profile = causingAndTolerating(caused, tolerated);
  return {profile.caused, profile.tolerated};
}

class ContentionTest : public ReservationQueueTest {
 protected:
  static Reserve sensitive(JobNumber job) {
    Reserve message = reserve(job);
    message.bearing = bearing({}, {{Resource::kLlc, 20}});
    return message;
  }
  static Surroundings loud(int llc) {
    Surroundings surroundings;
    surroundings.caused[static_cast<int>(Resource::kLlc)] = llc;
    return surroundings;
  }
};

TEST_F(ContentionTest, PassesOverWhatDoesNotBearIt) {
  ReservationQueue queue = aQueue(1);
  queue.setSurroundings(loud(60), now_, said_);
  queue.handle(sensitive(1), now_, said_);
  EXPECT_THAT(asked(), IsEmpty());
  queue.handle(reserve(2), now_, said_);
  EXPECT_THAT(asked(), ElementsAre(2));
}

TEST_F(ContentionTest, TakesItWhereItIsQuietOrGetsQuiet) {
  ReservationQueue queue = aQueue(1);
  queue.setSurroundings(loud(60), now_, said_);
  queue.handle(sensitive(1), now_, said_);
  EXPECT_THAT(asked(), IsEmpty());
  queue.setSurroundings(loud(22), now_, said_);  // 20, and the noise floor
  EXPECT_THAT(asked(), ElementsAre(1));
}

TEST_F(ContentionTest, PassesOverForABoundedTimeOnly) {
  ReservationQueue queue = aQueue(1);
  queue.setSurroundings(loud(60), now_, said_);
  queue.handle(sensitive(1), now_, said_);
  EXPECT_EQ(queue.nextWake(), now_ + QueueOptions{}.passOver);
  now_ = queue.nextWake();
  queue.advance(now_, said_);
  EXPECT_THAT(asked(), ElementsAre(1));
}

// A stream of others that bear the contention does not hold it up for longer.
TEST_F(ContentionTest, NothingStarvesBehindWhatBearsMore) {
  ReservationQueue queue = aQueue(1);
  queue.setSurroundings(loud(60), now_, said_);
  queue.handle(sensitive(1), now_, said_);
  const MonotonicTime came = now_;
  for (JobNumber job = 2; now_ < came + std::chrono::seconds(1); ++job) {
    queue.handle(reserve(job), now_, said_);
    queue.handle(reserve(1'000 + job), now_, said_);
    if (asked() == std::vector<JobNumber>{1}) break;
    runLast(queue, milliseconds(5));
  }
  EXPECT_EQ(asks_.back().job, 1u);
  EXPECT_LE(now_ - came, QueueOptions{}.passOver + milliseconds(5));
}

TEST_F(ContentionTest, CountsWhatItsOwnTasksCause) {
  ReservationQueue queue = aQueue(2);
  Reserve noisy = reserve(1);
  noisy.bearing = bearing({{Resource::kLlc, 50}}, {});
  queue.handle(noisy, now_, said_);
  queue.handle(sensitive(2), now_, said_);
  EXPECT_THAT(asked(), ElementsAre(1));
  give(queue, asks_[0], kNoTask);
  EXPECT_THAT(asked(), ElementsAre(2));
}

// --- Without late binding

TEST_F(ReservationQueueTest, BoundTaskStartsWithoutAsking) {
  ReservationQueue queue = aQueue(1);
  Reserve bound = reserve(1);
  bound.task = 3;
  queue.handle(bound, now_, said_);
  EXPECT_THAT(asked(), IsEmpty());
  ASSERT_EQ(said_.starts.size(), 1u);
  EXPECT_EQ(said_.starts[0].task, 3u);
}

TEST_F(ReservationQueueTest, TellsFreeSlotsOrTheLengthOfItsQueue) {
  ReservationQueue queue = aQueue(2);
  const auto length = [&] { return queue.handle(Look{1, 7, 5, 2}).length; };
  EXPECT_EQ(length(), -2);
  queue.handle(reserve(1), now_, said_);
  EXPECT_EQ(length(), -1);
  queue.handle(reserve(2), now_, said_);
  EXPECT_EQ(length(), 0);
  queue.handle(reserve(3), now_, said_);
  EXPECT_EQ(length(), 1);
}

}  // namespace tarcil::late::reservation_queue_test
