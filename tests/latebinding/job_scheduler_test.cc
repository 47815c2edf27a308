#include "latebinding/job_scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

namespace tarcil::late::job_scheduler_test {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// An agent with some servers, and what it said since it was last asked.
class JobSchedulerTest : public ::testing::Test {
 protected:
  explicit JobSchedulerTest(uint32_t servers = 20, const SchedulerOptions& options = {})
      : agent_(options, 3) {
    for (ServerId server = 0; server < servers; ++server) agent_.serverUp(server);
  }

  JobNumber submit(LateJob job) { return *agent_.submit(std::move(job), now_, rng_, said_); }
  JobNumber submit(uint32_t tasks) {
    LateJob job;
    job.tasks = tasks;
    return submit(job);
  }

  // The reservation's server asks, for the first time or, with its lease, again. What it is given.
  TaskIndex ask(const Reserve& reserve, SlotLeaseId lease = 0, Duration queued = {}) {
    lastLease_ = lease != 0 ? lease : nextLease_++;
    const size_t before = said_.gives.size();
    agent_.handle(Ask{3, reserve.server, reserve.job, reserve.probe, lastLease_, queued}, now_, said_);
    EXPECT_EQ(said_.gives.size(), before + 1);
    EXPECT_EQ(said_.gives.back().lease, lastLease_);
    return said_.gives.back().task;
  }
  void end(JobNumber job, TaskIndex task, SlotLeaseId lease, ServerId server = 0) {
    Ended ended;
    ended.job = job;
    ended.task = task;
    ended.lease = lease;
    ended.server = server;
    agent_.handle(ended, said_);
  }
  std::vector<Reserve> takeReserves() { return std::exchange(said_.reserves, {}); }
  static uint64_t total(const std::vector<Reserve>& reserves) {
    uint64_t sum = 0;
    for (const Reserve& reserve : reserves) sum += reserve.count;
    return sum;
  }

