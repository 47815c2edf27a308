// Crons: what users do to them, and the jobs that are made at their times.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "core/base/units.h"
#include "master/logic/cron/cron_jobs.h"
#include "tests/master/master_harness.h"

namespace tarcil::cron_jobs_test {

using namespace master;
using namespace std::chrono_literals;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

Caller alice() {
  return {"alice", Role::kSubmit, {"build"}};
}

CronSpec everyTenMinutes(const std::string& name = "sync", IfRunning ifRunning = IfRunning::kSkip) {
  CronSpec cron{.id = {},
                .name = name,
                .schedule = "*/10 * * * *",
                .zone = "UTC",
                .ifRunning = ifRunning,
                .deadline = 5min,
                .job = spec()};
  cron.id.bytes[0] = 0xc0;
  cron.id.bytes[1] = static_cast<uint8_t>(name.size());
  cron.id.bytes[2] = static_cast<uint8_t>(name.back());
  return cron;
}

// The harness begins at a full hour: times are in minutes from there.
WallTime at(int minute) {
  return kHarnessBegins + std::chrono::minutes(minute);
}

struct Crons : testing::Test {
  MasterHarness master;
  SessionId monitor = master.attachMonitor("m", {serverFacts("a", 8)});
  SessionId agent = master.attachAgent("x");

  Status answerOf(std::vector<Action> actions) {
    lastActions = std::move(actions);
    const auto answers = only<Answer>(lastActions);
    return answers.empty() ? Status(Error{ErrorCode::kInternal, "no answer"}) : answers.front().status;
  }
  Status add(const CronSpec& cron, const Caller& caller = alice()) {
    return answerOf(master.handle(CronAdded{1, caller, cron}));
  }
  Status replace(const CronSpec& cron) {
    return answerOf(master.handle(CronAdded{1, alice(), cron, /*replaces=*/true}));
  }
  Status steer(CronChange change, const Caller& caller = alice(), int job = 0,
               const std::string& name = "sync") {
    return answerOf(master.handle(CronSteered{1, caller, "alice", name, change, jobId(job)}));
  }
  std::string refusal(const Status& status) { return status ? "" : status.error().message; }

  CronView view(const std::string& name = "sync") { return *master.logic().cron({"alice", name}, 5); }
  std::vector<CronRun> runs(const std::string& name = "sync") { return view(name).cron.runs; }
  std::vector<std::string> reasons() {
    std::vector<std::string> all;
    for (const CronRun& run : runs()) all.push_back(run.reason);
    return all;
  }
  // Of all jobs of the user, the newest last.
  std::vector<JobDetails> jobs() {
    std::vector<JobDetails> all;
    for (const JobSummary& job : master.logic().jobs(alice(), {}).jobs)
      all.insert(all.begin(), *master.logic().job(job.id));
    return all;
  }
  void passUntil(int minute) { master.pass(at(minute) - master.now().wall); }
  AllocationId start(const JobId& id) {
    Commit commit;
    commit.job = id;
    commit.claims = {claim(0, 0)};
    const AllocationId allocation = master.place(agent, commit);
    master.started(monitor, allocation);
    return allocation;
  }
  void end(AllocationId allocation, int code = 0) { master.ended(monitor, allocation, exitedWith(code)); }
  void restart() {
    master.restart();
    monitor = master.attachMonitor("m", {serverFacts("a", 8)});
    agent = master.attachAgent("x");
  }

