#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "core/state/reason.h"
#include "master/logic/tables.h"
#include "master/store/store_check.h"
#include "sim/faults/whole_store.h"
#include "tests/master/master_harness.h"

namespace tarcil::commits_test {

using namespace master;
using Outcome = CommitAnswer::Outcome;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// Servers a (number 0, 4 units) and b (number 1, 2 units), and an agent.
struct Commits : testing::Test {
  MasterHarness master;
  SessionId monitor = master.attachMonitor("m", {serverFacts("a", 4), serverFacts("b", 2)});
  SessionId agent = master.attachAgent("x");
  uint64_t epoch = *master.agentAnswer().epoch;

  static std::vector<Verdict> verdicts(const CommitAnswer& answer) {
    std::vector<Verdict> verdicts;
    for (const Grant& grant : answer.grants) verdicts.push_back(grant.verdict);
    return verdicts;
  }
};

TEST_F(Commits, MakeAJobAndItsPlacementsDurableTogether) {
  Commit commit = newJob(1, spec(2));
  commit.claims = {claim(0, 0)};
  commit.waitReason = "no slot is quiet enough";
  const AllocationId allocation = master.place(agent, commit);
  master.restart();
  EXPECT_EQ(master.stateOf(1), RunState::kStarting);
  EXPECT_EQ(master.job(1).progress.reason, "no slot is quiet enough");
  EXPECT_EQ(master.task(1, 0).allocation, allocation);
  EXPECT_EQ(master.task(1, 0).server, "a");
  EXPECT_EQ(master.task(1, 1).state, RunState::kQueued);
  EXPECT_EQ(master.freeUnits("a"), 3u);
}

TEST_F(Commits, KeepNoMoreOfWhatPeersSayThanABound) {
  const std::string endless(100'000, 'x');
  Commit commit = newJob(1, spec(2));
  commit.claims = {claim(0, 0)};
  commit.waitReason = endless;
  const AllocationId allocation = master.place(agent, commit);
  EXPECT_EQ(master.job(1).progress.reason, asReason(endless));
  TaskEnd end = exitedWith(1);
  end.problem = endless;
  master.ended(monitor, allocation, end);
  EXPECT_EQ(master.task(1, 0).end.problem, asReason(endless));
}

TEST_F(Commits, KeepTheInputFilesOfAJob) {
  Commit commit = newJob(1, spec());
  commit.newJob->files = std::make_shared<std::vector<InputFile>>(1, InputFile{"in", 0644, "text"});
  master.commit(agent, commit);
  EXPECT_EQ(master.store().files(jobId(1))->at(0).content, "text");
}

TEST_F(Commits, GivePreferredUnitsWhereTheyAreFreeAndOthersElse) {
  Commit first = newJob(1, spec(1, 2));
  first.claims = {claim(0, 0, 2)};
  first.claims[0].preferred = {3, 1};
  EXPECT_THAT(master.commit(agent, first).grants.at(0).rus, ElementsAre(1, 3));
  Commit second = newJob(2, spec(1, 2));
  second.claims = {claim(0, 0, 2)};
  second.claims[0].preferred = {3, 2};
  EXPECT_THAT(master.commit(agent, second).grants.at(0).rus, ElementsAre(0, 2));
}

TEST_F(Commits, AreTurnedDownOneByOneByName) {
  master.attachMonitor("down", {serverFacts("d", 1)});
  master.attachMonitor("down", {});
  Commit commit = newJob(1, spec(6));
  commit.claims = {claim(0, 1), claim(1, 1), claim(2, 1), claim(3, 99), claim(4, 2), claim(5, 0)};
  commit.claims[5].attempt = 1;
  EXPECT_THAT(verdicts(master.commit(agent, commit)),
              ElementsAre(Verdict::kGranted, Verdict::kGranted, Verdict::kNotFree, Verdict::kUnknownServer,
                          Verdict::kServerDown, Verdict::kTaskNotWaiting));
}

TEST_F(Commits, AreJudgedAgainWhereTheServerChanged) {
  JobSpec loud = spec();
  loud.profile = causing(Resource::kLlc, 80);
  Commit first = newJob(1, loud);
  first.claims = {claim(0, 0)};
  const uint64_t seen = master.status("a").version;
  master.place(agent, first);

  JobSpec sensitive = spec();
  sensitive.profile.tolerated[static_cast<size_t>(Resource::kLlc)] = 10;
  Commit second = newJob(2, sensitive);
  second.claims = {claim(0, 0)};
  second.claims[0].versionSeen = seen;
  second.claims[0].floor = 0.95;
  EXPECT_THAT(verdicts(master.commit(agent, second)), ElementsAre(Verdict::kBelowFloor));
}

TEST_F(Commits, DoNotPlaceATaskTwice) {
  Commit commit = newJob(1, spec());
  commit.claims = {claim(0, 0)};
  master.place(agent, commit);
  Commit again = moreFor(1);
  again.claims = {claim(0, 1)};
  EXPECT_THAT(verdicts(master.commit(agent, again)), ElementsAre(Verdict::kTaskNotWaiting));
  EXPECT_EQ(master.freeUnits("b"), 2u);
}

TEST_F(Commits, OfAGangGrantAllOrNothing) {
  JobSpec gang = spec(3);
  gang.schedule = Schedule::kGang;
  Commit commit = newJob(1, gang);
  commit.claims = {claim(0, 1), claim(1, 1), claim(2, 1)};
  const ServerStatus before = master.status("b");
  EXPECT_THAT(verdicts(master.commit(agent, commit)),
              ElementsAre(Verdict::kNotAll, Verdict::kNotAll, Verdict::kNotFree));
  EXPECT_EQ(master.status("b"), before);
  EXPECT_THAT(only<PublishServer>(master.lastActions()), IsEmpty());

  Commit again = moreFor(1);
  again.gang = true;
  again.claims = {claim(0, 1), claim(1, 1), claim(2, 0)};
  EXPECT_THAT(verdicts(master.commit(agent, again)), testing::Each(Verdict::kGranted));
  EXPECT_EQ(master.freeUnits("b"), 0u);
}

TEST_F(Commits, PublishEachChangedServerOnceAndCarryItsNewestState) {
  Commit commit = newJob(1, spec(3));
  commit.claims = {claim(0, 0), claim(1, 0), claim(2, 1)};
  const CommitAnswer answer = master.commit(agent, commit);
  const auto published = only<PublishServer>(master.lastActions());
  ASSERT_EQ(published.size(), 2u);
  EXPECT_EQ(published[0].update.status, master.status("a"));
  EXPECT_FALSE(published[0].update.facts);
  ASSERT_EQ(answer.servers.size(), 2u);
  EXPECT_EQ(answer.servers[0].status, master.status("a"));
  EXPECT_EQ(answer.servers[1].status, master.status("b"));
  EXPECT_THAT(only<AssignJob>(master.lastActions()), IsEmpty()) << "the answer tells the owner";
}

TEST_F(Commits, GetTheSameAnswerWhenRepeated) {
  Commit commit = newJob(1, spec());
  commit.claims = {claim(0, 0)};
  commit.sequence = 1;
  const CommitAnswer first = master.resend(agent, commit);
  EXPECT_THAT(only<AssignJob>(master.lastActions()), IsEmpty());
  for (bool restarted : {false, true}) {
    if (restarted) {
      master.restart();
      agent = master.attachAgent("x", epoch);
    }
    CommitAnswer again = master.resend(agent, commit);
    EXPECT_EQ(again.servers.at(0).status, master.status("a")) << "states are read anew";
    again.servers = first.servers;
    EXPECT_EQ(again, first);
    EXPECT_EQ(master.freeUnits("a"), 3u);
  }
}

TEST_F(Commits, GetTheSameAnswerWhenRepeatedAfterTheJobHasEnded) {
  Commit commit = newJob(1, spec());
  commit.claims = {claim(0, 0)};
  commit.sequence = 1;
  const CommitAnswer first = master.resend(agent, commit);
  master.ended(monitor, first.grants.at(0).allocation, exitedWith(0));
  ASSERT_EQ(master.stateOf(1), RunState::kDone);
  EXPECT_EQ(master.resend(agent, commit).grants, first.grants);
  const auto told = only<AssignJob>(master.lastActions());
  ASSERT_THAT(told, SizeIs(1)) << "the agent may have heard neither of the answer nor of the end";
  EXPECT_EQ(told[0].assignment.job.id, jobId(1));
  EXPECT_TRUE(told[0].assignment.over);
  EXPECT_EQ(master.stateOf(1), RunState::kDone);
  EXPECT_EQ(master.freeUnits("a"), 4u);
  Commit more = moreFor(1);
  more.sequence = 2;
  EXPECT_EQ(master.resend(agent, more).outcome, Outcome::kJobOver);
  EXPECT_EQ(master.resend(agent, more).outcome, Outcome::kJobOver);
}

TEST_F(Commits, BeyondTheNextSequenceAreRefusedWithoutEffect) {
  Commit commit = newJob(1, spec());
  commit.sequence = 2;
  EXPECT_EQ(master.resend(agent, commit).outcome, Outcome::kRefused);
  EXPECT_FALSE(master.logic().job(jobId(1)));
  commit.sequence = 1;
  EXPECT_EQ(master.resend(agent, commit).outcome, Outcome::kOk);
}

TEST_F(Commits, LetAnswersGoThatTheAgentHas) {
  Commit first = newJob(1, spec());
  first.sequence = 1;
  master.resend(agent, first);
  Commit second = newJob(2, spec());
  second.sequence = 2;
  second.answered = 1;
  master.resend(agent, second);
  EXPECT_EQ(master.store().load()->answers.size(), 1u);
  EXPECT_EQ(master.resend(agent, first).outcome, Outcome::kRefused);

  master.restart();
  agent = master.attachAgent("x", epoch);
  EXPECT_EQ(master.resend(agent, first).outcome, Outcome::kRefused);
  EXPECT_EQ(master.resend(agent, second).outcome, Outcome::kOk);
}

TEST_F(Commits, OfAnEarlierEpochLeaveNoAnswersBehind) {
  master.commit(agent, newJob(1, spec()));
  agent = master.attachAgent("x");
  EXPECT_THAT(master.store().load()->answers, IsEmpty());
  EXPECT_EQ(master.commit(agent, newJob(2, spec())).outcome, Outcome::kOk) << "sequences start at 1 again";
}

TEST_F(Commits, OfTheSameJobTwiceFindTheFirst) {
  master.commit(agent, newJob(1, spec()));
  const SessionId other = master.attachAgent("y");
  EXPECT_EQ(master.commit(other, newJob(1, spec())).outcome, Outcome::kJobExists);
  Commit bobs = newJob(1, spec());
  bobs.newJob->record.user = "bob";
  EXPECT_EQ(master.commit(other, bobs).outcome, Outcome::kRefused);
  EXPECT_EQ(master.job(1).progress.owner, "x");
  EXPECT_EQ(master.job(1).record.user, "alice");
}

TEST_F(Commits, ForAJobOfAnotherAgentOrNoneAreOver) {
  master.commit(agent, newJob(1, spec()));
  const SessionId other = master.attachAgent("y");
  EXPECT_EQ(master.commit(other, moreFor(1)).outcome, Outcome::kJobOver);
  EXPECT_EQ(master.commit(agent, moreFor(9)).outcome, Outcome::kJobOver);
}

TEST_F(Commits, ThatBreakTheProtocolAreRefusedWithoutEffect) {
  Commit unknownTask = newJob(1, spec());
  unknownTask.claims = {claim(7, 0)};
  Commit wrongSize = newJob(1, spec());
  wrongSize.claims = {claim(0, 0, 2)};
  Commit twice = newJob(1, spec());
  twice.claims = {claim(0, 0), claim(0, 1)};
  Commit noTasks = newJob(1, spec(0));
  Commit otherId = newJob(1, spec());
  otherId.newJob->record.id = jobId(2);
  for (const Commit& commit : {unknownTask, wrongSize, twice, noTasks, otherId}) {
    const CommitAnswer answer = master.commit(agent, commit);
    EXPECT_EQ(answer.outcome, Outcome::kRefused);
    EXPECT_NE(answer.problem, "");
    EXPECT_FALSE(master.logic().job(jobId(1)));
  }
}

TEST_F(Commits, KeepTheDecisionsThatPlacedSomethingAndTheFirst) {
  Commit first = newJob(1, spec(3));
  first.explanation.wanted = 3;
  master.commit(agent, first);
  Commit nothing = moreFor(1);
  nothing.explanation.wanted = 3;
  master.commit(agent, nothing);
  Commit placing = nothing;
  placing.claims = {claim(1, 0)};
  placing.explanation.seed = 42;
  master.commit(agent, placing);

  const std::vector<DecisionRecord> decisions = *master.store().decisions(jobId(1));
  ASSERT_EQ(decisions.size(), 2u);
  EXPECT_EQ(decisions[1].explanation.seed, 42u);
  EXPECT_THAT(decisions[1].tasks, ElementsAre(1));
  EXPECT_EQ(master.task(1, 1).decision, 1u);
}

TEST_F(Commits, KeepNoMoreDecisionsThanAreBounded) {
  const SessionId big = master.attachMonitor("big", {serverFacts("big", 200)});
  EXPECT_NE(big, 0u);
  master.commit(agent, newJob(1, spec(100)));
  for (TaskIndex task = 0; task < 100; ++task) {
    Commit commit = moreFor(1);
    commit.explanation.wanted = 1;
    commit.claims = {claim(task, 2)};
    master.place(agent, commit);
  }
  EXPECT_EQ(master.store().decisions(jobId(1))->size(), kMaxDecisions);
  EXPECT_EQ(master.task(1, 63).decision, 63u);
  EXPECT_EQ(master.task(1, 64).decision, kNoDecision);
}

TEST(Allocations, OfANewStoreAreNotThoseOfTheOneBefore) {
  std::set<AllocationId> given;
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    Rng rng(seed);
    std::vector<Action> actions;
    const MasterLogic logic({}, {}, {}, rng, actions);
    const AllocationId next = logic.cluster().nextAllocation;
    EXPECT_LT(next, uint64_t{1} << 40) << "no room for versions of servers";
    EXPECT_TRUE(given.insert(next).second) << "seed " << seed;
  }
}

TEST_F(Commits, NeverGiveAnAllocationTwiceAcrossRestarts) {
  Commit commit = newJob(1, spec());
  commit.claims = {claim(0, 0)};
  const AllocationId before = master.place(agent, commit);
  master.restart();
  master.attachMonitor("m", {serverFacts("a", 4), serverFacts("b", 2)}, {{before, "a"}});
  agent = master.attachAgent("x", epoch);
  commit = newJob(2, spec());
  commit.claims = {claim(0, 0)};
  EXPECT_GT(master.place(agent, commit), before);
}

TEST(Allocations, OfJobsNoLongerKeptAreNotGivenAgain) {
  MasterOptions options;
  options.keepFinishedJobs = 0;
  MasterHarness master(options);
  AllocationId last = 0;
  const auto placeOne = [&master, &last](SessionId agent, int number) {
    Commit commit = newJob(number, spec());
    commit.claims = {claim(0, 0)};
    const AllocationId allocation = master.place(agent, commit);
    EXPECT_GT(allocation, last);
    last = allocation;
  };
  const SessionId monitor = master.attachMonitor("m", {serverFacts("a", 4)});
  SessionId agent = master.attachAgent("x");
  for (int number = 1; number <= static_cast<int>(master::kAllocationBlock) + 1; ++number) {
    placeOne(agent, number);
    master.ended(monitor, last, exitedWith(0));
  }
  master.restart();
  master.attachMonitor("m", {serverFacts("a", 4)});
  agent = master.attachAgent("x");
  placeOne(agent, 1);
}

struct BusyCommits : testing::Test {
  static MasterOptions options() {
    MasterOptions options;
    options.maxUnfinishedOfUser = 2;
    options.maxUnfinished = 3;
    return options;
  }
  explicit BusyCommits(const MasterOptions& with = options()) : master(with) {}