  JobScheduler agent_;
  Rng rng_{1};
  MonotonicTime now_{milliseconds(1000)};
  SchedulerActions said_;
  SlotLeaseId nextLease_ = 100, lastLease_ = 0;
};

TEST_F(JobSchedulerTest, SendsDTimesMReservationsToDistinctServers) {
  submit(7);
  std::set<ServerId> servers;
  for (const Reserve& reserve : said_.reserves) {
    EXPECT_EQ(reserve.count, 1u);
    servers.insert(reserve.server);
  }
  EXPECT_EQ(servers.size(), 14u);
}

TEST_F(JobSchedulerTest, RoundsTheNumberOfReservationsUp) {
  for (const auto& [tasks, ratio, expected] :
       {std::tuple{10u, 1.05, 11u}, {10u, 1.1, 11u}, {3u, 1.5, 5u}, {4u, 1.0, 4u}, {1u, 1.01, 2u}}) {
    LateJob job;
    job.tasks = tasks;
    job.probeRatio = ratio;
    submit(job);
    EXPECT_EQ(total(takeReserves()), expected) << tasks << " x " << ratio;
  }
}

TEST_F(JobSchedulerTest, SpreadsEvenlyWhereThereAreFewerServersThanReservations) {
  submit(23);
  std::map<ServerId, uint32_t> counts;
  for (const Reserve& reserve : said_.reserves) counts[reserve.server] += reserve.count;
  EXPECT_EQ(counts.size(), 20u);
  EXPECT_EQ(total(said_.reserves), 46u);
  for (const auto& [server, count] : counts) EXPECT_TRUE(count == 2 || count == 3) << count;
}

TEST_F(JobSchedulerTest, GivesTasksToTheFirstToAskAndNoneToTheRest) {
  submit(2);
  const auto reserves = takeReserves();
  EXPECT_EQ(ask(reserves[3]), 0u);
  EXPECT_EQ(ask(reserves[1]), 1u);
  EXPECT_EQ(ask(reserves[0]), kNoTask);
  EXPECT_EQ(ask(reserves[2]), kNoTask);
}

TEST_F(JobSchedulerTest, CancelsWhatIsOutstandingWithTheLastTask) {
  const JobNumber job = submit(2);
  const auto reserves = takeReserves();
  ask(reserves[3]);
  EXPECT_THAT(said_.cancels, IsEmpty());
  ask(reserves[1]);
  ASSERT_THAT(said_.cancels, SizeIs(2));
  EXPECT_EQ(said_.cancels[0].job, job);
  EXPECT_EQ(said_.cancels[0].server, reserves[0].server);
  EXPECT_EQ(said_.cancels[0].probe, reserves[0].probe);
  EXPECT_EQ(said_.cancels[1].server, reserves[2].server);
}

TEST_F(JobSchedulerTest, JobIsOverWithItsLastTask) {
  const JobNumber job = submit(2);
  const auto reserves = takeReserves();
  ask(reserves[0]);
  const SlotLeaseId first = lastLease_;
  ask(reserves[1]);
  end(job, 0, first);
  EXPECT_THAT(said_.jobsOver, IsEmpty());
  end(job, 1, lastLease_);
  ASSERT_THAT(said_.jobsOver, SizeIs(1));
  EXPECT_EQ(said_.jobsOver[0].job, job);
  EXPECT_THAT(said_.tasksOver, SizeIs(2));
  EXPECT_EQ(agent_.jobs(), 0u);
}

TEST_F(JobSchedulerTest, NumbersOfJobsAreNotUsedTwice) {
  const JobNumber first = submit(1);
  ask(takeReserves()[0]);
  end(first, 0, lastLease_);
  const JobNumber second = submit(1);
  EXPECT_NE(first, second);
  // What was meant for the first does not reach the second.
  Reserve stale = takeReserves()[0];
  stale.job = first;
  EXPECT_EQ(ask(stale), kNoTask);
}

TEST_F(JobSchedulerTest, RefusesAJobThatNoServerSuits) {
  LateJob job;
  job.group = agent_.groups().make({});
  const auto refused = agent_.submit(job, now_, rng_, said_);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(agent_.jobs(), 0u);
}

TEST_F(JobSchedulerTest, SamplesFromTheServersThatSuitTheJob) {
  const std::vector<ServerId> feasible = {2, 3, 5, 7, 11};
  LateJob job;
  job.tasks = 2;
  job.group = agent_.groups().make(feasible);
  for (int i = 0; i < 50; ++i) submit(job);
  std::set<ServerId> probed;
  for (const Reserve& reserve : said_.reserves) probed.insert(reserve.server);
  EXPECT_EQ(probed, std::set<ServerId>(feasible.begin(), feasible.end()));
}

TEST_F(JobSchedulerTest, ReservationsSayWhoseTheyAreAndWhatTheyBear) {
  LateJob job;
  job.user = 4;
  job.shares = 3;
  job.priority = 80;
  job.bearing.caused.fill(9);
  submit(job);
  const Reserve& reserve = said_.reserves[0];
  EXPECT_EQ(reserve.agent, 3u);
  EXPECT_EQ(reserve.user, 4u);
  EXPECT_EQ(reserve.shares, 3u);
  EXPECT_EQ(reserve.priority, 80u);
  EXPECT_EQ(reserve.bearing, job.bearing);
}

TEST_F(JobSchedulerTest, TellsWhereTheTimeOfATaskWent) {
  const JobNumber job = submit(1);
  now_ += milliseconds(21);
  ask(takeReserves()[0], 0, milliseconds(18));  // 3 ms on the way, there and back
  Ended ended;
  ended.job = job;
  ended.lease = lastLease_;
  ended.queue = milliseconds(18);
  ended.getTask = milliseconds(2);
  ended.service = milliseconds(40);
  agent_.handle(ended, said_);
  const Phases& phases = said_.tasksOver.at(0).phases;
  EXPECT_EQ(phases.reserve, milliseconds(2));
  EXPECT_EQ(phases.queue, milliseconds(18));
  EXPECT_EQ(phases.getTask, milliseconds(2));
  EXPECT_EQ(phases.service, milliseconds(40));
}

// --- What is lost, repeated or late

TEST_F(JobSchedulerTest, RepeatedAskGetsTheSameTask) {
  submit(3);
  const auto reserves = takeReserves();
  EXPECT_EQ(ask(reserves[0]), 0u);
  const SlotLeaseId lease = lastLease_;
  EXPECT_EQ(ask(reserves[1]), 1u);
  EXPECT_EQ(ask(reserves[0], lease), 0u);
  EXPECT_EQ(ask(reserves[2]), 2u);
}

TEST_F(JobSchedulerTest, RepeatedEndIsAcknowledgedAndCountsOnce) {
  const JobNumber job = submit(1);
  ask(takeReserves()[0]);
  end(job, 0, lastLease_);
  end(job, 0, lastLease_);
  EXPECT_THAT(said_.tasksOver, SizeIs(1));
  EXPECT_THAT(said_.forgets, SizeIs(2));
}

TEST_F(JobSchedulerTest, EndOfAnotherTurnIsNotTheTasks) {
  const JobNumber job = submit(1);
  ask(takeReserves()[0]);
  end(job, 0, lastLease_ + 1);
  EXPECT_THAT(said_.tasksOver, IsEmpty());
  EXPECT_THAT(said_.forgets, SizeIs(1));
}

TEST_F(JobSchedulerTest, RepeatsWhatMayHaveBeenLostEachTimeLater) {
  submit(2);
  const auto reserves = takeReserves();
  ask(reserves[0]);
  said_.clear();
  now_ = agent_.nextWake();
  agent_.advance(now_, rng_, said_);
  EXPECT_THAT(said_.reserves, SizeIs(3));
  ASSERT_THAT(said_.gives, SizeIs(1));
  EXPECT_EQ(said_.gives[0].lease, lastLease_);
  EXPECT_EQ(agent_.nextWake() - now_, 2 * SchedulerOptions{}.repeat);
}

TEST_F(JobSchedulerTest, TaskThatIsKnownToRunIsNotGivenAgain) {
  const JobNumber job = submit(1);
  ask(takeReserves()[0]);
  agent_.handle(Started{3, job, 0, lastLease_});
  said_.clear();
  now_ = agent_.nextWake();
  agent_.advance(now_, rng_, said_);
  EXPECT_THAT(said_.gives, IsEmpty());
}

TEST_F(JobSchedulerTest, TaskThatWasNotStartedIsGivenToAnother) {
  for (const bool atMostOnce : {false, true}) {
    LateJob spec;
    spec.atMostOnce = atMostOnce;
    const JobNumber job = submit(spec);
    ask(takeReserves()[0]);
    agent_.handle(NotStarted{3, job, 0, lastLease_}, now_, rng_, said_);
    const auto reserves = takeReserves();  // the first were cancelled
    ASSERT_THAT(reserves, SizeIs(2));
    EXPECT_EQ(ask(reserves[1]), 0u);
  }
}

TEST_F(JobSchedulerTest, NotStartedOfAnEarlierTurnChangesNothing) {
  const JobNumber job = submit(1);
  ask(takeReserves()[0]);
  const SlotLeaseId first = lastLease_;
  agent_.handle(NotStarted{3, job, 0, first}, now_, rng_, said_);
  ask(takeReserves()[0]);
  agent_.handle(NotStarted{3, job, 0, first}, now_, rng_, said_);
  EXPECT_THAT(said_.reserves, IsEmpty());
}

TEST_F(JobSchedulerTest, NotStartedOfATaskThatEndedChangesNothing) {
  const JobNumber job = submit(2);
  ask(takeReserves()[0]);
  end(job, 0, lastLease_);
  agent_.handle(NotStarted{3, job, 0, lastLease_}, now_, rng_, said_);
  EXPECT_THAT(said_.reserves, IsEmpty());
}

// --- Servers that are lost

TEST_F(JobSchedulerTest, ReservationsOfALostServerAreReplacedElsewhere) {
  submit(3);
  const auto reserves = takeReserves();
  const ServerId lost = reserves[2].server;
  agent_.serverLost(lost, now_, rng_, said_);
  ASSERT_THAT(said_.reserves, SizeIs(1));
  EXPECT_NE(said_.reserves[0].server, lost);
}

TEST_F(JobSchedulerTest, TasksOfALostServerAreGivenAway) {
  const JobNumber job = submit(1);
  const Reserve reserve = takeReserves()[0];
  ask(reserve);
  agent_.handle(Started{3, job, 0, lastLease_});
  agent_.serverLost(reserve.server, now_, rng_, said_);
  EXPECT_THAT(said_.tasksOver, IsEmpty());
  const auto reserves = takeReserves();
  ASSERT_THAT(reserves, SizeIs(2));
  EXPECT_EQ(ask(reserves[0]), 0u);
  end(job, 0, lastLease_);
  EXPECT_EQ(said_.tasksOver.at(0).attempts, 2u);
}

TEST_F(JobSchedulerTest, TasksOfALostServerAreLostWhereTheyRunAtMostOnce) {
  LateJob spec;
  spec.tasks = 2;
  spec.atMostOnce = true;
  const JobNumber job = submit(spec);
  const auto reserves = takeReserves();
  ask(reserves[0]);
  agent_.serverLost(reserves[0].server, now_, rng_, said_);
  ASSERT_THAT(said_.tasksOver, SizeIs(1));
  EXPECT_EQ(said_.tasksOver[0].outcome, Outcome::kLost);
  EXPECT_EQ(said_.tasksOver[0].server, reserves[0].server);
  // The other one was not given away: it is not lost.
  EXPECT_EQ(ask(reserves[1]), 1u);
  end(job, 1, lastLease_);
  EXPECT_THAT(said_.jobsOver, SizeIs(1));
}

TEST_F(JobSchedulerTest, WaitsWhereAllServersAreLost) {
  submit(1);
  for (ServerId server = 0; server < 20; ++server) agent_.serverLost(server, now_, rng_, said_);
  said_.clear();
  agent_.serverUp(5);
  now_ = agent_.nextWake();
  agent_.advance(now_, rng_, said_);
  ASSERT_THAT(said_.reserves, SizeIs(1));
  EXPECT_EQ(said_.reserves[0].server, 5u);
  EXPECT_EQ(ask(said_.reserves[0]), 0u);
}

TEST_F(JobSchedulerTest, CancelledJobHasItsTasksStopped) {
  const JobNumber job = submit(3);
  const auto reserves = takeReserves();
  for (int i = 0; i < 3; ++i) ask(reserves[i]);
  agent_.cancel(job, said_);
  ASSERT_THAT(said_.stops, SizeIs(3));
  EXPECT_EQ(said_.stops[0].server, reserves[0].server);
  EXPECT_EQ(said_.stops[0].lease, lastLease_ - 2);
  EXPECT_THAT(said_.tasksOver, IsEmpty()) << "they run";
  const auto ended = [&](TaskIndex task, SlotLeaseId lease, int32_t code) {
    agent_.handle(Ended{3, reserves[task].server, job, task, lease, code, {}, {}, {}}, said_);
    return said_.tasksOver.back();
  };
  EXPECT_EQ(ended(0, lastLease_ - 2, 143).outcome, Outcome::kCancelled);
  EXPECT_EQ(said_.tasksOver.back().code, 143);
  EXPECT_EQ(ended(1, lastLease_ - 1, 0).outcome, Outcome::kDone) << "it was quicker";
  // The third was told that no task is left.
  said_.stops.clear();
  now_ = agent_.nextWake();
  agent_.advance(now_, rng_, said_);
  ASSERT_THAT(said_.stops, SizeIs(1));
  EXPECT_EQ(said_.stops[0].lease, lastLease_);
}

TEST_F(JobSchedulerTest, CancelledJobGivesNothingMoreAway) {
  const JobNumber job = submit(2);
  const auto reserves = takeReserves();
  ask(reserves[0]);
  const SlotLeaseId lease = lastLease_;
  agent_.cancel(job, said_);
  EXPECT_THAT(said_.cancels, SizeIs(3));
  ASSERT_THAT(said_.tasksOver, SizeIs(1));
  EXPECT_EQ(said_.tasksOver[0].outcome, Outcome::kCancelled);
  EXPECT_EQ(ask(reserves[1]), kNoTask);
  // One that was not started after all is cancelled too.
  agent_.handle(NotStarted{3, job, 0, lease}, now_, rng_, said_);
  EXPECT_EQ(said_.tasksOver[1].outcome, Outcome::kCancelled);
  EXPECT_THAT(said_.jobsOver, SizeIs(1));
}

// --- Tasks with servers of their own (Sparrow section 4.1)

enum Machine : ServerId { kA, kB, kC, kD, kE };

class ConstrainedTasks : public JobSchedulerTest {
 protected:
  // Task 0 may run on A, B and C, task 1 on C, D and E. By chance of the seed, task 0 probes A and B, task 1
  // C and D.
  JobNumber submitTheExample() {
    LateJob job;
    job.tasks = 2;
    job.serversOfTasks = {{kA, kB, kC}, {kC, kD, kE}};
    for (uint64_t seed = 0;; ++seed) {
      rng_ = Rng(seed);
      const JobNumber number = submit(job);
      reserves_.clear();
      for (const Reserve& reserve : takeReserves()) reserves_[reserve.server] = reserve;
      if (reserves_.contains(kA) && reserves_.contains(kB) && reserves_.contains(kC) &&
          reserves_.contains(kD))
        return number;
      agent_.cancel(number, said_);
      said_.clear();
    }
  }

