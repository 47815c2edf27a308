#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/master/master_harness.h"

namespace tarcil {
namespace {

using namespace std::chrono_literals;
using master::GiveTurns;
using master::PublishQueue;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

std::vector<JobId> turns(const std::vector<master::Action>& actions) {
  std::vector<JobId> jobs;
  for (const GiveTurns& action : only<GiveTurns>(actions)) {
    for (const master::QueueTurn& turn : action.jobs) jobs.push_back(turn.job);
  }
  return jobs;
}

// Two servers of one unit, each with a task; patience of ten seconds.
struct Reservation : testing::Test {
  Reservation() : h(MasterOptions{.gangPatience = 10s}) {
    agent = h.attachAgent("x");
    monitor = h.attachMonitor("m", {serverFacts("s", 1), serverFacts("t", 1)});
  }

  void run(int number, ServerId server, Duration timeout) {
    JobSpec running = spec();
    running.timeout = timeout;
    running.grace = 0s;
    Commit commit = newJob(number, running);
    commit.claims = {claim(0, server)};
    held[number] = h.place(agent, commit);
    h.started(monitor, held[number]);
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
  std::vector<master::Action> end(int number) { return h.ended(monitor, held[number], exitedWith(0)); }
  std::vector<master::Action> pass(const JobId& job) { return h.handle(master::TurnsPassed{agent, {job}}); }
  // Who is tried, one after the other, when the task of this job ends.
  std::vector<JobId> triedWhenEnds(int number) {
    std::vector<JobId> all;
    auto next = turns(end(number));
    while (!next.empty()) {
      all.insert(all.end(), next.begin(), next.end());
      std::vector<JobId> following;
      for (const JobId& job : next) {
        for (const JobId& more : turns(pass(job))) following.push_back(more);
      }
      next = std::move(following);
    }
    return all;
  }

  MasterHarness h;
  SessionId agent, monitor;
  std::map<int, AllocationId> held;
};

TEST_F(Reservation, SmallJobsGoAheadOfAGangThatHasNotWaitedForLong) {
  run(1, 0, 0s);
  run(2, 1, 0s);
  wait(3, gang());
  wait(4, spec());
  EXPECT_THAT(triedWhenEnds(1), ElementsAre(jobId(3), jobId(4)));
}

TEST_F(Reservation, RoomIsKeptForAGangPastItsBound) {
  run(1, 0, 0s);
  run(2, 1, 0s);
  wait(3, gang());
  wait(4, spec());
  h.pass(11s);
  EXPECT_THAT(triedWhenEnds(1), ElementsAre(jobId(3)));
}

TEST_F(Reservation, ItsOwnBoundComesBeforeTheMasters) {
  run(1, 0, 0s);
  run(2, 1, 0s);
  JobSpec patient = gang();
  patient.maxWait = 1h;
  wait(3, patient);
  wait(4, spec());
  h.pass(11s);
  EXPECT_THAT(triedWhenEnds(1), ElementsAre(jobId(3), jobId(4)));
}

TEST_F(Reservation, JobsThatEndInTimePassIt) {
  run(1, 0, 0s);
  run(2, 1, 100s);
  wait(3, gang());
  wait(4, lasting(50s));
  wait(5, lasting(95s));
  h.pass(11s);  // the task of job 2 has 89 s left
  EXPECT_THAT(triedWhenEnds(1), ElementsAre(jobId(3), jobId(4)));
}

TEST_F(Reservation, HigherPrioritiesPassIt) {
  run(1, 0, 0s);
  run(2, 1, 0s);
  wait(3, gang());
  JobSpec urgent = spec();
  urgent.priority = 90;
  wait(4, urgent);
  h.pass(11s);
  EXPECT_THAT(triedWhenEnds(1), ElementsAre(jobId(4), jobId(3)));
}

TEST_F(Reservation, NewJobsHaveToWaitBehindIt) {
  run(1, 0, 0s);
  run(2, 1, 0s);
  wait(3, gang());
  h.pass(11s);
  const auto told = only<PublishQueue>(end(1));
  pass(jobId(3));
  ASSERT_FALSE(told.empty());
  EXPECT_EQ(told.back().pendingPriority, 50);
  EXPECT_THAT(only<PublishQueue>(h.lastActions()), IsEmpty()) << "nor when it has been tried";
}

TEST_F(Reservation, IsOverWhenTheGangStarts) {
  run(1, 0, 0s);
  run(2, 1, 0s);
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
  EXPECT_THAT(turns(h.lastActions()), ElementsAre(jobId(4)));
}

TEST_F(Reservation, IsOverWhenTheGangIsCancelled) {
  run(1, 0, 0s);
  run(2, 1, 0s);
  wait(3, gang());
  wait(4, spec());
  h.pass(11s);
  triedWhenEnds(1);
  EXPECT_THAT(turns(h.cancel(3, user("alice"))), ElementsAre(jobId(4)));
}

// Something else than room keeps it from starting: the cluster must not come to rest for it.
TEST_F(Reservation, IsOverWhereTheGangDoesNotStartThoughThereIsRoomEnough) {
  h.attachMonitor("n", {serverFacts("u", 8)});
  run(1, 0, 0s);
  wait(3, gang());
  wait(4, spec());
  h.pass(11s);
  EXPECT_THAT(triedWhenEnds(1), Contains(jobId(4)));
  run(5, 0, 0s);
  EXPECT_THAT(triedWhenEnds(5), Contains(jobId(4))) << "and not again for a while";
}

TEST_F(Reservation, NoRoomIsKeptForAGangThatIsTooLargeForTheServersThatThereAre) {
  run(1, 0, 0s);
  run(2, 1, 0s);
  wait(3, gang(3));
  wait(4, spec());
  h.pass(11s);
  EXPECT_THAT(triedWhenEnds(1), ElementsAre(jobId(3), jobId(4)));
}

TEST_F(Reservation, IsOverWhenServersGoThatTheGangNeeds) {
  run(1, 0, 0s);
  run(2, 1, 0s);
  wait(3, gang());
  wait(4, spec());
  h.pass(11s);
  EXPECT_THAT(triedWhenEnds(1), ElementsAre(jobId(3)));
  h.steer("t", master::ServerChange::kCordon);
  h.skip(2s);
  EXPECT_THAT(triedWhenEnds(2), Contains(jobId(4)));
}

TEST_F(Reservation, TwoGangsGetRoomOneAfterTheOther) {
  run(1, 0, 0s);
  run(2, 1, 0s);
  wait(3, gang());
  wait(4, gang());
  h.pass(11s);
  EXPECT_THAT(triedWhenEnds(1), ElementsAre(jobId(3)));
  EXPECT_THAT(turns(h.cancel(3, user("alice"))), ElementsAre(jobId(4)));
  pass(jobId(4));
  EXPECT_THAT(triedWhenEnds(2), ElementsAre(jobId(4)));
}

}  // namespace
}  // namespace tarcil