  std::vector<Action> lastActions;
};

TEST_F(Crons, OneThatIsReplacedKeepsItsJobs) {
  ASSERT_TRUE(add(everyTenMinutes()));
  passUntil(10);
  const AllocationId running = start(jobs()[0].record.id);
  CronSpec hourly = everyTenMinutes();
  hourly.id.bytes[0] = 0xc1;
  hourly.schedule = "0 * * * *";
  EXPECT_THAT(refusal(add(hourly)), HasSubstr("tarcil cron add --replace"));
  ASSERT_TRUE(replace(hourly));
  EXPECT_THAT(view().next, ElementsAre(at(60), at(120), at(180), at(240), at(300)));
  passUntil(60);
  EXPECT_THAT(jobs(), SizeIs(1)) << "skipped: the job of the former schedule runs";
  EXPECT_THAT(runs().back().reason, HasSubstr("had not ended"));
  end(running);
  restart();
  passUntil(120);
  EXPECT_THAT(jobs(), SizeIs(2));
}

TEST_F(Crons, OneThatIsHeldStaysSoWhenItIsReplaced) {
  ASSERT_TRUE(add(everyTenMinutes()));
  ASSERT_TRUE(steer(CronChange::kHold));
  CronSpec other = everyTenMinutes();
  other.id.bytes[0] = 0xc1;
  ASSERT_TRUE(replace(other));
  passUntil(30);
  EXPECT_THAT(jobs(), IsEmpty());
  EXPECT_TRUE(view().cron.isHeld);
}

TEST_F(Crons, AJobIsMadeWhenItsTimeComes) {
  ASSERT_TRUE(add(everyTenMinutes()));
  EXPECT_THAT(view().next, ElementsAre(at(10), at(20), at(30), at(40), at(50)));
  passUntil(9);
  EXPECT_THAT(jobs(), IsEmpty());
  passUntil(10);
  ASSERT_THAT(jobs(), SizeIs(1));
  const JobRecord job = jobs()[0].record;
  EXPECT_EQ(job.id, jobIdOf(everyTenMinutes().id, at(10)));
  EXPECT_EQ(job.number, 1u);
  EXPECT_EQ(job.user, "alice");
  EXPECT_EQ(job.runAs, "build");
  EXPECT_EQ(job.submitted, at(10));
  EXPECT_EQ(job.cron, "sync");
  EXPECT_EQ(job.planned, at(10));
  EXPECT_EQ(job.spec, spec());
  ASSERT_THAT(runs(), SizeIs(1));
  EXPECT_EQ(runs()[0].planned, at(10));
  EXPECT_EQ(runs()[0].number, 1u);
  EXPECT_EQ(view().next.front(), at(20));
}

TEST_F(Crons, TheJobIsGivenToAnAgentAsAWhole) {
  ASSERT_TRUE(add(everyTenMinutes()));
  const auto told = only<AssignJob>(master.pass(10min));
  ASSERT_THAT(told, SizeIs(1));
  EXPECT_EQ(told[0].session, agent);
  EXPECT_TRUE(told[0].assignment.complete);
  EXPECT_THAT(told[0].assignment.waiting, ElementsAre(TaskRange{0, 0}));
  end(start(jobs()[0].record.id));
  EXPECT_EQ(jobs()[0].progress.state, RunState::kDone);
  EXPECT_EQ(view().cron.lastJob->state, RunState::kDone);
  EXPECT_EQ(runs()[0].state, RunState::kDone);
}

TEST_F(Crons, NoTimeHasTwoJobsWhateverKillsTheMaster) {
  ASSERT_TRUE(add(everyTenMinutes()));
  passUntil(9);
  master.skip(1min);
  master.dieBeforeStoring(TimerFired{});
  EXPECT_THAT(jobs(), IsEmpty());
  monitor = master.attachMonitor("m", {serverFacts("a", 8)});
  agent = master.attachAgent("x");
  master.pass(kCronRetryInterval);
  ASSERT_THAT(jobs(), SizeIs(1));
  end(start(jobs()[0].record.id));
  master.skip(10min);
  master.dieBeforeAnswering(TimerFired{});
  ASSERT_THAT(jobs(), SizeIs(2));
  restart();
  master.pass(1min);
  EXPECT_THAT(jobs(), SizeIs(2));
  EXPECT_THAT(runs(), SizeIs(2));
}

TEST_F(Crons, AClockThatIsPutBackRunsNoTimeTwice) {
  ASSERT_TRUE(add(everyTenMinutes()));
  passUntil(10);
  end(start(jobs()[0].record.id));
  master.setWallClock(at(5));
  master.pass(10min);
  EXPECT_THAT(jobs(), SizeIs(1));
  EXPECT_EQ(view().next.front(), at(20));
  passUntil(20);
  EXPECT_THAT(jobs(), SizeIs(2));
}

TEST_F(Crons, OfTimesThatWereMissedTheLatestIsMadeUpForBeforeItsDeadline) {
  ASSERT_TRUE(add(everyTenMinutes()));
  master.skip(34min);
  restart();
  master.pass(0s);
  ASSERT_THAT(jobs(), SizeIs(1));
  EXPECT_EQ(jobs()[0].record.planned, at(30));
  ASSERT_THAT(runs(), SizeIs(2));
  EXPECT_EQ(runs()[0].planned, at(10));
  EXPECT_EQ(runs()[0].before, at(30));
  EXPECT_THAT(runs()[0].reason, StartsWith("missed"));
}

TEST_F(Crons, OfTimesThatWereMissedNoneIsMadeUpForBehindItsDeadline) {
  ASSERT_TRUE(add(everyTenMinutes()));
  master.skip(36min);
  master.fireTimer();
  EXPECT_THAT(jobs(), IsEmpty());
  ASSERT_THAT(runs(), SizeIs(1));
  EXPECT_EQ(runs()[0].planned, at(10));
  EXPECT_GT(runs()[0].before, at(30));
  EXPECT_EQ(view().next.front(), at(40));
}

TEST_F(Crons, WithoutAnAgentItIsTriedAgainUntilTheDeadline) {
  ASSERT_TRUE(add(everyTenMinutes()));
  master.detach(agent);
  passUntil(12);
  EXPECT_THAT(jobs(), IsEmpty());
  EXPECT_EQ(view().cron.pending, at(10));
  EXPECT_THAT(view().cron.problem, HasSubstr("no agent is attached"));
  agent = master.attachAgent("x");
  master.pass(kCronRetryInterval);
  ASSERT_THAT(jobs(), SizeIs(1));
  EXPECT_EQ(jobs()[0].record.planned, at(10));
  EXPECT_EQ(view().cron.pending, kNever);
  end(start(jobs()[0].record.id));
  master.detach(agent);
  passUntil(27);
  EXPECT_EQ(view().cron.pending, kNever);
  EXPECT_THAT(reasons(), ElementsAre("", HasSubstr("no agent is attached")));
}

TEST_F(Crons, ATimeThatIsStillTriedGivesWayToTheNext) {
  CronSpec cron = everyTenMinutes();
  cron.deadline = 1h;
  ASSERT_TRUE(add(cron));
  master.detach(agent);
  passUntil(20);
  EXPECT_EQ(view().cron.pending, at(20));
  EXPECT_THAT(reasons(),
              ElementsAre(AllOf(HasSubstr("no agent is attached"), HasSubstr("the next time came"))));
}

TEST_F(Crons, WhileTheLastJobRunsTheTimeIsSkipped) {
  ASSERT_TRUE(add(everyTenMinutes()));
  passUntil(10);
  const AllocationId running = start(jobs()[0].record.id);
  passUntil(20);
  EXPECT_THAT(jobs(), SizeIs(1));
  EXPECT_THAT(reasons(), ElementsAre("", "job 1 had not ended"));
  end(running);
  passUntil(30);
  EXPECT_THAT(jobs(), SizeIs(2));
}

TEST_F(Crons, AJobThatIsRunAgainCountsAsTheLast) {
  ASSERT_TRUE(add(everyTenMinutes()));
  passUntil(10);
  end(start(jobs()[0].record.id), 1);
  master.handle(JobSteered{1, alice(), jobs()[0].record.id, JobChange::kRerun, 0});
  passUntil(20);
  EXPECT_THAT(jobs(), SizeIs(1));
  EXPECT_THAT(reasons(), ElementsAre("", "job 1 had not ended"));
}

TEST_F(Crons, OneTimeMayWaitForTheEndOfTheLastJob) {
  ASSERT_TRUE(add(everyTenMinutes("sync", IfRunning::kWait)));
  passUntil(10);
  const AllocationId running = start(jobs()[0].record.id);
  passUntil(31);
  EXPECT_THAT(jobs(), SizeIs(1));
  EXPECT_EQ(view().cron.pending, at(20));
  EXPECT_EQ(view().cron.problem, "waits for the end of job 1");
  EXPECT_THAT(reasons(), ElementsAre("", "an earlier time still waited for the end of job 1"));
  master.restart();
  monitor = master.attachMonitor("m", {serverFacts("a", 8)}, {KnownTask{running, "a"}});
  agent = master.attachAgent("x");
  end(running);
  master.pass(0s);
  ASSERT_THAT(jobs(), SizeIs(2)) << "though its own time is long past";
  EXPECT_EQ(jobs()[1].record.planned, at(20));
}

TEST_F(Crons, JobsMayRunBesideEachOther) {
  ASSERT_TRUE(add(everyTenMinutes("sync", IfRunning::kStart)));
  passUntil(10);
  start(jobs()[0].record.id);
  passUntil(20);
  EXPECT_THAT(jobs(), SizeIs(2));
}

TEST_F(Crons, TheNextTimeMayReplaceTheLastJob) {
  ASSERT_TRUE(add(everyTenMinutes("sync", IfRunning::kReplace)));
  passUntil(10);
  const AllocationId running = start(jobs()[0].record.id);
  const auto stops = only<StopTask>(master.pass(10min));
  ASSERT_THAT(stops, SizeIs(1));
  EXPECT_EQ(stops[0].allocation, running);
  EXPECT_THAT(jobs(), SizeIs(1)) << "it has not ended";
  end(running, 143);
  master.pass(0s);
  ASSERT_THAT(jobs(), SizeIs(2));
  EXPECT_EQ(jobs()[0].progress.state, RunState::kCancelled);
  EXPECT_EQ(jobs()[0].progress.reason, "replaced by the next job of cron sync");
  // One that has not started yet is gone at once.
  passUntil(30);
  ASSERT_THAT(jobs(), SizeIs(3));
  EXPECT_EQ(jobs()[1].progress.state, RunState::kCancelled);
}

TEST_F(Crons, AHeldOneMakesNoJobsAndItsTimesPass) {
  ASSERT_TRUE(add(everyTenMinutes()));
  ASSERT_TRUE(steer(CronChange::kHold));
  EXPECT_THAT(view().next, IsEmpty());
  passUntil(15);
  restart();
  passUntil(25);
  EXPECT_THAT(jobs(), IsEmpty());
  ASSERT_TRUE(steer(CronChange::kRelease));
  EXPECT_EQ(view().next.front(), at(30));
  passUntil(29);
  EXPECT_THAT(jobs(), IsEmpty());
  passUntil(30);
  EXPECT_THAT(jobs(), SizeIs(1));
  EXPECT_THAT(runs(), SizeIs(1));
}

TEST_F(Crons, HoldingEndsATimeThatIsStillTried) {
  ASSERT_TRUE(add(everyTenMinutes()));
  master.detach(agent);
  passUntil(11);
  ASSERT_TRUE(steer(CronChange::kHold));
  EXPECT_THAT(reasons(), ElementsAre("the cron was held by alice"));
  agent = master.attachAgent("x");
  master.pass(1min);
  EXPECT_THAT(jobs(), IsEmpty());
}

TEST_F(Crons, ARemovedOneIsGoneAndItsJobsStay) {
  ASSERT_TRUE(add(everyTenMinutes()));
  passUntil(10);
  ASSERT_TRUE(steer(CronChange::kRemove));
  EXPECT_EQ(master.logic().cron({"alice", "sync"}, 5), std::nullopt);
  EXPECT_THAT(master.store().load()->crons, IsEmpty());
  EXPECT_THAT(refusal(steer(CronChange::kRemove)), HasSubstr("has no cron 'sync'"));
  end(start(jobs()[0].record.id));
  passUntil(40);
  EXPECT_THAT(jobs(), SizeIs(1));
  EXPECT_TRUE(add(everyTenMinutes())) << "its name and id can be had again";
}

TEST_F(Crons, OneMayBeRunByHand) {
  ASSERT_TRUE(add(everyTenMinutes()));
  passUntil(3);
  ASSERT_TRUE(steer(CronChange::kRun, alice(), 77));
  ASSERT_TRUE(steer(CronChange::kRun, alice(), 77)) << "a repeat";
  ASSERT_THAT(jobs(), SizeIs(1));
  EXPECT_EQ(jobs()[0].record.id, jobId(77));
  EXPECT_EQ(jobs()[0].record.cron, "sync");
  EXPECT_EQ(jobs()[0].record.planned, kNever);
  EXPECT_TRUE(runs()[0].isByHand);
  EXPECT_THAT(refusal(steer(CronChange::kRun, alice(), 78)), HasSubstr("its job 1 has not ended"));
  end(start(jobId(77)));
  EXPECT_THAT(refusal(steer(CronChange::kRun, alice(), 78)), HasSubstr("less than a minute ago"));
  master.pass(1min);
  ASSERT_TRUE(steer(CronChange::kRun, alice(), 78));
  end(start(jobId(78)));
  passUntil(10);
  EXPECT_THAT(jobs(), SizeIs(3)) << "its times come all the same";
}

TEST_F(Crons, OneIsNotRunByHandWhileItIsHeldOrNoAgentIsThere) {
  ASSERT_TRUE(add(everyTenMinutes()));
  master.detach(agent);
  EXPECT_EQ(steer(CronChange::kRun, alice(), 77).error().code, ErrorCode::kUnavailable);
  ASSERT_TRUE(steer(CronChange::kHold));
  EXPECT_THAT(refusal(steer(CronChange::kRun, alice(), 77)), HasSubstr("is held; release it first"));
  EXPECT_THAT(runs(), IsEmpty());
}

TEST_F(Crons, OnlyItsUserAndOperatorsMayChangeOne) {
  ASSERT_TRUE(add(everyTenMinutes()));
  const Caller bob{"bob", Role::kSubmit, {"build"}};
  for (const CronChange change :
       {CronChange::kHold, CronChange::kRelease, CronChange::kRun, CronChange::kRemove}) {
    EXPECT_EQ(steer(change, bob, 77).error().code, ErrorCode::kNotFound);
  }
  EXPECT_THAT(master.logic().crons(bob, {}, 10), IsEmpty());
  EXPECT_THAT(master.logic().crons(alice(), {}, 10), SizeIs(1));
  EXPECT_TRUE(steer(CronChange::kHold, theOperator()));
  EXPECT_TRUE(view().cron.isHeld);
}

TEST_F(Crons, ARepeatedCallFindsTheFirst) {
  ASSERT_TRUE(add(everyTenMinutes()));
  EXPECT_TRUE(add(everyTenMinutes()));
  CronSpec another = everyTenMinutes();
  another.id.bytes[15] = 1;
  EXPECT_THAT(refusal(add(another)), HasSubstr("has a cron 'sync' already"));
  CronSpec sameId = everyTenMinutes();
  sameId.name = "another";
  EXPECT_THAT(refusal(add(sameId)), HasSubstr("another cron has this id"));
  EXPECT_THAT(refusal(add(sameId, {"bob", Role::kSubmit, {"build"}})), HasSubstr("another cron has this id"));
}

TEST_F(Crons, WhatCannotBeMadeAgainAndAgainIsRefusedWithItsField) {
  const auto refused = [this](const std::function<void(CronSpec&)>& change) {
    CronSpec cron = everyTenMinutes();
    change(cron);
    const Status status = add(cron);
    EXPECT_TRUE(!status.ok() && status.error().code == ErrorCode::kInvalid);
    return refusal(status);
  };
  EXPECT_THAT(refused([](CronSpec& c) { c.name = "a b"; }), StartsWith("name"));
  EXPECT_THAT(refused([](CronSpec& c) { c.schedule = "0 0 31 2 *"; }), StartsWith("schedule: day of month"));
  EXPECT_THAT(refused([](CronSpec& c) { c.schedule = std::string(300, ' '); }),
              StartsWith("schedule: has 300"));
  EXPECT_THAT(refused([](CronSpec& c) { c.zone = "Mars"; }), StartsWith("zone: "));
  EXPECT_THAT(refused([](CronSpec& c) { c.deadline = 1s; }), StartsWith("deadline: "));
  EXPECT_THAT(refused([](CronSpec& c) { c.job.startAfter = at(1); }), StartsWith("start_after: "));
  EXPECT_THAT(refused([](CronSpec& c) { c.job.after.any = {jobId(1)}; }), StartsWith("after: "));
  EXPECT_THAT(refused([](CronSpec& c) { c.job.policy = Policy::kLateBinding; }), StartsWith("policy: "));
  EXPECT_THAT(refused([](CronSpec& c) { c.job.hold = true; }), StartsWith("hold: "));
  EXPECT_THAT(refused([](CronSpec& c) { c.job.measures = "x"; }), StartsWith("measures: "));
  EXPECT_THAT(refused([](CronSpec& c) {
                c.job.command = {"true", std::string(70'000, 'x')};
              }),
              StartsWith("job: it takes"));
  EXPECT_THAT(refused([](CronSpec& c) { c.job.tasks = 0; }), StartsWith("tasks"));
  CronSpec asRoot = everyTenMinutes();
  asRoot.job.user = "root";
  EXPECT_EQ(add(asRoot).error().code, ErrorCode::kDenied);
  EXPECT_THAT(master.store().load()->crons, IsEmpty());
}

TEST_F(Crons, ThereAreOnlySoManyOfOneUser) {
  CronSpec cron = everyTenMinutes();
  for (size_t i = 0; i < kMaxCronsOfUser; ++i) {
    cron.name = "c" + std::to_string(i);
    cron.id.bytes[14] = static_cast<uint8_t>(i);
    ASSERT_TRUE(add(cron));
  }
  cron.name = "more";
  cron.id.bytes[14] = 0xff;
  EXPECT_EQ(add(cron).error().code, ErrorCode::kExhausted);
  EXPECT_TRUE(add(cron, {"bob", Role::kSubmit, {"build"}}));
}

TEST_F(Crons, ThoseOfOneTimeAreMadeInTurns) {
  CronSpec cron = everyTenMinutes();
  for (int user = 0; user < 3; ++user) {
    for (uint8_t i = 0; i < 90; ++i) {
      cron.name = "c" + std::to_string(i);
      cron.id.bytes[13] = static_cast<uint8_t>(user);
      cron.id.bytes[14] = i;
      ASSERT_TRUE(add(cron, {"user" + std::to_string(user), Role::kSubmit, {"build"}}));
    }
  }
  master.skip(10min);
  EXPECT_THAT(only<AssignJob>(master.fireTimer()), SizeIs(100));
  EXPECT_THAT(only<AssignJob>(master.pass(0s)), SizeIs(170));
}

TEST_F(Crons, OnlyTheLastTimesAreKept) {
  ASSERT_TRUE(add(everyTenMinutes()));
  passUntil(10);
  start(jobs()[0].record.id);
  passUntil(150);
  EXPECT_THAT(runs(), SizeIs(kMaxCronRuns));
  EXPECT_EQ(runs().back().planned, at(150));
  EXPECT_EQ(view().cron.lastJob->number, 1u);
  EXPECT_THAT(jobs(), SizeIs(1)) << "its job still runs, though its time is not among them";
}

TEST_F(Crons, AgentsMakeNoJobsOfCrons) {
  Commit commit = newJob(1, spec());
  commit.newJob->record.cron = "sync";
  commit.newJob->record.planned = at(10);
  master.commit(agent, commit);
  EXPECT_EQ(master.job(1).record.cron, "");
  EXPECT_EQ(master.job(1).record.planned, kNever);
}

// Whoever knows the id of a job can choose a cron's so that it is that of the cron's next job.
struct TakenCronIds : Crons {
  JobId nextId(uint32_t choice) { return jobIdOf(everyTenMinutes().id, at(10), choice); }
  // Of another user; it runs.
  void startAnothers(const JobId& id) {
    Commit commit = newJob(1, spec());
    commit.job = commit.newJob->record.id = id;
    commit.newJob->record.user = "bob";
    commit.claims = {claim(0, 0)};
    master.started(monitor, master.place(agent, commit));
  }
  JobDetails job(const JobId& id) { return *master.logic().job(id); }
};

TEST_F(TakenCronIds, AnothersJobIsNotTakenForTheCrons) {
  startAnothers(nextId(0));
  ASSERT_TRUE(add(everyTenMinutes("sync", IfRunning::kReplace)));
  passUntil(20);
  EXPECT_FALSE(job(nextId(0)).progress.cancelRequested);
  EXPECT_EQ(job(nextId(0)).progress.state, RunState::kRunning);
  ASSERT_THAT(jobs(), SizeIs(2)) << "the cron's own";
  EXPECT_EQ(jobs()[0].record.id, nextId(1));
  EXPECT_EQ(jobs()[0].record.planned, at(10));
  EXPECT_EQ(jobs()[0].progress.reason, "replaced by the next job of cron sync");
}

TEST_F(TakenCronIds, ATimeHasOneJobWhicheverIdItHas) {
  startAnothers(nextId(0));
  ASSERT_TRUE(add(everyTenMinutes()));
  passUntil(9);
  master.skip(1min);
  master.dieBeforeAnswering(TimerFired{});
  restart();
  master.pass(1min);
  ASSERT_THAT(jobs(), SizeIs(1));
  EXPECT_EQ(jobs()[0].record.id, nextId(1));
}

TEST_F(TakenCronIds, ATimeWhoseIdsAreAllTakenHasNoJob) {
  for (uint32_t choice = 0; choice < kMaxCronJobIds; ++choice) startAnothers(nextId(choice));
  ASSERT_TRUE(add(everyTenMinutes()));
  passUntil(10);
  EXPECT_THAT(jobs(), IsEmpty());
  EXPECT_THAT(reasons(), ElementsAre("other jobs have the ids that its job could have"));
  passUntil(20);
  EXPECT_THAT(jobs(), SizeIs(1)) << "the next time has its own ids";
}

TEST_F(TakenCronIds, AJobThatTookTheIdOfAFormerOneIsLeftAlone) {
  ASSERT_TRUE(add(everyTenMinutes("sync", IfRunning::kReplace)));
  CronRun former{.planned = at(0), .job = jobId(5), .number = 900, .state = RunState::kDone};
  Cron stored = view().cron;
  stored.lastJob = former;
  stored.runs = {former};
  ASSERT_TRUE(master.store().write(std::vector<Mutation>{Put{stored}}));
  restart();
  startAnothers(jobId(5));
  passUntil(10);
  EXPECT_FALSE(job(jobId(5)).progress.cancelRequested);
  EXPECT_THAT(jobs(), SizeIs(1));
  EXPECT_EQ(view().cron.runs.front().state, RunState::kDone) << "nothing is shown of it";
}

TEST(BusyCrons, WaitUntilTheirUserMayHaveAnotherJob) {
  MasterHarness master({.maxUnfinishedOfUser = 1});
  const SessionId monitor = master.attachMonitor("m", {serverFacts("a", 8)});
  const SessionId agent = master.attachAgent("x");
  master.handle(CronAdded{1, alice(), everyTenMinutes()});
  Commit other = newJob(1, spec());
  other.claims = {claim(0, 0)};
  const AllocationId allocation = master.place(agent, other);
  master.started(monitor, allocation);
  master.pass(10min);
  const auto view = master.logic().cron({"alice", "sync"}, 1);
  EXPECT_EQ(view->cron.pending, at(10));
  EXPECT_THAT(view->cron.problem, HasSubstr("unfinished jobs, as many as one user may"));
  master.ended(monitor, allocation, exitedWith(0));
  master.pass(kCronRetryInterval);
  EXPECT_EQ(master.logic().cron({"alice", "sync"}, 1)->cron.pending, kNever);
  EXPECT_EQ(master.logic().load().jobs[static_cast<size_t>(RunState::kQueued)], 1u);
}

TEST(CronIds, AreOfTheCronAndTheTime) {
  std::set<JobId> ids;
  JobId cron;
  for (uint8_t i = 0; i < 10; ++i) {
    cron.bytes[i] = static_cast<uint8_t>(i + 1);
    for (int minute = 0; minute < 100; ++minute) {
      const JobId id = jobIdOf(cron, at(minute));
      EXPECT_EQ(jobIdOf(cron, at(minute)), id);
      ids.insert(id);
    }
  }
  EXPECT_THAT(ids, SizeIs(1000));
}

}  // namespace tarcil::cron_jobs_test
