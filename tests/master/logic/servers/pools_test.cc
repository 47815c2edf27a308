// Units that monitors have on loan for late-bound tasks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/model/constraint.h"
#include "latebinding/names.h"
#include "tests/master/master_harness.h"

namespace tarcil::servers_pools_test {

using namespace master;
using namespace std::chrono_literals;
using testing::IsEmpty;
using testing::SizeIs;

RuSet units(std::initializer_list<RuIndex> members) {
  RuSet set;
  for (const RuIndex ru : members) set.insert(ru);
  return set;
}

ServerFacts lending(const std::string& name, uint32_t rus) {
  ServerFacts facts = serverFacts(name, rus);
  facts.attributes[std::string(late::kServerAttribute)] = std::to_string(rus);
  return facts;
}

struct Pools : testing::Test {
  MasterHarness master;
  SessionId agent = master.attachAgent("a");
  SessionId monitor = master.attachMonitor("m", {lending("s", 4), serverFacts("other", 4)});
  late::PoolReport last{.incarnation = 7};

  std::vector<Action> send(const late::PoolReport& report, const std::string& server = "s") {
    return master.handle(PoolReported{99, monitor, {{server, report}}});
  }
  // The next report; what is granted.
  RuSet report(uint32_t wanted, const RuSet& returned = {}, uint32_t least = 0) {
    ++last.sequence;
    last.wanted = wanted;
    last.returned = returned;
    last.least = least;
    return grantedBy(send(last));
  }
  RuSet grantedBy(const std::vector<Action>& actions) {
    const auto answers = only<AnswerPools>(actions);
    EXPECT_THAT(answers, SizeIs(1));
    EXPECT_TRUE(answers[0].answers.ok());
    return answers[0].answers->empty() ? RuSet() : answers[0].answers->front().answer.granted;
  }
  // What monitors are told, last.
  std::optional<uint32_t> limitIn(const std::vector<Action>& actions) {
    const auto limits = only<LimitPool>(actions);
    return limits.empty() ? std::nullopt : std::optional(limits.back().limit.units);
  }
  RuSet held() { return master.logic().server("s")->pool; }
};

TEST_F(Pools, GetFreeUnitsWhichNobodyElseGets) {
  master.place(agent, [] {
    Commit commit = newJob(1, spec());
    commit.claims = {claim(0, 0)};
    return commit;
  }());
  EXPECT_EQ(report(2), units({1, 2}));
  EXPECT_EQ(held(), units({1, 2}));
  EXPECT_EQ(master.freeUnits("s"), 1u);
  // A claim of a unit on loan is refused like one of a unit that is taken.
  Commit greedy = newJob(2, spec(1, 2));
  greedy.claims = {claim(0, 0, 2)};
  const auto grants = master.commit(agent, greedy).grants;
  ASSERT_THAT(grants, SizeIs(1));
  EXPECT_EQ(grants.front().verdict, Verdict::kNotFree);
}

TEST_F(Pools, GetNoUnitsWhoseMemoryIsTaken) {
  ServerFacts facts = lending("s", 4);
  facts.memoryBytes = 4 << 20;
  monitor = master.attachMonitor("m", {facts, serverFacts("other", 4)});
  master.place(agent, [] {
    JobSpec large = spec();
    large.limits.memoryBytes = 3 << 20;
    Commit commit = newJob(1, large);
    commit.claims = {claim(0, 0)};
    return commit;
  }());
  EXPECT_EQ(report(3), units({1}));
  EXPECT_EQ(master.status("s").allocated.memory, uint64_t{4} << 20);
}

TEST_F(Pools, GiveUnitsBack) {
  EXPECT_EQ(report(3), units({0, 1, 2}));
  EXPECT_EQ(report(1, units({1, 2})), RuSet());
  EXPECT_EQ(held(), units({0}));
  EXPECT_EQ(master.freeUnits("s"), 3u);
}

TEST_F(Pools, AreAsTheyWereAfterARestart) {
  EXPECT_EQ(report(3), units({0, 1, 2}));
  master.restart();
  EXPECT_EQ(master.freeUnits("s"), 1u);
  monitor = master.attachMonitor("m", {lending("s", 4), serverFacts("other", 4)});
  EXPECT_EQ(held(), units({0, 1, 2}));
  // The answer was lost: the repeat gets it, and nothing more.
  EXPECT_EQ(grantedBy(send(last)), units({0, 1, 2}));
  EXPECT_EQ(master.freeUnits("s"), 1u);
}

TEST_F(Pools, AreNotThereForOthersBeforeTheyAreOnDisk) {
  last.sequence = 1;
  last.wanted = 2;
  EXPECT_THAT(master.dieBeforeAnswering(PoolReported{99, monitor, {{"s", last}}}), Not(IsEmpty()));
  master.restart();
  EXPECT_EQ(master.freeUnits("s"), 2u);
}

TEST_F(Pools, AreEmptyWhenTheMonitorStartsAnew) {
  report(3);
  last = {.incarnation = 8};
  EXPECT_EQ(report(1), units({3}));  // what it returned by starting is free when the answer is stored
  EXPECT_EQ(held(), units({3}));
  EXPECT_EQ(master.freeUnits("s"), 3u);
}

TEST_F(Pools, EndWhereTheMonitorOffersThemNoMore) {
  report(3);
  master.attachMonitor("m", {serverFacts("s", 4), serverFacts("other", 4)});
  EXPECT_EQ(held(), RuSet());
  EXPECT_EQ(master.freeUnits("s"), 4u);
}

TEST_F(Pools, EndWithTheMachineWhereAnotherTakesItsPlace) {
  report(3);
  master.detach(monitor);
  master.attachMonitor("n", {lending("s", 4)});
  EXPECT_EQ(held(), RuSet());
}

TEST_F(Pools, AreOnlyForServersThatOfferThemAndTheirMonitors) {
  EXPECT_EQ(grantedBy(send({.incarnation = 7, .sequence = 1, .wanted = 2}, "other")), RuSet());
  EXPECT_EQ(master.freeUnits("other"), 4u);
  const SessionId stranger = master.attachMonitor("n", {lending("t", 1)});
  EXPECT_EQ(grantedBy(master.handle(
                PoolReported{99, stranger, {{"s", {.incarnation = 7, .sequence = 1, .wanted = 2}}}})),
            RuSet());
  master.detach(monitor);
  const auto answers = only<AnswerPools>(send({.incarnation = 7, .sequence = 1, .wanted = 2}));
  ASSERT_THAT(answers, SizeIs(1));
  EXPECT_EQ(answers[0].answers.error().code, ErrorCode::kConflict);
  EXPECT_EQ(held(), RuSet());
}

TEST_F(Pools, DoNotGrowOnServersThatTakeNoTasks) {
  master.steer("s", ServerChange::kCordon);
  EXPECT_EQ(report(2), RuSet());
  master.steer("s", ServerChange::kUncordon);
  EXPECT_EQ(report(2), units({0, 1}));
}

TEST_F(Pools, AreAskedBackForAJobThatWaitsForUnitsAndLentAgainAfterwards) {
  master.attachMonitor("m", {lending("s", 4)});
  monitor = master.attachMonitor("m", {lending("s", 4)});
  EXPECT_EQ(report(4), units({0, 1, 2, 3}));
  EXPECT_TRUE(master.commit(agent, newJob(1, spec())).grants.empty());
  EXPECT_EQ(limitIn(master.pass(100ms)), std::nullopt);  // it may not have been offered yet
  EXPECT_EQ(limitIn(master.pass(1s)), 0u);
  // Nothing more is granted but what the operator set apart.
  EXPECT_EQ(report(3, units({1, 2, 3})), RuSet());
  EXPECT_EQ(report(4), RuSet());
  EXPECT_EQ(report(4, {}, 2), units({1}));
  Commit claiming = moreFor(1);
  claiming.claims = {claim(0, 0)};
  EXPECT_THAT(master.commit(agent, claiming).grants, SizeIs(1));
  EXPECT_EQ(limitIn(master.lastActions()), UINT32_MAX) << "nobody waits any more";
  EXPECT_EQ(report(4), units({3}));
}

TEST_F(Pools, AreNotAskedBackForAJobThatWaitsForSomethingElse) {
  EXPECT_EQ(report(2), units({0, 1}));
  master.commit(agent, newJob(1, spec()));  // no slot suited it, though units are free
  EXPECT_EQ(limitIn(master.pass(2s)), std::nullopt);
}

TEST_F(Pools, AreAskedBackWhereTheUnitsSuitTheJobThoughOthersAreFree) {
  monitor = master.attachMonitor("m", {lending("s", 4)});
  EXPECT_EQ(report(4), units({0, 1, 2, 3}));
  ServerFacts zoned = lending("t", 8);
  zoned.attributes["zone"] = "b";
  const SessionId elsewhere = master.attachMonitor("n", {zoned});
  JobSpec picky = spec();
  picky.placement.constraints = {*parseConstraint("zone != b")};
  master.commit(agent, newJob(1, picky));
  const auto limits = only<LimitPool>(master.pass(1s));
  ASSERT_THAT(limits, SizeIs(1)) << "the other server is not for it";
  EXPECT_EQ(limits[0].server, "s");
  EXPECT_EQ(limits[0].limit.units, 0u);
  const late::PoolReport other{.incarnation = 7, .sequence = 1, .wanted = 2};
  EXPECT_EQ(grantedBy(master.handle(PoolReported{99, elsewhere, {{"t", other}}})), units({0, 1}));
}

TEST_F(Pools, AreAskedBackForAJobBehindOnesThatNoUnitsHelp) {
  monitor = master.attachMonitor("m", {lending("s", 4)});
  EXPECT_EQ(report(4), units({0, 1, 2, 3}));
  JobSpec nowhere = spec();
  nowhere.priority = 90;
  nowhere.placement.constraints = {*parseConstraint("zone = b")};
  master.commit(agent, newJob(1, nowhere));
  JobSpec large = spec(1, 8);
  large.priority = 80;
  master.commit(agent, newJob(2, large));
  EXPECT_EQ(limitIn(master.pass(1s)), std::nullopt) << "no server has as much";
  master.commit(agent, newJob(3, spec(1, 4)));
  EXPECT_EQ(limitIn(master.pass(1s)), 0u);
}

TEST_F(Pools, AreAskedBackFromServersReservedForAGangThatFindsThemTooNoisy) {
  monitor = master.attachMonitor("m", {lending("s", 4), lending("t", 4), lending("u", 4)});
  EXPECT_EQ(report(2), units({0, 1}));
  JobSpec gang = spec(4);
  gang.schedule = Schedule::kGang;
  Commit waiting = newJob(1, gang);
  waiting.newJob->record.submitted = master.now().wall;
  waiting.explanation.wanted = 4;
  master.commit(agent, waiting);
  EXPECT_EQ(limitIn(master.pass(1s)), std::nullopt) << "there are units enough";
  std::vector<std::string> limited;
  for (int second = 0; second < 60 && limited.empty(); ++second) {
    for (const LimitPool& limit : only<LimitPool>(master.pass(1s))) {
      EXPECT_EQ(limit.limit.units, 0u);
      limited.push_back(limit.server);
    }
  }
  ASSERT_THAT(limited, Not(IsEmpty()));
  EXPECT_LT(limited.size(), 3u) << "the others lend as before";
  std::vector<std::string> freed;
  for (const LimitPool& limit : only<LimitPool>(master.cancel(1, theOperator()))) {
    EXPECT_EQ(limit.limit.units, UINT32_MAX);
    freed.push_back(limit.server);
  }
  EXPECT_EQ(freed, limited);
}

TEST_F(Pools, MonitorsAreToldTheLimitThatHoldsWhenTheyAttach) {
  monitor = master.attachMonitor("m", {lending("s", 4)});
  EXPECT_EQ(limitIn(master.lastActions()), UINT32_MAX);
  // A monitor that holds a limit of an earlier master believes this one.
  EXPECT_GE(only<LimitPool>(master.lastActions()).back().limit.revision,
            static_cast<uint64_t>(kHarnessBegins.time_since_epoch().count()));
  report(4);
  master.commit(agent, newJob(1, spec()));
  const auto limits = only<LimitPool>(master.pass(2s));
  ASSERT_THAT(limits, SizeIs(1));
  const uint64_t before = limits.back().limit.revision;
  monitor = master.attachMonitor("m", {lending("s", 4)});
  EXPECT_EQ(limitIn(master.lastActions()), 0u);
  EXPECT_GE(only<LimitPool>(master.lastActions()).back().limit.revision, before);
}

// --- What late-bound tasks cause

struct PoolPressures : Pools {
  static PressureSum llc(int32_t value) {
    PressureSum sum{};
    sum[static_cast<size_t>(Resource::kLlc)] = value;
    return sum;
  }
  std::vector<Action> press(int32_t value, const std::string& server = "s") {
    return master.handle(PressureReported{monitor, {}, {{server, llc(value)}}});
  }
  PressureSum sum(const std::string& server = "s") { return master.status(server).sum; }
};

TEST_F(PoolPressures, CountLikeThoseOfOtherTasks) {
  const auto published = only<PublishServer>(press(40));
  ASSERT_THAT(published, SizeIs(1));
  EXPECT_EQ(published[0].update.status.sum, llc(40));
  EXPECT_EQ(master.logic().server("s")->contention[static_cast<size_t>(Resource::kLlc)], 40);
  EXPECT_EQ(master.logic().server("s")->poolCaused, llc(40));
  EXPECT_THAT(only<PublishServer>(press(40)), IsEmpty()) << "nothing changed";
  press(0);
  EXPECT_EQ(sum(), PressureSum{});
}

TEST_F(PoolPressures, StayWhileOtherTasksComeAndGo) {
  press(40);
  Commit commit = newJob(1, spec());
  commit.claims = {claim(0, 0)};
  const AllocationId allocation = master.place(agent, commit);
  report(2);
  EXPECT_EQ(sum(), llc(40));
  master.ended(monitor, allocation, {});
  EXPECT_EQ(sum(), llc(40));
}

TEST_F(PoolPressures, AreForgottenUntilTheMonitorTellsThemAgain) {
  EXPECT_THAT(only<Persist>(press(40)), IsEmpty());
  monitor = master.attachMonitor("m", {lending("s", 4), serverFacts("other", 4)});
  EXPECT_EQ(sum(), PressureSum{});
  press(40);
  master.restart();
  EXPECT_EQ(sum(), PressureSum{});
}

TEST_F(PoolPressures, AreOnlyForServersThatLendUnitsAndTheirMonitors) {
  press(40, "other");
  EXPECT_EQ(sum("other"), PressureSum{});
  const SessionId stranger = master.attachMonitor("n", {lending("t", 1)});
  master.handle(PressureReported{stranger, {}, {{"s", llc(40)}}});
  EXPECT_EQ(sum(), PressureSum{});
  press(-1);
  EXPECT_EQ(sum(), PressureSum{}) << "no pressure is less than none";
}

}  // namespace tarcil::servers_pools_test