  std::map<ServerId, Reserve> reserves_;
};

// "Sparrow will place task 0 on machine C and task 1 on machine D, even though both machines were selected to
// be probed for task 1": both are idle and ask together, in whatever order; A and B, heavily loaded, do not.
TEST_F(ConstrainedTasks, ShareWhatTheirProbesFind) {
  for (const bool isCFirst : {true, false}) {
    submitTheExample();
    const auto askOf = [&](Machine machine) {
      const Reserve& reserve = reserves_[machine];
      return Ask{3, machine, reserve.job, reserve.probe, nextLease_++, {}};
    };
    const Ask asks[] = {askOf(isCFirst ? kC : kD), askOf(isCFirst ? kD : kC)};
    agent_.handle(std::span<const Ask>(asks), now_, said_);
    std::map<ServerId, TaskIndex> given;
    for (const Give& give : said_.gives) given[give.server] = give.task;
    EXPECT_EQ(given, (std::map<ServerId, TaskIndex>{{kC, 0}, {kD, 1}}));
    said_.clear();
  }
}

TEST_F(ConstrainedTasks, GoToAnyServerThatSuitsThemOneAfterTheOther) {
  submitTheExample();
  EXPECT_EQ(ask(reserves_[kD]), 1u);
  EXPECT_EQ(ask(reserves_[kC]), 0u);
}

// The task that drew the server has fewer others to wait for than one that drew two others.
TEST_F(ConstrainedTasks, GoFirstWhereTheyDrew) {
  submitTheExample();
  EXPECT_EQ(ask(reserves_[kC]), 1u);
  EXPECT_EQ(ask(reserves_[kB]), 0u);
}

TEST_F(ConstrainedTasks, RunOnTheirOwnServersOnly) {
  submitTheExample();
  EXPECT_EQ(ask(reserves_[kA]), 0u);
  EXPECT_EQ(ask(reserves_[kB]), kNoTask);
  EXPECT_EQ(ask(reserves_[kC]), 1u);
}

TEST_F(ConstrainedTasks, CancelAtServersWhereNoneIsLeftThatMayRun) {
  submitTheExample();
  ask(reserves_[kA]);
  ASSERT_THAT(said_.cancels, SizeIs(1));
  EXPECT_EQ(said_.cancels[0].server, kB);
}

TEST_F(ConstrainedTasks, AreProbedForEachByFractionsThatAddUp) {
  LateJob job;
  job.tasks = 4;
  job.probeRatio = 1.5;
  job.serversOfTasks = {{0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {9, 10, 11}};
  submit(job);
  std::map<ServerId, uint64_t> ofTask;
  for (const Reserve& reserve : said_.reserves) ofTask[reserve.server / 3] += reserve.count;
  EXPECT_EQ(ofTask, (std::map<ServerId, uint64_t>{{0, 2}, {1, 1}, {2, 2}, {3, 1}}));
}

TEST_F(ConstrainedTasks, AreRefusedWhereOneHasNoServer) {
  LateJob job;
  job.tasks = 2;
  job.serversOfTasks = {{0}, {}};
  const auto refused = agent_.submit(job, now_, rng_, said_);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, ::testing::HasSubstr("task 1"));
}

TEST_F(ConstrainedTasks, WaitForAServerThatIsDown) {
  LateJob job;
  job.tasks = 2;
  job.probeRatio = 1;
  job.serversOfTasks = {{0}, {100}};
  submit(job);
  const auto first = takeReserves();
  ASSERT_THAT(first, SizeIs(1));
  EXPECT_EQ(ask(first[0]), 0u);
  agent_.serverUp(100);
  now_ = agent_.nextWake();
  agent_.advance(now_, rng_, said_);
  const auto later = takeReserves();
  ASSERT_THAT(later, SizeIs(1));
  EXPECT_EQ(later[0].server, 100u);
  EXPECT_EQ(ask(later[0]), 1u);
}

TEST_F(ConstrainedTasks, ProbeAnewWhatTheyLostWithAServer) {
  LateJob job;
  job.tasks = 1;
  job.probeRatio = 1;
  job.serversOfTasks = {{4, 5}};
  submit(job);
  const ServerId first = takeReserves().at(0).server;
  agent_.serverLost(first, now_, rng_, said_);
  const auto reserves = takeReserves();
  ASSERT_THAT(reserves, SizeIs(1));
  EXPECT_EQ(reserves[0].server, first == 4 ? 5u : 4u);
  EXPECT_EQ(ask(reserves[0]), 0u);
}

// --- The probe ratio by load

class AdaptiveRatio : public JobSchedulerTest {
 protected:
  AdaptiveRatio() : JobSchedulerTest(1'000, {.adaptRatio = true}) {}

  // So many jobs of which this part of the probes find a free slot.
  void load(double free) {
    for (int i = 0; i < 200; ++i) {
      submit(20);
      for (const Reserve& reserve : takeReserves()) {
        ask(reserve, 0, rng_.unit() < free ? Duration(0) : milliseconds(3));
      }
    }
  }
};

TEST_F(AdaptiveRatio, FallsWhereSlotsAreFreeAndRisesWhereTheyAreNot) {
  EXPECT_EQ(agent_.probeRatio(), 2);  // nothing is known
  load(1.0);
  EXPECT_NEAR(agent_.probeRatio(), 1.25, 0.05);
  load(0.6);
  EXPECT_NEAR(agent_.probeRatio(), 1.25 / 0.6, 0.15);
  load(0.0);
  EXPECT_EQ(agent_.probeRatio(), SchedulerOptions{}.mostRatio);
}

// A slot whose ask finds no task waits a round trip; d - 1 of them may take a tenth of the time of a task.
TEST_F(AdaptiveRatio, StaysLowWhereRoundTripsAreLongBesideTasks) {
  load(0.0);
  for (int i = 0; i < 100; ++i) {
    const JobNumber job = submit(1);
    ask(takeReserves()[0]);
    Ended ended;
    ended.job = job;
    ended.lease = lastLease_;
    ended.getTask = milliseconds(1);
    ended.service = milliseconds(8);
    agent_.handle(ended, said_);
  }
  EXPECT_NEAR(agent_.probeRatio(), 1.8, 0.001);
}

TEST_F(AdaptiveRatio, LeavesJobsTheirOwn) {
  load(1.0);
  LateJob job;
  job.tasks = 10;
  job.probeRatio = 3;
  submit(job);
  EXPECT_EQ(total(takeReserves()), 30u);
}

// --- Without late binding

class EarlyBinding : public JobSchedulerTest {
 protected:
  JobNumber submit(LatePolicy policy, uint32_t tasks) {
    LateJob job;
    job.policy = policy;
    job.tasks = tasks;
    return JobSchedulerTest::submit(job);
  }
  // All servers tell how long their queues are.
  void tell(const std::vector<int32_t>& lengths) {
    const auto looks = std::exchange(said_.looks, {});
    ASSERT_EQ(looks.size(), lengths.size());
    for (size_t i = 0; i < looks.size(); ++i) {
      servers_.push_back(looks[i].server);
      agent_.handle(QueueLength{3, looks[i].server, looks[i].job, looks[i].probe, lengths[i]}, said_);
    }
  }
  // Positions, among the servers looked at, of those that got tasks.
  std::vector<size_t> placedAt() {
    std::vector<size_t> positions;
    for (const Reserve& reserve : said_.reserves) {
      EXPECT_NE(reserve.task, kNoTask);
      positions.push_back(static_cast<size_t>(std::find(servers_.begin(), servers_.end(), reserve.server) -
                                              servers_.begin()));
    }
    return positions;
  }
  std::vector<ServerId> servers_;
};

TEST_F(EarlyBinding, BatchTakesTheLeastLoadedOfAll) {
  submit(LatePolicy::kBatch, 3);
  tell({5, -2, 0, 3, -1, 4});
  EXPECT_THAT(placedAt(), ElementsAre(1, 4, 2));
}

TEST_F(EarlyBinding, PerTaskTakesTheLessLoadedOfEachPair) {
  submit(LatePolicy::kPerTask, 3);
  tell({5, -2, 0, 3, 9, 4});
  EXPECT_THAT(placedAt(), ElementsAre(1, 2, 5));
}

TEST_F(EarlyBinding, RandomAsksNobody) {
  submit(LatePolicy::kRandom, 5);
  EXPECT_THAT(said_.looks, IsEmpty());
  std::set<ServerId> servers;
  for (const Reserve& reserve : said_.reserves) servers.insert(reserve.server);
  EXPECT_EQ(servers.size(), 5u);
}

TEST_F(EarlyBinding, PlacesNothingBeforeAllHaveAnswered) {
  submit(LatePolicy::kBatch, 1);
  const auto looks = said_.looks;
  agent_.handle(QueueLength{3, looks[0].server, looks[0].job, looks[0].probe, 0}, said_);
  agent_.handle(QueueLength{3, looks[0].server, looks[0].job, looks[0].probe, 0}, said_);
  EXPECT_THAT(said_.reserves, IsEmpty());
}

TEST_F(EarlyBinding, GoesOnWithoutAServerThatIsLostWhileItIsLookedAt) {
  submit(LatePolicy::kBatch, 2);
  agent_.serverLost(said_.looks[0].server, now_, rng_, said_);
  EXPECT_THAT(said_.reserves, SizeIs(2));
}

}  // namespace tarcil::late::job_scheduler_test
