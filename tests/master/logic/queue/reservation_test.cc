#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/model/constraint.h"
#include "tests/master/master_harness.h"

namespace tarcil::reservation_test {

using namespace std::chrono_literals;
using master::OfferJobs;
using master::PublishQueue;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr uint64_t kGiB = uint64_t{1} << 30;

// A job that is offered, and whether it may use the reserved servers.
using Tried = std::pair<JobId, bool>;
Tried free(int job) {
  return {jobId(job), true};
}
Tried withoutReserved(int job) {
  return {jobId(job), false};
}

std::vector<Tried> offers(const std::vector<master::Action>& actions) {
  std::vector<Tried> jobs;
  for (const OfferJobs& action : only<OfferJobs>(actions)) {
    for (const master::JobOffer& offer : action.jobs) jobs.emplace_back(offer.job, offer.mayUseReserved);
  }
  return jobs;
}

// Two servers of one unit, each with a task; patience of ten seconds.
struct Reservation : testing::Test {
  Reservation() : h(MasterOptions{.reservationDelay = 10s}) {
    agent = h.attachAgent("x");
    attach("m", {serverFacts("s", 1), serverFacts("t", 1)});
  }

  void attach(const std::string& name, const std::vector<ServerFacts>& servers) {
    monitors.insert(monitors.end(), servers.size(), h.attachMonitor(name, servers));
  }

  void run(int number, ServerId server, Duration timeout) {
    JobSpec running = spec();
    running.timeout = timeout;
    running.grace = 0s;
    Commit commit = newJob(number, running);
    commit.claims = {claim(0, server)};
    held[number] = h.place(agent, commit);
    serverOf[number] = server;
    h.started(monitors[server], held[number]);
  }
  void runOnBoth() {
    run(1, 0, 0s);
    run(2, 1, 0s);
  }
  // A job that waits; it was tried.
  void wait(int number, const JobSpec& wanted) {
    Commit commit = newJob(number, wanted);
    commit.newJob->record.submitted = h.now().wall;
    commit.explanation.wanted = wanted.tasks;
    h.commit(agent, commit);
  }
  static JobSpec gang(uint32_t tasks = 2) {
    JobSpec wanted = spec(tasks);
    wanted.schedule = Schedule::kGang;
    return wanted;
  }
  static JobSpec lasting(Duration timeout) {
    JobSpec wanted = spec();
    wanted.timeout = timeout;
    wanted.grace = 0s;
    return wanted;
  }
  std::vector<master::Action> end(int number) {
    return h.ended(monitors[serverOf[number]], held[number], exitedWith(0));
  }
  std::vector<master::Action> pass(const JobId& job) {
    return h.handle(master::OffersDeclined{agent, {job}});
  }
  // Who is tried, one after the other, when the task of this job ends.
  std::vector<Tried> triedWhenEnds(int number) {
    std::vector<Tried> all;
    auto next = offers(end(number));
    while (!next.empty()) {
      all.insert(all.end(), next.begin(), next.end());
      std::vector<Tried> following;
      for (const Tried& tried : next) {
        for (const Tried& more : offers(pass(tried.first))) following.push_back(more);
      }
      next = std::move(following);
    }
    return all;
  }
  const std::vector<ServerId>& reserved() const { return h.queueTold().reserved; }