  MasterHarness master;
  SessionId agent = master.attachAgent("x");

  CommitAnswer submit(int number, const std::string& user, const JobSpec& what = spec()) {
    Commit commit = newJob(number, what);
    commit.newJob->record.user = user;
    return master.commit(agent, commit);
  }
};

TEST_F(BusyCommits, AreNotSaidToBeOverWhenRepeated) {
  submit(1, "alice");
  submit(2, "alice");
  Commit commit = newJob(3, spec());
  commit.newJob->record.user = "alice";
  commit.sequence = 3;
  ASSERT_EQ(master.resend(agent, commit).outcome, Outcome::kBusy);
  EXPECT_EQ(master.resend(agent, commit).outcome, Outcome::kBusy);
  EXPECT_THAT(only<AssignJob>(master.lastActions()), IsEmpty())
      << "its client may have submitted it again by the time that this arrives";
}

TEST_F(BusyCommits, AreRefusedBeyondTheBoundOfAUserAndOfAll) {
  EXPECT_EQ(submit(1, "alice").outcome, Outcome::kOk);
  EXPECT_EQ(submit(2, "alice").outcome, Outcome::kOk);
  const CommitAnswer alices = submit(3, "alice");
  EXPECT_EQ(alices.outcome, Outcome::kBusy);
  EXPECT_EQ(alices.problem,
            "alice has 2 unfinished jobs, as many as one user may (the master's --max-jobs-of-user); try "
            "again in 10 s");
  EXPECT_FALSE(master.logic().job(jobId(3)));
  EXPECT_EQ(submit(4, "bob").outcome, Outcome::kOk) << "one user does not shut out another";
  const CommitAnswer carols = submit(5, "carol");
  EXPECT_EQ(carols.outcome, Outcome::kBusy);
  EXPECT_EQ(
      carols.problem,
      "the cluster has 3 unfinished jobs, as many as it takes (the master's --max-jobs); try again in 10 s");
}

TEST_F(BusyCommits, OfUsersBeyondTheirBoundAreRefusedForGood) {
  for (size_t i = 1; i < kMaxUsers; ++i) master.handle(SharesSet{1, "user-" + std::to_string(i), 1});
  EXPECT_EQ(submit(1, "user-1").outcome, Outcome::kOk);
  EXPECT_EQ(submit(2, "alice").outcome, Outcome::kOk) << "there is a place for one more";
  EXPECT_TRUE(only<Answer>(master.handle(SharesSet{1, "alice", 1})).at(0).status.ok());
  const auto refused = only<Answer>(master.handle(SharesSet{1, "bob", 1}));
  EXPECT_EQ(refused.at(0).status.error().code, ErrorCode::kExhausted);
  EXPECT_EQ(submit(3, "bob").outcome, Outcome::kRefused);
}

TEST_F(BusyCommits, LeaveNothingInTheStore) {
  submit(1, "alice");
  submit(2, "alice");
  ASSERT_EQ(submit(3, "alice").outcome, Outcome::kBusy);
  master.restart();
  EXPECT_TRUE(master.logic().job(jobId(2)));
  EXPECT_FALSE(master.logic().job(jobId(3)));
}

struct LargeCommits : BusyCommits {
  static size_t bytes() { return bytesOf(newJob(1, spec(1'000)).newJob->record); }
  static MasterOptions options() {
    MasterOptions options;
    options.maxUnfinishedBytesOfUser = 2 * bytes() + bytes() / 2;
    options.maxUnfinishedBytes = 3 * bytes() + bytes() / 2;
    options.keepFinishedBytes = 2 * bytes() + bytes() / 2;
    return options;
  }
  LargeCommits() : BusyCommits(options()) {}

  CommitAnswer submitLarge(int number, const std::string& user) { return submit(number, user, spec(1'000)); }
};

TEST_F(LargeCommits, AreRefusedBeyondTheMemoryOfAUserAndOfAll) {
  EXPECT_EQ(submitLarge(1, "alice").outcome, Outcome::kOk);
  EXPECT_EQ(submitLarge(2, "alice").outcome, Outcome::kOk);
  const CommitAnswer alices = submitLarge(3, "alice");
  EXPECT_EQ(alices.outcome, Outcome::kBusy);
  EXPECT_THAT(alices.problem, AllOf(HasSubstr("the unfinished jobs of alice would take more than"),
                                    HasSubstr("try again in 10 s")));
  EXPECT_FALSE(master.logic().job(jobId(3)));
  EXPECT_EQ(submit(4, "alice").outcome, Outcome::kOk) << "a small one fits";
  EXPECT_EQ(submitLarge(5, "bob").outcome, Outcome::kOk);
  EXPECT_THAT(submitLarge(6, "bob").problem, HasSubstr("unfinished jobs would take more than"));
}

// "Try again" would be said for ever.
TEST_F(LargeCommits, AreRefusedForGoodWhereNoneSoLargeIsEverTaken) {
  const CommitAnswer answer = submit(1, "alice", spec(3'000));
  EXPECT_EQ(answer.outcome, Outcome::kRefused);
  EXPECT_THAT(answer.problem, HasSubstr("write fewer tasks"));
  EXPECT_FALSE(master.logic().job(jobId(1)));
}

TEST_F(LargeCommits, AreTakenAgainOnceAJobHasEndedAlsoAfterARestart) {
  submitLarge(1, "alice");
  submitLarge(2, "alice");
  master.restart();
  agent = master.attachAgent("x", *master.agentAnswer().epoch);
  EXPECT_EQ(submitLarge(3, "alice").outcome, Outcome::kBusy);
  master.cancel(1, user("alice"));
  EXPECT_EQ(submitLarge(4, "alice").outcome, Outcome::kOk);
}

TEST_F(LargeCommits, AreForgottenOnceFinishedOnesTakeTooMuch) {
  for (int job = 1; job <= 4; ++job) {
    EXPECT_EQ(submitLarge(job, "alice").outcome, Outcome::kOk);
    master.cancel(job, user("alice"));
  }
  EXPECT_FALSE(master.logic().job(jobId(2)));
  EXPECT_TRUE(master.logic().job(jobId(3)));
  EXPECT_TRUE(master.logic().job(jobId(4)));
}

struct CommitsWithFiles : BusyCommits {
  static MasterOptions options() {
    MasterOptions options;
    options.maxFileBytesOfUser = 250;
    options.maxFileBytes = 350;
    return options;
  }
  CommitsWithFiles() : BusyCommits(options()) {}

  CommitAnswer submitFiles(int number, const std::string& user) {
    Commit commit = newJob(number, spec());
    commit.newJob->record.user = user;
    commit.newJob->record.hasFiles = true;
    commit.newJob->record.fileBytes = 100;
    commit.newJob->files = std::make_shared<const std::vector<InputFile>>(
        std::vector<InputFile>{{"input", 0644, std::string(80, 'x')}});
    return master.commit(agent, commit);
  }
  size_t filesOf(int number) { return master.store().files(jobId(number))->size(); }
};

TEST_F(CommitsWithFiles, AreRefusedBeyondWhatTheStoreTakesOfAUserAndOfAll) {
  EXPECT_EQ(submitFiles(1, "alice").outcome, Outcome::kOk);
  EXPECT_EQ(submitFiles(2, "alice").outcome, Outcome::kOk);
  const CommitAnswer alices = submitFiles(3, "alice");
  EXPECT_EQ(alices.outcome, Outcome::kBusy);
  EXPECT_EQ(
      alices.problem,
      "with those of this job, of 100B, the input files of the unfinished jobs of alice would take more "
      "than 250B (the master's --max-files-size-of-user); try again in 10 s");
  EXPECT_EQ(filesOf(3), 0u);
  EXPECT_EQ(submit(4, "alice").outcome, Outcome::kOk) << "one without fits";
  EXPECT_EQ(submitFiles(5, "bob").outcome, Outcome::kOk);
  EXPECT_THAT(submitFiles(6, "bob").problem,
              HasSubstr("the input files of unfinished jobs would take more than 350B"));
}

TEST_F(CommitsWithFiles, OfAJobThatWasCancelledAreKeptForItAndMakeRoom) {
  submitFiles(1, "alice");
  submitFiles(2, "alice");
  master.restart();
  agent = master.attachAgent("x", *master.agentAnswer().epoch);
  EXPECT_EQ(submitFiles(3, "alice").outcome, Outcome::kBusy);
  EXPECT_EQ(filesOf(1), 1u);
  master.cancel(1, user("alice"));
  EXPECT_EQ(filesOf(1), 1u);
  EXPECT_EQ(filesOf(2), 1u);
  EXPECT_EQ(submitFiles(4, "alice").outcome, Outcome::kOk);
  EXPECT_THAT(checkStore(sim::wholeStore(master.store())), IsEmpty());
}

TEST_F(BusyCommits, FindAJobThatIsThereAlready) {
  submit(1, "alice");
  submit(2, "alice");
  EXPECT_EQ(submit(2, "alice").outcome, Outcome::kJobExists);
}

TEST_F(BusyCommits, AreTakenAgainOnceAJobHasEndedAlsoAfterARestart) {
  submit(1, "alice");
  submit(2, "alice");
  master.restart();
  agent = master.attachAgent("x", *master.agentAnswer().epoch);
  EXPECT_EQ(submit(3, "alice").outcome, Outcome::kBusy);
  master.cancel(1, user("alice"));
  EXPECT_EQ(submit(4, "alice").outcome, Outcome::kOk);
}

TEST_F(Commits, SeeServerVersionsRiseAcrossRestarts) {
  // As many changes as no counter of allocations moves by itself.
  for (int i = 0; i < 6'000; ++i) master.detach(master.attachMonitor("m", {serverFacts("a", 4)}));
  for (int i = 0; i < 2; ++i) {
    const uint64_t before = master.status("a").version;
    master.restart();
    EXPECT_GT(master.status("a").version, before);
  }
}

}  // namespace tarcil::commits_test
