#include "master/logic/queue/waiting_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>

#include "tests/master/master_harness.h"

namespace tarcil::master::waiting_queue_test {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;
using testing::SizeIs;

QueueKey key(uint8_t priority, int job) {
  return {.user = 0, .priority = priority, .submitted = WallTime(Duration(job)), .job = jobId(job)};
}

using Candidate = WaitingQueue::Candidate;

Candidate anybody(const JobId&) {
  return {.whoTries = 1, .units = 1};
}

// Only these jobs can be tried.
WaitingQueue::LookUp onlyFor(std::set<JobId> jobs) {
  return [jobs](const JobId& job) {
    return Candidate{.whoTries = jobs.contains(job) ? std::optional<uint64_t>(1) : std::nullopt, .units = 1};
  };
}

std::vector<JobId> offerJobs(WaitingQueue& queue, size_t atMost, const WaitingQueue::LookUp& lookUp) {
  std::vector<JobId> jobs;
  for (const JobOffer& offer : queue.offerJobs(atMost, lookUp)) jobs.push_back(offer.job);
  return jobs;
}

// Jobs 1 to `count` of one priority, to be tried.
WaitingQueue queueOf(int count, uint8_t priority = 50) {
  WaitingQueue queue{Duration::zero()};
  queue.order().numberOf("alice");
  for (int job = 1; job <= count; ++job) queue.put(key(priority, job), true);
  return queue;
}

TEST(WaitingQueue, KeepsTheOfferOfAJobThatGetsAnotherKey) {
  WaitingQueue queue = queueOf(2);
  offerJobs(queue, 1, anybody);
  QueueKey changed = key(50, 1), absent = key(50, 3);
  changed.equivalenceClass = 7;
  queue.rekey(key(50, 1), changed);
  queue.rekey(absent, changed);
  EXPECT_EQ(queue.size(), 2u);
  EXPECT_THAT(offerJobs(queue, 2, anybody), IsEmpty()) << "its agent still tries it";
  EXPECT_TRUE(queue.isToBeTriedAgain(changed)) << "what it finds is of the key from before";
  queue.endOffer(changed);
  EXPECT_THAT(offerJobs(queue, 2, anybody), ElementsAre(jobId(1), jobId(2)));
}

TEST(WaitingQueue, GivesTurnsByAge) {
  WaitingQueue queue = queueOf(3);
  EXPECT_THAT(offerJobs(queue, 2, anybody), ElementsAre(jobId(1), jobId(2)));
}

TEST(WaitingQueue, TriesNobodyWhileOneOfAHigherPriorityIsOffered) {
  WaitingQueue queue = queueOf(1, 10);
  queue.put(key(20, 2), true);
  EXPECT_THAT(offerJobs(queue, 8, anybody), ElementsAre(jobId(2)));
  EXPECT_THAT(offerJobs(queue, 8, anybody), IsEmpty());
  queue.endOffer(key(20, 2));
  EXPECT_THAT(offerJobs(queue, 8, anybody), ElementsAre(jobId(1)));
}

TEST(WaitingQueue, GivesTheNextTurnsWhenAllOfTheLastAreOver) {
  WaitingQueue queue = queueOf(3);
  offerJobs(queue, 2, anybody);
  queue.endOffer(key(50, 1));
  EXPECT_THAT(offerJobs(queue, 2, anybody), IsEmpty());
  queue.endOffer(key(50, 2));
  EXPECT_THAT(offerJobs(queue, 2, anybody), ElementsAre(jobId(3)));
}

TEST(WaitingQueue, JobsThatWereTriedRestUntilSomethingGetsBetter) {
  WaitingQueue queue = queueOf(1);
  offerJobs(queue, 8, anybody);
  queue.endOffer(key(50, 1));
  EXPECT_THAT(offerJobs(queue, 8, anybody), IsEmpty());
  EXPECT_EQ(queue.size(), 1u);
  queue.wakeAll();
  EXPECT_THAT(offerJobs(queue, 8, anybody), ElementsAre(jobId(1)));
}

// The agent may have looked at the state as it was before.
TEST(WaitingQueue, WhatGetsBetterDuringATurnGivesAnotherOne) {
  WaitingQueue queue = queueOf(1);
  offerJobs(queue, 8, anybody);
  queue.wakeAll();
  queue.endOffer(key(50, 1));
  EXPECT_THAT(offerJobs(queue, 8, anybody), ElementsAre(jobId(1)));
}

TEST(WaitingQueue, AClassThatFoundNothingIsTriedAgainForAJobOfHigherPriority) {
  WaitingQueue queue = queueOf(1, 10);
  offerJobs(queue, 1, anybody);
  queue.noteFailedAttempt(key(10, 1));
  queue.endOffers();
  queue.put(key(10, 2), true);
  queue.put(key(20, 3), true);
  EXPECT_THAT(offerJobs(queue, 8, anybody), ElementsAre(jobId(3))) << "tasks may be ended for it";
}

TEST(WaitingQueue, ClassesThatFoundNothingRestUntilCapacityAppears) {
  WaitingQueue queue = queueOf(3);
  QueueKey other = key(50, 4);
  other.equivalenceClass = 7;
  queue.put(other, true);
  EXPECT_THAT(offerJobs(queue, 1, anybody), ElementsAre(jobId(1)));
  queue.noteFailedAttempt(key(50, 1));
  queue.endOffers();
  EXPECT_THAT(queue.pendingPriority(kNever), Optional(50));
  EXPECT_THAT(offerJobs(queue, 8, anybody), ElementsAre(jobId(4)));
  queue.endOffers();
  EXPECT_EQ(queue.pendingPriority(kNever), std::nullopt);
  EXPECT_THAT(offerJobs(queue, 8, anybody), IsEmpty());
  queue.wakeAll();
  EXPECT_THAT(offerJobs(queue, 8, anybody), ElementsAre(jobId(1), jobId(2), jobId(3), jobId(4)));
}

TEST(WaitingQueue, TurnsThatLastTooLongHoldNobodyUp) {
  WaitingQueue queue = queueOf(2);
  offerJobs(queue, 1, anybody);
  queue.endOffers();
  EXPECT_THAT(offerJobs(queue, 1, anybody), ElementsAre(jobId(2)));
}

TEST(WaitingQueue, JobsFarBehindAreReachedThoughAllWakeEachTime) {
  WaitingQueue queue = queueOf(1'000);
  for (int batch = 0; batch < 200; ++batch) {
    const std::vector<JobId> offers = offerJobs(queue, 32, anybody);
    if (std::ranges::count(offers, jobId(1'000)) > 0) return;
    queue.wakeAll();
    queue.endOffers();
  }
  FAIL() << "200 batches of 32, and the last of 1,000 was in none of them";
}

TEST(WaitingQueue, TheFirstAreTriedInThreeOfFourBatchesThoughAllWakeEachTime) {
  WaitingQueue queue = queueOf(1'000);
  int tried = 0;
  for (int batch = 0; batch < 100; ++batch) {
    const std::vector<JobId> offers = offerJobs(queue, 32, anybody);
    tried += static_cast<int>(std::ranges::count(offers, jobId(1)));
    queue.wakeAll();
    queue.endOffers();
  }
  EXPECT_GE(tried, 75);
}

// Jobs of two agents in turn.
Candidate byOffers(const JobId& job) {
  return {.whoTries = job.bytes[1] % 2, .units = 1};
}

TEST(WaitingQueue, WhatCameFreeIsOfferedInTheExactOrderFirst) {
  WaitingQueue queue = queueOf(40);
  queue.wakeAll();
  for (int job = 1; job <= 4; ++job) {
    EXPECT_THAT(offerJobs(queue, 32, byOffers), ElementsAre(jobId(job)));
    queue.endOffers();
  }
  EXPECT_EQ(offerJobs(queue, 32, byOffers).size(), 32u);
}

TEST(WaitingQueue, WhereCapacityAppearsSeveralTimesDuringABatchAgentsShareTheNext) {
  WaitingQueue queue = queueOf(1'000);
  size_t offers = 0;
  for (int batch = 0; batch < 100; ++batch) {
    for (int wake = 0; wake < 5; ++wake) queue.wakeAll();
    offers += offerJobs(queue, 32, byOffers).size();
    queue.endOffers();
  }
  EXPECT_GT(offers, 1'600u) << "half of what fits into the batches";
}

TEST(WaitingQueue, WithdrawnOffersAreMadeAgain) {
  WaitingQueue queue = queueOf(2);
  EXPECT_THAT(offerJobs(queue, 1, anybody), ElementsAre(jobId(1)));
  queue.withdrawOffers();
  EXPECT_THAT(offerJobs(queue, 1, anybody), ElementsAre(jobId(1)));
}

TEST(WaitingQueue, TurnsBeginAnewWithTheFirstAfterAWake) {
  WaitingQueue queue = queueOf(4);
  offerJobs(queue, 1, anybody);
  queue.endOffers();
  EXPECT_THAT(offerJobs(queue, 1, anybody), ElementsAre(jobId(2)));
  queue.wakeAll();
  queue.endOffers();
  EXPECT_THAT(offerJobs(queue, 1, anybody), ElementsAre(jobId(1)));
}

TEST(WaitingQueue, JobsThatNobodyCanTryWaitUntilSomebodyComes) {
  WaitingQueue queue = queueOf(2);
  EXPECT_THAT(offerJobs(queue, 8, onlyFor({jobId(2)})), ElementsAre(jobId(2)));
  queue.endOffers();
  queue.wakeAll();
  EXPECT_THAT(offerJobs(queue, 8, anybody), ElementsAre(jobId(2)));
  queue.endOffers();
  queue.wakeUntriable();
  EXPECT_THAT(offerJobs(queue, 8, anybody), ElementsAre(jobId(1)));
}

TEST(WaitingQueue, JobsThatNobodyCanTryAreSetAsideInSeveralCalls) {
  constexpr int kAside = WaitingQueue::kSetAsideAtOnce;
  WaitingQueue queue = queueOf(kAside + 1);
  const auto theLast = onlyFor({jobId(kAside + 1)});
  EXPECT_THAT(offerJobs(queue, 8, theLast), IsEmpty());
  EXPECT_TRUE(queue.isInterrupted());
  EXPECT_THAT(offerJobs(queue, 8, theLast), ElementsAre(jobId(kAside + 1)));
  EXPECT_FALSE(queue.isInterrupted());
}

TEST(WaitingQueue, NoMoreAreSetAsideWhereOneBeforeThemCanBeTried) {
  constexpr int kAside = WaitingQueue::kSetAsideAtOnce;
  WaitingQueue queue = queueOf(kAside + 2);
  const auto ends = onlyFor({jobId(1), jobId(kAside + 2)});
  EXPECT_THAT(offerJobs(queue, 8, ends), ElementsAre(jobId(1)));
  EXPECT_FALSE(queue.isInterrupted()) << "what was offered goes on without it";
  EXPECT_EQ(queue.order().size(Mode::kUntriable), static_cast<size_t>(kAside));
  EXPECT_EQ(queue.order().size(Mode::kToBeTried), 1u);
}

TEST(WaitingQueue, ABatchThatFindsNobodyBehindTheLastGoesOnInFront) {
  WaitingQueue queue = queueOf(3);
  for (int batch = 0; batch < 3; ++batch) {  // of job 1 each, since all wake
    offerJobs(queue, 1, anybody);
    queue.wakeAll();
    queue.endOffers();
  }
  EXPECT_THAT(offerJobs(queue, 2, anybody), ElementsAre(jobId(1), jobId(2)));  // as deep as that
  for (int batch = 0; batch < 4; ++batch) {
    queue.wakeAll();
    queue.endOffers();
    EXPECT_THAT(offerJobs(queue, 1, onlyFor({jobId(1)})), ElementsAre(jobId(1))) << batch;
  }
}

TEST(WaitingQueue, JobToBeTriedStaysSoWhenPutToRest) {
  WaitingQueue queue = queueOf(1);
  queue.put(key(50, 1), false);
  EXPECT_EQ(queue.size(), 1u);
  EXPECT_THAT(offerJobs(queue, 8, anybody), ElementsAre(jobId(1)));
}

TEST(WaitingQueue, WhoLeavesHasNoTurnAnyMore) {
  WaitingQueue queue = queueOf(2);
  offerJobs(queue, 1, anybody);
  queue.erase(key(50, 1));
  EXPECT_THAT(offerJobs(queue, 8, anybody), ElementsAre(jobId(2)));
  EXPECT_EQ(queue.size(), 1u);
}

TEST(WaitingQueue, SaysTheHighestPriorityThatIsStillToBeTried) {
  WaitingQueue queue = queueOf(1, 10);
  queue.put(key(20, 2), true);
  EXPECT_THAT(queue.pendingPriority(kNever), Optional(20));
  offerJobs(queue, 8, anybody);
  EXPECT_THAT(queue.pendingPriority(kNever), Optional(20));
  queue.endOffers();
  EXPECT_THAT(queue.pendingPriority(kNever), Optional(10));
  offerJobs(queue, 8, anybody);
  queue.endOffers();
  EXPECT_EQ(queue.pendingPriority(kNever), std::nullopt);
}

// Of jobs 1 to `count`, the first has a reservation, and these may pass it.
WaitingQueue reservedQueue(int count, std::set<JobId> mayPass) {
  WaitingQueue queue = queueOf(count);
  queue.reserve(
      WaitingQueue::Purpose::kSeveralUnits,
      WaitingQueue::Reservation{.job = key(50, 1), .servers = {3, 5}, .mayPass = [mayPass](const JobId& job) {
                                  return mayPass.contains(job);
                                }});
  return queue;
}

std::vector<JobId> mayUseReserved(const std::vector<JobOffer>& offers) {
  std::vector<JobId> jobs;
  for (const JobOffer& offer : offers) {
    if (offer.mayUseReserved) jobs.push_back(offer.job);
  }
  return jobs;
}

TEST(WaitingQueue, BehindAJobWithAReservationOnlyThoseUseItThatMay) {
  WaitingQueue queue = reservedQueue(4, {jobId(3)});
  const auto offers = queue.offerJobs(8, anybody);
  EXPECT_THAT(offers, SizeIs(4));
  EXPECT_THAT(mayUseReserved(offers), ElementsAre(jobId(1), jobId(3)));
  queue.endOffers();
  queue.release(WaitingQueue::Purpose::kSeveralUnits, jobId(1));
  queue.wakeAll();
  EXPECT_THAT(mayUseReserved(queue.offerJobs(8, anybody)), SizeIs(4));
}

TEST(WaitingQueue, OfSeveralReservationsAJobMayUseItsOwnAndThoseOfJobsBehindIt) {
  WaitingQueue queue = queueOf(0);
  for (const auto& [priority, job] : {std::pair{60, 1}, {50, 2}, {40, 3}}) {
    queue.put(key(priority, job), true);
    const auto server = static_cast<ServerId>(10 * job);
    queue.reserve(WaitingQueue::Purpose::kPreemption,
                  WaitingQueue::Reservation{.job = key(priority, job), .servers = {server, 99}});
  }
  EXPECT_THAT(queue.reserved(), ElementsAre(10, 20, 30, 99));
  const master::JobOffer first = queue.offerJobs(1, anybody).at(0);
  EXPECT_EQ(first.job, jobId(1));
  EXPECT_TRUE(first.mayUseReserved);
  queue.endOffers();
  const master::JobOffer second = queue.offerJobs(1, anybody).at(0);
  EXPECT_EQ(second.job, jobId(2));
  EXPECT_FALSE(second.mayUseReserved);
  EXPECT_THAT(second.usableReserved, ElementsAre(20, 30)) << "server 99 is reserved for job 1 as well";
}

TEST(WaitingQueue, AJobWithAReservationIsTriedThoughOneOfItsClassFoundNothing) {
  WaitingQueue queue = queueOf(3);
  queue.reserve(WaitingQueue::Purpose::kSeveralUnits,
                WaitingQueue::Reservation{.job = key(50, 2), .servers = {3, 5}});
  EXPECT_THAT(offerJobs(queue, 1, anybody), ElementsAre(jobId(1)));
  queue.noteFailedAttempt(key(50, 1));
  queue.endOffers();
  EXPECT_THAT(offerJobs(queue, 1, anybody), ElementsAre(jobId(2)));
  queue.noteFailedAttempt(key(50, 2));  // which might have taken everything
  queue.endOffers();
  EXPECT_THAT(offerJobs(queue, 8, anybody), IsEmpty());
}

TEST(WaitingQueue, AJobBeforeTheOneWithTheReservationMayUseIt) {
  WaitingQueue queue = reservedQueue(2, {});
  queue.put(key(60, 7), true);
  EXPECT_THAT(mayUseReserved(queue.offerJobs(8, anybody)), ElementsAre(jobId(7)));
}

TEST(WaitingQueue, NewJobsComeBehindAJobWithAReservation) {
  WaitingQueue queue = reservedQueue(1, {});
  offerJobs(queue, 8, anybody);
  queue.endOffers();
  EXPECT_THAT(queue.pendingPriority(kNever), Optional(50));
  queue.erase(key(50, 1));
  EXPECT_EQ(queue.pendingPriority(kNever), std::nullopt);
}

}  // namespace tarcil::master::waiting_queue_test
