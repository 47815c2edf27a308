#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/model/constraint.h"
#include "tests/master/master_harness.h"

namespace tarcil::preemption_test {

using namespace std::chrono_literals;
using master::StopTask;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

constexpr uint64_t kGiB = uint64_t{1} << 30;

JobSpec ofPriority(uint8_t priority, uint32_t tasks = 1, uint32_t rus = 1) {
  JobSpec wanted = spec(tasks, rus);
  wanted.name = "job of " + std::to_string(priority);
  wanted.priority = priority;
  return wanted;
}

JobSpec preemptible(uint8_t priority, uint32_t tasks = 1, uint32_t rus = 1) {
  JobSpec wanted = ofPriority(priority, tasks, rus);
  wanted.preemptible = true;
  return wanted;
}

// Servers "s" of two units and "t" of two.
struct Preemption : testing::Test {
  Preemption() {
    agent = h.attachAgent("x");
    monitor = h.attachMonitor("m", {serverFacts("s", 2), serverFacts("t", 2)});
  }

  // Its tasks run there.
  std::vector<AllocationId> run(int number, const JobSpec& wanted, std::vector<ServerId> servers) {
    Commit commit = newJob(number, wanted);
    for (TaskIndex task = 0; task < servers.size(); ++task) {
      commit.claims.push_back(claim(task, servers[task], wanted.rusPerTask));
    }
    commit.explanation.wanted = wanted.tasks;
    h.commit(agent, commit);
    std::vector<AllocationId> allocations;
    for (const TaskRecord& task : h.job(number).tasks) {
      if (task.allocation == 0) continue;
      h.started(monitor, task.allocation);
      allocations.push_back(task.allocation);
    }
    return allocations;
  }

  int roundsFor(WallTime submitted);
  // The task of job 1 that was stopped ends, and starts again where it was.
  void restartVictim(AllocationId allocation);
  void startAgain(TaskIndex task, ServerId server);

  // Its agent looked for slots, and found none: the tasks that are stopped now.
  std::vector<AllocationId> failAttempt(int number, const JobSpec& wanted) {
    Commit commit = newJob(number, wanted);
    commit.explanation.wanted = wanted.tasks;
    commit.waitReason = "no unit is free";
    h.commit(agent, commit);
    return stopped(h.lastActions());
  }
  static std::vector<AllocationId> stopped(const std::vector<master::Action>& actions) {
    std::vector<AllocationId> allocations;
    for (const StopTask& stop : only<StopTask>(actions)) allocations.push_back(stop.allocation);
    return allocations;
  }
  static master::JobOffer onlyOffer(const std::vector<master::Action>& actions) {
    const auto offers = only<master::OfferJobs>(actions);
    EXPECT_THAT(offers, SizeIs(1));
    if (offers.empty()) return {};
    EXPECT_THAT(offers[0].jobs, SizeIs(1));
    return offers[0].jobs[0];
  }
  std::vector<master::Action> pass(int number) {
    return h.handle(master::OffersDeclined{agent, {jobId(number)}});
  }
  std::vector<master::Action> end(AllocationId allocation) {
    TaskEnd end;
    end.cause = EndCause::kCancelled;
    return h.ended(monitor, allocation, end);
  }