  MasterHarness h;
  SessionId agent;
  std::vector<SessionId> monitors;  // by server
  std::map<int, AllocationId> held;
  std::map<int, ServerId> serverOf;
};

TEST_F(Reservation, SmallJobsGoAheadOfAGangThatHasNotWaitedForLong) {
  runOnBoth();
  wait(3, gang());
  wait(4, spec());
  EXPECT_THAT(triedWhenEnds(1), ElementsAre(free(3), free(4)));
}

TEST_F(Reservation, ServersAreReservedForAGangPastItsBound) {
  runOnBoth();
  wait(3, gang());
  wait(4, spec());
  h.pass(11s);
  EXPECT_THAT(triedWhenEnds(1), ElementsAre(free(3), withoutReserved(4)));
  EXPECT_THAT(reserved(), ElementsAre(0, 1));
  EXPECT_EQ(h.logic().load().reservedServers, 2u);
}

TEST_F(Reservation, NothingIsReservedForAGangWhoseAccountHoldsItsUnits) {
  AccountRecord small{.name = "physics", .bounds = {.runningUnits = 3}};
  h.change(master::AccountSet{{}, small});
  small.changedBy = theOperator().user;
  h.change(master::UserSet{{}, {.name = "alice", .account = "physics"}});
  runOnBoth();
  wait(3, gang());
  h.pass(11s);
  h.pass(11s);
  EXPECT_THAT(reserved(), IsEmpty()) << "two units are held, and two more are not allowed";
  AccountRecord large = small;
  large.bounds.runningUnits = 4;
  h.change(master::AccountSet{small, large});
  h.pass(11s);
  EXPECT_THAT(reserved(), ElementsAre(0, 1));
}

TEST_F(Reservation, ServersThatTheGangCannotUseAreNotReserved) {
  ServerFacts other = serverFacts("u", 1);
  other.attributes["zone"] = "b";
  attach("n", {other});
  runOnBoth();
  JobSpec there = gang();
  there.placement.constraints = {*parseConstraint("zone != b")};
  wait(3, there);
  h.pass(11s);
  end(1);
  EXPECT_THAT(reserved(), ElementsAre(0, 1));
}

TEST_F(Reservation, OnlyAsManyServersAreReservedAsItNeedsAndMoreWhenNothingMoreComesFree) {
  attach("n", {serverFacts("u", 1), serverFacts("v", 1), serverFacts("w", 1)});
  runOnBoth();
  for (int job = 5; job < 8; ++job) run(job, static_cast<ServerId>(job - 3), 0s);
  wait(3, gang());
  h.pass(11s);
  end(7);
  pass(jobId(3));
  EXPECT_THAT(reserved(), ElementsAre(0, 4))
      << "the one that is free, and the first of those that nothing is known of";
  const auto afterItsBound = [this]() {
    h.skip(10s);
    h.handle(master::SpaceMeasured{UINT64_MAX});
    return reserved();
  };
  EXPECT_THAT(afterItsBound(), SizeIs(2)) << "a unit came free on them meanwhile";
  EXPECT_THAT(afterItsBound(), SizeIs(4)) << "and none since";
  EXPECT_THAT(afterItsBound(), SizeIs(5)) << "all there are";
}

// With everything free it was not content: no capacity appears, and its agent waits for an offer.
TEST_F(Reservation, TheJobIsTriedAgainEachTimeThatItsBoundPasses) {
  runOnBoth();
  wait(3, gang());
  h.pass(11s);
  triedWhenEnds(1);
  EXPECT_THAT(triedWhenEnds(2), ElementsAre(free(3)));
  for (int bound = 0; bound < 3; ++bound) {
    EXPECT_THAT(offers(h.pass(11s)), Contains(free(3))) << bound;
    pass(jobId(3));
  }
}

TEST_F(Reservation, ItsOwnBoundComesBeforeTheMasters) {
  runOnBoth();
  JobSpec patient = gang();
  patient.maxWait = 1h;
  wait(3, patient);
  wait(4, spec());
  h.pass(11s);
  EXPECT_THAT(triedWhenEnds(1), ElementsAre(free(3), free(4)));
}

TEST_F(Reservation, JobsThatEndInTimePassIt) {
  run(1, 0, 0s);
  run(2, 1, 100s);
  wait(3, gang());
  wait(4, lasting(50s));
  wait(5, lasting(95s));
  h.pass(11s);  // the task of job 2 has 89 s left
  EXPECT_THAT(triedWhenEnds(1), ElementsAre(free(3), free(4), withoutReserved(5)));
}

TEST_F(Reservation, HigherPrioritiesPassIt) {
  runOnBoth();
  wait(3, gang());
  JobSpec urgent = spec();
  urgent.priority = 90;
  wait(4, urgent);
  h.pass(11s);
  EXPECT_THAT(triedWhenEnds(1), ElementsAre(free(4), free(3)));
}

TEST_F(Reservation, NewJobsHaveToWaitBehindIt) {
  runOnBoth();
  wait(3, gang());
  h.pass(11s);
  const auto told = only<PublishQueue>(end(1));
  pass(jobId(3));
  ASSERT_FALSE(told.empty());
  EXPECT_EQ(told.back().pendingPriority, 50);
  EXPECT_THAT(only<PublishQueue>(h.lastActions()), IsEmpty()) << "nor when it has been tried";
}

TEST_F(Reservation, IsOverWhenTheGangStarts) {
  runOnBoth();
  wait(3, gang());
  wait(4, spec());
  h.pass(11s);
  triedWhenEnds(1);
  triedWhenEnds(2);
  Commit commit = moreFor(3);
  commit.gang = true;
  commit.claims = {claim(0, 0), claim(1, 1)};
  h.commit(agent, commit);
  EXPECT_EQ(h.stateOf(3), RunState::kStarting);
  EXPECT_THAT(offers(h.lastActions()), ElementsAre(free(4)));
}

TEST_F(Reservation, IsOverWhenTheGangIsCancelled) {
  runOnBoth();
  wait(3, gang());
  wait(4, spec());
  h.pass(11s);
  triedWhenEnds(1);
  EXPECT_THAT(offers(h.cancel(3, user("alice"))), ElementsAre(free(4)));
}

// It is not a lack of units that keeps it from starting: the cluster must not become idle for it.
TEST_F(Reservation, IsOverWhereTheGangDoesNotStartThoughThereAreSlotsEnough) {
  attach("n", {serverFacts("u", 8)});
  run(1, 0, 0s);
  wait(3, gang());
  wait(4, spec());
  h.pass(11s);
  EXPECT_THAT(triedWhenEnds(1), Contains(free(4)));
  run(5, 0, 0s);
  EXPECT_THAT(triedWhenEnds(5), Contains(free(4))) << "and not again for a while";
}

TEST_F(Reservation, NothingIsReservedForAGangThatIsTooLargeForTheCluster) {
  runOnBoth();
  wait(3, gang(3));
  wait(4, spec());
  h.pass(11s);
  EXPECT_THAT(triedWhenEnds(1), ElementsAre(free(3), free(4)));
}

TEST_F(Reservation, NothingIsReservedForAGangThatIsTooLargeForTheMemoryOfServers) {
  ServerFacts facts = serverFacts("u", 2);
  facts.memoryBytes = 16 * kGiB;
  attach("n", {facts});
  run(1, 2, 0s);
  const auto reservedFor = [this](int number, uint64_t memory) {
    JobSpec wanted = gang();
    wanted.limits.memoryBytes = memory;
    wanted.placement.constraints = {*parseConstraint("server = u")};
    wait(number, wanted);
    h.pass(11s);
    h.handle(master::SpaceMeasured{UINT64_MAX});
    return reserved();
  };
  EXPECT_THAT(reservedFor(3, 12 * kGiB), IsEmpty()) << "u has two units, and memory for one of its tasks";
  h.cancel(3, user("alice"));
  EXPECT_THAT(reservedFor(4, 8 * kGiB), ElementsAre(2));
}

TEST_F(Reservation, IsOverWhenServersGoThatTheGangNeeds) {
  runOnBoth();
  wait(3, gang());
  wait(4, spec());
  h.pass(11s);
  EXPECT_THAT(triedWhenEnds(1), ElementsAre(free(3), withoutReserved(4)));
  h.steer("t", master::ServerChange::kCordon);
  h.skip(2s);
  EXPECT_THAT(triedWhenEnds(2), Contains(free(4)));
}

TEST_F(Reservation, ServersAreReservedForTasksOfSeveralUnits) {
  attach("n", {serverFacts("u", 2)});
  run(1, 2, 0s);
  run(2, 2, 0s);
  wait(3, spec(2, 2));
  wait(4, spec());
  h.pass(11s);
  EXPECT_THAT(triedWhenEnds(1), ElementsAre(free(3), withoutReserved(4)));
  EXPECT_THAT(reserved(), ElementsAre(2));
  end(2);
  Commit commit = moreFor(3);
  commit.claims = {claim(0, 2, 2)};
  h.commit(agent, commit);
  h.skip(1s);
  EXPECT_THAT(reserved(), IsEmpty()) << "one of its tasks runs";
}

TEST_F(Reservation, TwoGangsGetTheirSlotsOneAfterTheOther) {
  runOnBoth();
  wait(3, gang());
  wait(4, gang());
  h.pass(11s);
  EXPECT_THAT(triedWhenEnds(1), ElementsAre(free(3), withoutReserved(4)));
  EXPECT_THAT(offers(h.cancel(3, user("alice"))), ElementsAre(free(4)));
  pass(jobId(4));
  EXPECT_THAT(triedWhenEnds(2), ElementsAre(free(4)));
}

TEST_F(Reservation, NothingIsReservedWhileItsTasksWaitForTheirRestartDelay) {
  attach("n", {serverFacts("u", 1), serverFacts("v", 1)});
  JobSpec failing = gang();
  failing.restart.attempts = 5;
  failing.restart.backoff = 1h;
  Commit commit = newJob(3, failing);
  commit.claims = {claim(0, 0), claim(1, 1)};
  h.commit(agent, commit);
  std::vector<AllocationId> allocations = {h.task(3, 0).allocation, h.task(3, 1).allocation};
  for (const AllocationId allocation : allocations) h.started(monitors[0], allocation);
  for (const AllocationId allocation : allocations) h.ended(monitors[0], allocation, exitedWith(1));
  // The agent cannot place a task before the hour is over, and says so.
  for (int i = 0; i < 6; ++i) {
    h.pass(11s);
    h.handle(master::OffersDeclined{agent, {}, {jobId(3)}});
    h.handle(master::SpaceMeasured{UINT64_MAX});
  }
  EXPECT_THAT(reserved(), IsEmpty()) << "nobody could use a reservation for an hour";
}

TEST_F(Reservation, NothingIsPreemptedOnServersReservedForAnotherJob) {
  JobSpec victim = spec();
  victim.priority = 10;
  victim.preemptible = true;
  Commit commit = newJob(1, victim);
  commit.claims = {claim(0, 0)};
  held[1] = h.place(agent, commit);
  serverOf[1] = 0;
  h.started(monitors[0], held[1]);
  run(2, 1, 0s);
  JobSpec large = gang();
  large.priority = 80;
  wait(3, large);
  h.pass(11s);
  h.handle(master::SpaceMeasured{UINT64_MAX});
  ASSERT_THAT(reserved(), ElementsAre(0, 1));
  JobSpec middle = spec();
  middle.priority = 60;
  Commit submit = newJob(4, middle);  // submitted untried: a job of priority 80 is pending
  submit.newJob->record.submitted = h.now().wall;
  h.commit(agent, submit);
  ASSERT_THAT(offers(h.lastActions()), ElementsAre(withoutReserved(4)));
  EXPECT_THAT(only<master::StopTask>(pass(jobId(4))), IsEmpty()) << "it may not take what that would free";
}

TEST_F(Reservation, ServersWhoseTasksEndByATimeoutComeBeforeThoseOfWhichNothingIsKnown) {
  attach("n", {serverFacts("u", 1), serverFacts("v", 1)});
  runOnBoth();                     // servers 0 and 1: no timeout
  run(5, 2, 60s), run(6, 3, 60s);  // servers 2 and 3: a minute
  wait(3, gang());
  h.pass(11s);
  h.handle(master::SpaceMeasured{UINT64_MAX});
  EXPECT_THAT(reserved(), ElementsAre(2, 3));
}

TEST_F(Reservation, ARestartedTaskOfAGangIsTriedThoughAWholeGangOfItsClassFoundNoSlots) {
  const SessionId other = h.attachAgent("y");
  JobSpec restarting = gang();
  restarting.restart.attempts = 5;
  restarting.restart.backoff = 0s;
  Commit commit = newJob(3, restarting);
  commit.claims = {claim(0, 0), claim(1, 1)};
  h.commit(agent, commit);
  const AllocationId allocation = h.task(3, 0).allocation;
  h.started(monitors[0], allocation);
  Commit whole = newJob(4, restarting);
  whole.newJob->record.user = "bob";
  whole.explanation.wanted = 2;
  h.commit(other, whole);
  ASSERT_THAT(offers(h.ended(monitors[0], allocation, exitedWith(1))), ElementsAre(free(4)));
  EXPECT_THAT(offers(h.handle(master::OffersDeclined{other, {jobId(4)}})), ElementsAre(free(3)))
      << "one unit is free, and one is all that it wants";
}

TEST_F(Reservation, AJobThatWaitsForNoQualityIsNotGivenAllServersWithinAFewEvents) {
  attach("n", {serverFacts("u", 1), serverFacts("v", 1), serverFacts("w", 1), serverFacts("z", 1)});
  runOnBoth();
  for (int job = 5; job < 9; ++job) run(job, static_cast<ServerId>(job - 3), 0s);
  JobSpec hasty = gang();
  hasty.maxWait = 0s;
  wait(3, hasty);
  for (int i = 0; i < 4; ++i) h.handle(master::SpaceMeasured{UINT64_MAX});
  EXPECT_THAT(reserved(), testing::SizeIs(testing::Le(2))) << "no time has passed";
}

TEST_F(Reservation, IsOverForAJobThatWaitsForNoQualityToo) {
  attach("n", {serverFacts("u", 8)});
  run(1, 0, 0s);
  JobSpec hasty = gang();
  hasty.maxWait = 0s;
  wait(3, hasty);
  wait(4, spec());
  h.pass(11s);
  // Their offers, when its bound had passed.
  for (int offer = 0; offer < 4; ++offer) pass(jobId(3)), pass(jobId(4));
  EXPECT_THAT(triedWhenEnds(1), Contains(free(4)));
}

}  // namespace tarcil::reservation_test