  MasterHarness h;
  SessionId agent, monitor;
};

TEST_F(Preemption, EndsNothingForAJobWhoseAccountHoldsItsUnits) {
  h.change(master::AccountSet{{}, {.name = "physics", .bounds = {.runningUnits = 4}}});
  h.change(master::UserSet{{}, {.name = "alice", .account = "physics"}});
  run(1, preemptible(10, 4), {0, 0, 1, 1});
  EXPECT_THAT(failAttempt(2, ofPriority(50)), IsEmpty());
  EXPECT_THAT(h.job(2).progress.reason, HasSubstr("account physics holds the 4 units"));
}

TEST_F(Preemption, EndsTheTaskThatHasTheMemoryThatTheJobLacks) {
  ServerFacts facts = serverFacts("u", 4);
  facts.memoryBytes = 16 * kGiB;
  monitor = h.attachMonitor("n", {facts});
  const auto claiming = [](JobSpec wanted, uint64_t memory) {
    wanted.limits.memoryBytes = memory;
    wanted.placement.constraints = {{"server", Constraint::Operator::kEqual, {"u"}}};
    return wanted;
  };
  const auto large = run(1, claiming(preemptible(10), 12 * kGiB), {2});
  run(2, claiming(preemptible(10), 2 * kGiB), {2});
  EXPECT_THAT(failAttempt(3, claiming(ofPriority(50), 2 * kGiB)), IsEmpty()) << "as much is left";
  EXPECT_THAT(failAttempt(4, claiming(ofPriority(50), 8 * kGiB)), ElementsAre(large[0]))
      << "two units are free, and with the end of the youngest three, but 4 GiB";
}

TEST_F(Preemption, EndsATaskOfLowerPriority) {
  const auto low = run(1, preemptible(10, 4), {0, 0, 1, 1});
  EXPECT_THAT(failAttempt(2, ofPriority(50)), SizeIs(1));
  EXPECT_EQ(h.job(2).progress.reason, "room is being made: 1 task of lower priority is being ended");
}

TEST_F(Preemption, SparesWhatIsNotPreemptibleOrOfNoLowerPriority) {
  run(1, ofPriority(10, 2), {0, 0});
  run(2, preemptible(50, 2), {1, 1});
  EXPECT_THAT(failAttempt(3, ofPriority(50)), IsEmpty());
}

TEST_F(Preemption, DoesNothingWhereAServerIsAcceptableAsItIs) {
  run(1, preemptible(10, 1), {0});
  EXPECT_THAT(failAttempt(2, ofPriority(50)), IsEmpty());
}

TEST_F(Preemption, EndsNobodyForTheSakeOfAMargin) {
  h.handle(master::SettingsSet{77, QualitySettings{}});
  JobSpec loud = preemptible(10);
  loud.profile = causing(Resource::kLlc, 20);
  run(1, loud, {0});
  run(2, preemptible(10, 2), {1, 1});
  JobSpec tight = ofPriority(50);
  tight.profile.tolerated[static_cast<size_t>(Resource::kLlc)] = 24;
  EXPECT_THAT(failAttempt(3, tight), IsEmpty()) << "the other unit of the first server is good enough";
  JobSpec tighter = ofPriority(50);
  tighter.profile.tolerated[static_cast<size_t>(Resource::kLlc)] = 10;
  EXPECT_THAT(failAttempt(4, tighter), SizeIs(1));
}

TEST_F(Preemption, TakesTheLowestFirstThenTheYoungest) {
  run(1, preemptible(20, 2), {0, 0});
  const auto lowest = run(2, preemptible(10, 2), {1, 1});
  EXPECT_THAT(failAttempt(3, ofPriority(50)), ElementsAre(lowest[1]));
}

TEST_F(Preemption, TakesTheFewest) {
  run(1, preemptible(10, 2), {0, 0});
  const auto wide = run(2, preemptible(20, 1, 2), {1});
  EXPECT_THAT(failAttempt(3, ofPriority(50, 1, 2)), ElementsAre(wide[0]));
}

TEST_F(Preemption, TakesAsManyAsTheJobsTasksNeed) {
  run(1, preemptible(10, 4), {0, 0, 1, 1});
  EXPECT_THAT(failAttempt(2, ofPriority(50, 3)), SizeIs(3));
}

TEST_F(Preemption, VictimsAreToldWhyAndWaitAgainWithoutHavingLostAnAttempt) {
  const auto low = run(1, preemptible(10, 4), {0, 0, 1, 1});
  const auto stops = failAttempt(2, ofPriority(50));
  end(stops[0]);
  const auto tasks = h.job(1).tasks;
  const auto victim = std::ranges::find(tasks, RunState::kQueued, &TaskRecord::state);
  ASSERT_NE(victim, tasks.end());
  EXPECT_THAT(victim->previous, HasSubstr("preempted by job of 50"));
  EXPECT_THAT(victim->previous, HasSubstr("priority 50"));
  EXPECT_EQ(victim->failures, 0u);
}

TEST_F(Preemption, TheUnitsAreOfferedToTheJobFirst) {
  run(1, preemptible(10, 4), {0, 0, 1, 1});
  failAttempt(3, ofPriority(40));
  const auto stops = failAttempt(2, ofPriority(50));
  ASSERT_THAT(stops, SizeIs(1));
  const auto offers = only<master::OfferJobs>(end(stops[0]));
  ASSERT_EQ(offers.size(), 1u);
  EXPECT_EQ(offers[0].jobs[0].job, jobId(2));
}

TEST_F(Preemption, IsNotRepeatedWhileVictimsEnd) {
  run(1, preemptible(10, 4), {0, 0, 1, 1});
  ASSERT_THAT(failAttempt(2, ofPriority(50)), SizeIs(1));
  h.handle(master::SettingsSet{1'000, {}});
  EXPECT_THAT(stopped(pass(2)), IsEmpty());
}

TEST_F(Preemption, NobodyBehindTheJobTakesTheUnitsOfTheFirstVictimWhileTheLastEnds) {
  const auto low = run(1, preemptible(10, 2), {0, 0});
  run(3, ofPriority(90, 2), {1, 1});
  ASSERT_THAT(failAttempt(2, ofPriority(50, 1, 2)), UnorderedElementsAre(low[0], low[1]));
  end(low[0]);
  EXPECT_THAT(h.queueTold().reserved, ElementsAre(0));
  const master::JobOffer victim = onlyOffer(pass(2));
  EXPECT_EQ(victim.job, jobId(1));
  EXPECT_FALSE(victim.mayUseReserved);
  EXPECT_THAT(victim.usableReserved, IsEmpty());
  pass(1);
  const master::JobOffer helped = onlyOffer(end(low[1]));
  EXPECT_EQ(helped.job, jobId(2));
  EXPECT_TRUE(helped.mayUseReserved);
}

TEST_F(Preemption, ReservedServersAreThereForAllWhenTheAttemptOfTheJobFailed) {
  const auto low = run(1, preemptible(10, 4), {0, 0, 1, 1});
  const auto stops = failAttempt(2, ofPriority(50));
  end(stops[0]);
  ASSERT_THAT(h.queueTold().reserved, SizeIs(1));
  const ServerId server = h.queueTold().reserved[0];
  run(3, ofPriority(60), {server});
  ASSERT_THAT(stopped(pass(2)), SizeIs(1)) << "it is helped anew";
  h.cancel(2, user("alice"));
  EXPECT_THAT(h.queueTold().reserved, IsEmpty());
}

TEST_F(Preemption, NothingIsReservedForLongForAJobThatNobodyTries) {
  run(1, preemptible(10, 4), {0, 0, 1, 1});
  end(failAttempt(2, ofPriority(50))[0]);
  ASSERT_THAT(h.queueTold().reserved, SizeIs(1));
  h.pass(2s);
  h.handle(master::TimerFired{});
  EXPECT_THAT(h.queueTold().reserved, IsEmpty());
}

// What else keeps its agent from starting it there the master does not know.
TEST_F(Preemption, AfterFailedPreemptionsVictimsAreEndedLessAndLessOften) {
  run(1, preemptible(10, 4), {0, 0, 1, 1});
  auto stops = failAttempt(2, ofPriority(50));
  const MonotonicTime began = h.now().steady;
  int times = 0;
  for (; h.now().steady - began < 60s; h.pass(1s)) {
    if (!stops.empty()) {
      ++times;
      restartVictim(stops[0]);
    }
    h.handle(master::TimerFired{});
    stops = stopped(pass(2));
  }
  EXPECT_GE(times, 4);
  EXPECT_LE(times, 8) << "after 0, 1, 2, 4 ... seconds";
}

TEST_F(Preemption, HelpsAJobThatTriesAgain) {
  const auto low = run(1, preemptible(10, 4), {0, 0, 1, 1});
  const auto stops = failAttempt(2, ofPriority(50));
  end(stops[0]);  // and somebody else takes the unit
  run(3, ofPriority(60), {stops[0] == low[0] || stops[0] == low[1] ? 0u : 1u});
  EXPECT_THAT(stopped(pass(2)), SizeIs(1));
}

TEST_F(Preemption, EndsNobodyForAJobThatCouldNotStart) {
  run(1, preemptible(10, 2), {0, 0});
  run(2, ofPriority(10, 2), {1, 1});
  EXPECT_THAT(failAttempt(3, ofPriority(50, 1, 3)), IsEmpty()) << "no server has three units";
  JobSpec elsewhere = ofPriority(50);
  elsewhere.placement.constraints = {{"server", Constraint::Operator::kEqual, {"t"}}};
  EXPECT_THAT(failAttempt(4, elsewhere), IsEmpty()) << "only server s has victims";
  JobSpec fragile = ofPriority(50);
  fragile.profile.tolerated.fill(0);
  run(5, ofPriority(100), {});
  h.handle(master::PressureReported{monitor, {{"s", causing(Resource::kLlc, 50).caused, {}}}});
  EXPECT_THAT(failAttempt(6, fragile), IsEmpty()) << "no task there is to blame for the pressure";
}

TEST_F(Preemption, AGangIsHelpedWhollyOrNotAtAll) {
  run(1, preemptible(10, 2), {0, 0});
  run(2, ofPriority(10, 1), {1});
  JobSpec larger = ofPriority(50, 4);
  larger.schedule = Schedule::kGang;
  EXPECT_THAT(failAttempt(3, larger), IsEmpty()) << "two victims and the free unit are not enough";
  JobSpec gang = ofPriority(50, 3);
  gang.schedule = Schedule::kGang;
  EXPECT_THAT(failAttempt(4, gang), SizeIs(2));
}

TEST_F(Preemption, KeepsTasksApartThatAreToBeSpread) {
  run(1, preemptible(10, 4), {0, 0, 1, 1});
  JobSpec spread = ofPriority(50, 4);
  spread.placement.spread = Domain::kServer;
  EXPECT_THAT(failAttempt(2, spread), SizeIs(2)) << "one on each server";
}

TEST_F(Preemption, EndsTasksWhereTheJobsTasksMayGo) {
  const auto low = run(1, preemptible(10, 4), {0, 0, 1, 1});
  JobSpec bound = ofPriority(50, 3);
  bound.placement.requireOfTask = {
      {0, {onServers({"gone"})}}, {1, {onServers({"s"})}}, {2, {onServers({"s"})}}};
  EXPECT_THAT(failAttempt(2, bound), UnorderedElementsAre(low[0], low[1]));
}

TEST_F(Preemption, EndsTasksWhereAllTasksOfAGangMayGo) {
  run(1, preemptible(10, 4), {0, 0, 1, 1});
  JobSpec gang = ofPriority(50, 3);
  gang.schedule = Schedule::kGang;
  gang.placement.requireOfTask = {
      {0, {onServers({"gone"})}}, {1, {onServers({"s"})}}, {2, {onServers({"s"})}}};
  EXPECT_THAT(failAttempt(2, gang), IsEmpty()) << "one of it could not start";
  gang.placement.requireOfTask = {
      {0, {onServers({"s"})}}, {1, {onServers({"s"})}}, {2, {onServers({"s", "t"})}}};
  EXPECT_THAT(failAttempt(3, gang), SizeIs(3)) << "two on s, one on t";
}

TEST_F(Preemption, PutsTheServerRightForAJobThatItsTasksDisturb) {
  JobSpec loud = preemptible(10);
  loud.profile = causing(Resource::kLlc, 80);
  const auto noise = run(1, loud, {0});
  run(2, ofPriority(90, 2), {1, 1});
  JobSpec fragile = ofPriority(50);
  fragile.profile.tolerated.fill(0);
  EXPECT_THAT(failAttempt(3, fragile), ElementsAre(noise[0])) << "a unit is free beside it, but loud";
}

TEST_F(Preemption, ForAJobThatLooksAtNoQualityAnyServerWillDo) {
  h.handle(master::PressureReported{monitor, {{"s", causing(Resource::kLlc, 50).caused, {}}}});
  run(1, preemptible(10, 2), {0, 0});
  run(2, ofPriority(90, 2), {1, 1});
  JobSpec careless = ofPriority(50);
  careless.profile.tolerated.fill(0);
  careless.policy = Policy::kRandom;
  EXPECT_THAT(failAttempt(3, careless), SizeIs(1));
}

TEST_F(Preemption, RestartsKnowWhatIsBeingEnded) {
  run(1, preemptible(10, 4), {0, 0, 1, 1});
  const auto stops = failAttempt(2, ofPriority(50));
  h.restart();
  agent = h.attachAgent("x", 1);
  monitor = h.attachMonitor("m", {serverFacts("s", 2), serverFacts("t", 2)}, {});
  const auto tasks = h.job(1).tasks;
  EXPECT_EQ(
      std::ranges::count_if(tasks, [](const TaskRecord& task) { return task.stopping || task.attempt > 0; }),
      4)
      << "three were lost with a monitor that knew none of them";
}

TEST_F(Preemption, TheUnitsAreNotOfferedToTheVictimFirstThoughItIsOld) {
  run(1, preemptible(10, 4), {0, 0, 1, 1});
  h.pass(8h);
  Commit commit = newJob(2, ofPriority(50));
  commit.newJob->record.submitted = h.now().wall;
  commit.explanation.wanted = 1;
  h.commit(agent, commit);
  const auto stops = stopped(h.lastActions());
  ASSERT_THAT(stops, SizeIs(1));
  const auto offers = only<master::OfferJobs>(end(stops[0]));
  ASSERT_FALSE(offers.empty());
  EXPECT_EQ(offers[0].jobs[0].job, jobId(2)) << "else it takes its unit again, and is ended again, for ever";
}

void Preemption::restartVictim(AllocationId allocation) {
  TaskIndex task = 0;
  while (h.task(1, task).allocation != allocation) ++task;
  const ServerId server = h.task(1, task).server == "s" ? 0 : 1;
  end(allocation);
  startAgain(task, server);
}

void Preemption::startAgain(TaskIndex task, ServerId server) {
  Commit again = moreFor(1);
  again.claims = {claim(task, server)};
  again.claims[0].attempt = h.task(1, task).attempt;
  again.explanation.wanted = 1;
  h.commit(agent, again);
  h.started(monitor, h.task(1, task).allocation);
}

// How often tasks of job 1 are ended for job 2, which was submitted at this time, before that is offered.
int Preemption::roundsFor(WallTime submitted) {
  Commit commit = newJob(2, ofPriority(50));
  commit.newJob->record.submitted = submitted;
  commit.explanation.wanted = 1;
  h.commit(agent, commit);
  auto stops = stopped(h.lastActions());
  int rounds = 0;
  for (; rounds < 10 && !stops.empty(); ++rounds) {
    h.pass(2s);
    const auto holdOf = [&](AllocationId allocation) {
      for (TaskIndex task = 0; task < 4; ++task)
        if (h.task(1, task).allocation == allocation) return task;
      return TaskIndex{99};
    };
    const TaskIndex task = holdOf(stops[0]);
    if (task == 99u) return 99;
    const ServerId server = h.task(1, task).server == "s" ? 0 : 1;
    auto actions = end(stops[0]);
    stops.clear();
    // Agents try what they are offered: whichever comes first takes the unit, the other declines.
    const auto offers = only<master::OfferJobs>(actions);
    if (offers.empty()) break;
    if (offers[0].jobs[0].job == jobId(2)) break;
    startAgain(task, server);
    h.pass(2s);
    std::vector<master::Action> next = pass(2);
    for (auto s : stopped(next)) stops.push_back(s);
    if (stops.empty()) {
      for (auto s : stopped(h.lastActions())) stops.push_back(s);
    }
  }
  return rounds;
}

TEST_F(Preemption, AVictimIsNotEndedAgainAndAgain) {
  run(1, preemptible(10, 4), {0, 0, 1, 1});
  h.pass(8h);
  EXPECT_LT(roundsFor(h.now().wall), 3);
}

// The agent's clock is ahead.
TEST_F(Preemption, AVictimOfAJobFromATimeToComeIsNotEndedAgainAndAgain) {
  run(1, preemptible(10, 4), {0, 0, 1, 1});
  EXPECT_LT(roundsFor(h.now().wall + 8h), 3);
}

TEST_F(Preemption, TheBestPlatformIsThatOfTheServersThatItMayUse) {
  h.attachMonitor("n", {serverFacts("u", 1, "new")});
  run(1, preemptible(10, 4), {0, 0, 1, 1});
  JobSpec there = ofPriority(50);
  there.profile.platforms = {{"p", 0.5}, {"new", 1.0}};
  there.placement.constraints = {{"platform", Constraint::Operator::kEqual, {"p"}}};
  EXPECT_THAT(failAttempt(2, there), SizeIs(1))
      << "the agent judges it by the best of the servers it may use";
}

TEST_F(Preemption, DoesNothingWhereAServerWithoutVictimsIsAcceptableAsItIs) {
  run(1, preemptible(10, 2), {0, 0});
  EXPECT_THAT(failAttempt(2, ofPriority(50)), IsEmpty()) << "server t is empty: the sample missed it";
}

TEST_F(Preemption, EndsAGangAsAWhole) {
  JobSpec gang = preemptible(10, 3);
  gang.schedule = Schedule::kGang;
  const auto tasks = run(1, gang, {0, 0, 1});
  ASSERT_THAT(tasks, SizeIs(3));
  run(2, ofPriority(90), {1});
  EXPECT_THAT(failAttempt(3, ofPriority(50)), UnorderedElementsAre(tasks[0], tasks[1], tasks[2]));
  EXPECT_THAT(h.job(3).progress.reason, HasSubstr("3 tasks of lower priority are being ended"));
}

// Else the first to start would be told of places that the others are about to leave.
TEST_F(Preemption, AGangStartsAgainOnceAllOfItHasEnded) {
  JobSpec gang = preemptible(10, 3);
  gang.schedule = Schedule::kGang;
  const auto tasks = run(1, gang, {0, 0, 1});
  run(2, ofPriority(90), {1});
  ASSERT_THAT(failAttempt(3, ofPriority(50)), SizeIs(3));
  h.cancel(3, user("alice"));
  EXPECT_THAT(only<master::OfferJobs>(end(tasks[0])), IsEmpty());
  EXPECT_THAT(only<master::OfferJobs>(end(tasks[1])), IsEmpty());
  EXPECT_EQ(onlyOffer(end(tasks[2])).job, jobId(1));
}

TEST_F(Preemption, AGangStartsAgainTogetherThoughTheMasterDied) {
  JobSpec gang = preemptible(10, 2);
  gang.schedule = Schedule::kGang;
  const auto tasks = run(1, gang, {0, 1});
  run(2, ofPriority(90, 2), {0, 1});
  ASSERT_THAT(failAttempt(3, ofPriority(50)), SizeIs(2));
  const auto others = h.job(2).tasks;
  h.restart();
  agent = h.attachAgent("x", 1);
  monitor = h.attachMonitor(
      "m", {serverFacts("s", 2), serverFacts("t", 2)},
      {{tasks[0], "s"}, {tasks[1], "t"}, {others[0].allocation, "s"}, {others[1].allocation, "t"}});
  h.cancel(3, user("alice"));
  EXPECT_THAT(only<master::OfferJobs>(end(tasks[0])), IsEmpty());
  EXPECT_EQ(onlyOffer(end(tasks[1])).job, jobId(1));
}

}  // namespace tarcil::preemption_test
