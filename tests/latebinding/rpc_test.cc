// Late binding over real sockets: what the logic promises (faults_test.cc) holds with the shells around it.
#include <capnp/message.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "core/model/constraint.h"
#include "rpc/errors.h"
#include "schema/convert.h"
#include "tests/latebinding/late_rpc.h"

namespace tarcil::rpc_test {

using testing::Each;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

using late::Outcome;

struct LateRpcTest : testing::Test {
  ~LateRpcTest() noexcept override {}

  // Results of each task, of the job of which there is one.
  std::set<TaskIndex> tasksOver() const {
    std::set<TaskIndex> tasks;
    for (const auto& result : heard.results) tasks.insert(result.task.task);
    return tasks;
  }
  void untilResults(size_t count) {
    rpc.until(std::to_string(count) + " results", [&]() { return heard.results.size() >= count; });
    rpc.settle();
    EXPECT_THAT(heard.results, SizeIs(count));
  }
  void untilRunning(const std::string& server, size_t count) {
    rpc.until(server + " runs " + std::to_string(count),
              [&]() { return rpc.tasksOf(server).running.size() == count; });
  }
  void untilQueued(const std::string& server, uint64_t count) {
    rpc.until(server + " has " + std::to_string(count) + " queued",
              [&]() { return rpc.monitor(server).load().queued == count; });
  }

  LateRpc rpc;
  HeardResults heard;
};

TEST_F(LateRpcTest, RunsEachTaskOnceAndTellsWhereItsTimeWent) {
  for (const char* name : {"s1", "s2", "s3"}) {
    rpc.startMonitor(name);
    rpc.give(name, 2);
  }
  rpc.startAgent("a1");
  const auto client = rpc.client({"a1"}, heard);
  client->submit(lateJob(10));
  untilResults(10);
  EXPECT_EQ(tasksOver().size(), 10u);
  EXPECT_THAT(heard.results, Each(Field(&LateClientResult::outcome, Outcome::kDone)));
  EXPECT_THAT(heard.results, Each(Field(&LateClientResult::attempts, 1u)));
  EXPECT_EQ(rpc.tasksOf("s1").started + rpc.tasksOf("s2").started + rpc.tasksOf("s3").started, 10u);
  EXPECT_EQ(client->jobs(), 0u);
}

TEST_F(LateRpcTest, TakesJobsBeforeAnyMonitorIsThere) {
  rpc.startAgent("a1");
  const auto client = rpc.client({"a1"}, heard);
  client->submit(lateJob(2));
  rpc.until("connected", [&]() { return client->isConnected(); });
  rpc.startMonitor("s1");
  rpc.give("s1", 1);
  untilResults(2);
  EXPECT_THAT(heard.results, Each(Field(&LateClientResult::outcome, Outcome::kDone)));
}

TEST_F(LateRpcTest, HandsOnWhatATaskIsAndHowItEnded) {
  rpc.startMonitor("s1", false);
  rpc.give("s1", 1);
  rpc.startAgent("a1");
  const auto client = rpc.client({"a1"}, heard);
  LateClientJob job = lateJob(1);
  job.spec.command = {"solve", "--fast"};
  job.spec.env = {{"DEPTH", "3"}};
  job.executor = {"python3", "solver.py"};
  job.descriptions = {std::string("a\0b", 3)};
  client->submit(job);
  untilRunning("s1", 1);
  const LateTask& task = rpc.tasksOf("s1").running.front();
  EXPECT_THAT(task.launch.command, ElementsAre("solve", "--fast"));
  EXPECT_EQ(task.launch.env.at("DEPTH"), "3");
  EXPECT_EQ(task.launch.user, "alice");
  EXPECT_EQ(task.launch.job, job.id);
  EXPECT_THAT(task.executor, ElementsAre("python3", "solver.py"));
  EXPECT_EQ(task.description, std::string("a\0b", 3));
  rpc.endOne("s1", 7);
  untilResults(1);
  EXPECT_EQ(heard.results[0].code, 7);
  EXPECT_EQ(heard.results[0].server, "s1");
}

TEST_F(LateRpcTest, KeepsToConstraintsAndPreferences) {
  rpc.startMonitor("s1", true, {{"gpu", "true"}});
  rpc.startMonitor("s2");
  rpc.startMonitor("s3", true, {{"gpu", "true"}});
  for (const char* name : {"s1", "s2", "s3"}) rpc.give(name, 2);
  rpc.startAgent("a1");
  const auto client = rpc.client({"a1"}, heard);
  LateClientJob constrained = lateJob(8), near = lateJob(8);
  constrained.spec.placement.constraints = {{"gpu", Constraint::Operator::kEqual, {"true"}}};
  near.spec.placement.prefer = {"s3"};
  client->submit(constrained);
  untilResults(8);
  EXPECT_EQ(rpc.tasksOf("s2").started, 0u);
  const uint32_t before = rpc.tasksOf("s3").started;
  client->submit(near);
  untilResults(16);
  EXPECT_EQ(rpc.tasksOf("s3").started - before, 8u);
}

TEST_F(LateRpcTest, RunsTasksWhereTheyRequire) {
  rpc.startMonitor("s1");
  rpc.startMonitor("s2", true, {{"gpu", "true"}});
  for (const char* name : {"s1", "s2"}) rpc.give(name, 2);
  rpc.startAgent("a1");
  const auto client = rpc.client({"a1"}, heard);
  LateClientJob job = lateJob(8);
  for (TaskIndex task = 0; task < 8; ++task) {
    auto& required = job.spec.placement.requireOfTask[task];
    required = {task < 6 ? onServers({"s1"}) : Constraint{"gpu", Constraint::Operator::kExists, {}}};
  }
  client->submit(job);
  untilResults(8);
  EXPECT_EQ(rpc.tasksOf("s1").started, 6u);
  EXPECT_EQ(rpc.tasksOf("s2").started, 2u);
  job.spec.placement.requireOfTask = {{3, {onServers({"s3"})}}};
  client->submit(job);
  untilResults(16);
  EXPECT_THAT(heard.results.back().problem, HasSubstr("task 3 requires server in (s3)"));
}

TEST_F(LateRpcTest, RefusesWhatLateBindingDoesNotDo) {
  rpc.startMonitor("s1");
  rpc.startAgent("a1");
  const auto client = rpc.client({"a1"}, heard);
  LateClientJob job = lateJob(2);
  job.spec.rusPerTask = 2;
  client->submit(job);
  untilResults(2);
  EXPECT_THAT(heard.results, Each(Field(&LateClientResult::outcome, Outcome::kCancelled)));
  EXPECT_THAT(heard.results[0].problem, HasSubstr("rus_per_task"));
}

TEST_F(LateRpcTest, AMonitorThatDiesIsReplacedUnderRelaunch) {
  rpc.startMonitor("s1", false);
  rpc.startMonitor("s2", false);
  rpc.give("s1", 4);
  rpc.startAgent("a1");
  const auto client = rpc.client({"a1"}, heard);
  client->submit(lateJob(4));
  untilRunning("s1", 4);
  rpc.give("s2", 4);
  rpc.killMonitor("s1");
  untilRunning("s2", 4);
  for (int i = 0; i < 4; ++i) rpc.endOne("s2");
  untilResults(4);
  EXPECT_THAT(heard.results, Each(Field(&LateClientResult::attempts, 2u)));
}

TEST_F(LateRpcTest, AMonitorThatDiesTakesItsTasksWithItAtMostOnce) {
  rpc.startMonitor("s1", false);
  rpc.startMonitor("s2", false);
  rpc.give("s1", 2);
  rpc.startAgent("a1");
  const auto client = rpc.client({"a1"}, heard);
  LateClientJob job = lateJob(4);
  job.spec.atMostOnce = true;
  client->submit(job);
  untilRunning("s1", 2);
  rpc.give("s2", 2);
  rpc.killMonitor("s1");
  // Those that were given away are lost, and run nowhere else; those that only had reservations there do.
  untilResults(2);
  EXPECT_THAT(heard.results, Each(Field(&LateClientResult::outcome, Outcome::kLost)));
  untilRunning("s2", 2);
  rpc.endOne("s2");
  rpc.endOne("s2");
  untilResults(4);
  EXPECT_EQ(tasksOver().size(), 4u);
  EXPECT_EQ(rpc.tasksOf("s2").started, 2u);
}

TEST_F(LateRpcTest, AnAgentThatDiesBetweenProbeAndLaunchLosesNothing) {
  rpc.startMonitor("s1");
  rpc.startAgent("a1");
  rpc.startAgent("a2");
  const auto client = rpc.client({"a1", "a2"}, heard);
  client->submit(lateJob(5));
  untilQueued("s1", 10);
  rpc.killAgent("a1");
  rpc.until("the client notices", [&]() { return !heard.failed.empty(); });
  EXPECT_THAT(heard.reasons, ElementsAre("the agent closed the connection"));
  EXPECT_THAT(heard.inFlight, SizeIs(5));
  rpc.give("s1", 2);
  untilResults(5);
  EXPECT_EQ(tasksOver().size(), 5u);
  EXPECT_EQ(rpc.tasksOf("s1").started, 5u);
}

TEST_F(LateRpcTest, AnAgentThatDiesLeavesItsTasksLostAtMostOnce) {
  rpc.startMonitor("s1", false);
  rpc.give("s1", 1);
  rpc.startAgent("a1");
  rpc.startAgent("a2");
  const auto client = rpc.client({"a1", "a2"}, heard);
  LateClientJob job = lateJob(3);
  job.spec.atMostOnce = true;
  client->submit(job);
  untilRunning("s1", 1);
  rpc.killAgent("a1");
  untilResults(3);
  EXPECT_THAT(heard.results, Each(Field(&LateClientResult::outcome, Outcome::kLost)));
  // Its reservations are gone with it: the slot takes nothing more of them.
  rpc.endOne("s1");
  client->submit(lateJob(1));
  untilRunning("s1", 1);
  EXPECT_EQ(rpc.tasksOf("s1").started, 2u);
}

TEST_F(LateRpcTest, AnAgentThatIsSilentIsLeftForTheNext) {
  rpc.startMonitor("s1");
  rpc.give("s1", 1);
  rpc.startSilentAgent("a1");
  rpc.startAgent("a2");
  const auto client = rpc.client({"a1", "a2"}, heard);
  client->submit(lateJob(2));
  untilResults(2);
  EXPECT_THAT(heard.failed, SizeIs(1));
  EXPECT_THAT(heard.inFlight, IsEmpty());  // it never had them
}

TEST_F(LateRpcTest, AJobGoesOnWithoutItsClientOnlyWhereItIsDetached) {
  rpc.startMonitor("s1", false);
  rpc.give("s1", 1);
  rpc.startAgent("a1");
  auto client = rpc.client({"a1"}, heard);
  LateClientJob kept = lateJob(2), dropped = lateJob(2);
  kept.detached = true;
  client->submit(kept);
  untilRunning("s1", 1);
  client->submit(dropped);
  untilQueued("s1", 7);
  client.reset();
  untilQueued("s1", 3);
  rpc.endOne("s1");
  untilRunning("s1", 1);
  EXPECT_EQ(rpc.tasksOf("s1").running.front().launch.job, kept.id);
  rpc.endOne("s1");

  Caller alice;
  alice.user = "alice";
  const auto isOver = [&]() {
    capnp::MallocMessageBuilder message;
    auto details = message.initRoot<wire::LateJobDetails>();
    EXPECT_TRUE(rpc.agent("a1").describe(alice, kept.id, 0, details).ok());
    return details.getOver().size() == 2 && details.getFinished() != 0;
  };
  rpc.until("the job is over", isOver);
  Caller bob;
  bob.user = "bob";
  capnp::MallocMessageBuilder message;
  EXPECT_EQ(rpc.agent("a1").describe(bob, kept.id, 0, message.initRoot<wire::LateJobDetails>()).error().code,
            ErrorCode::kNotFound);
}

TEST_F(LateRpcTest, CancelTakesBackWhatNoServerHasAndStopsTheRest) {
  rpc.startMonitor("s1", false);
  rpc.give("s1", 1);
  rpc.startAgent("a1");
  const auto client = rpc.client({"a1"}, heard);
  const late::ClientJob job = client->submit(lateJob(3));
  untilRunning("s1", 1);
  client->cancel(job);
  untilResults(2);
  EXPECT_THAT(heard.results, Each(Field(&LateClientResult::outcome, Outcome::kCancelled)));
  rpc.until("the task is told to stop", [this]() { return !rpc.tasksOf("s1").stopped.empty(); });
  EXPECT_THAT(rpc.tasksOf("s1").stopped, ElementsAre(rpc.tasksOf("s1").running.front().lease));
  rpc.endOne("s1", 143);
  untilResults(3);
  EXPECT_EQ(heard.results.back().outcome, Outcome::kCancelled);
  EXPECT_EQ(heard.results.back().code, 143);
}

TEST_F(LateRpcTest, WhatTheMasterCountsOfItsOwnTasksDoesNotCountTwice) {
  rpc.monitorOptions.charge = {.smoothing = std::chrono::milliseconds(1),
                               .interval = std::chrono::milliseconds(1)};
  rpc.monitorOptions.queue.passOver = std::chrono::hours(1);
  rpc.startMonitor("s1", false);
  rpc.give("s1", 2);
  rpc.startAgent("a1");
  const auto client = rpc.client({"a1"}, heard);
  const auto llc = static_cast<size_t>(Resource::kLlc);
  LateClientJob loud = lateJob(1), quiet = lateJob(1);
  loud.spec.profile.caused[llc] = 40;
  quiet.spec.profile.tolerated[llc] = 50;
  client->submit(loud);
  rpc.until("the master counts it", [&]() { return rpc.charged("s1")[llc] == 40; });
  client->submit(quiet);
  untilRunning("s1", 2);
  rpc.endOne("s1");
  rpc.until("the master counts nothing", [&]() { return rpc.charged("s1") == PressureSum{}; });
}

TEST_F(LateRpcTest, SharesOfUsersReachTheMonitors) {
  rpc.startMonitor("s1", false);
  rpc.give("s1", 1);
  rpc.startAgent("a1");
  rpc.agent("a1").note("alice", 1'000);
  const auto alice = rpc.client({"a1"}, heard), bob = rpc.client({"a1"}, heard, "bob");
  const auto passes = [this](std::chrono::milliseconds time) {
    const MonotonicTime end = systemClock().now().steady + time;
    rpc.until("time has passed", [end]() { return systemClock().now().steady >= end; });
  };
  const auto isBobs = [this]() { return rpc.tasksOf("s1").running.front().launch.user == "bob"; };
  alice->submit(lateJob(3));
  untilRunning("s1", 1);
  bob->submit(lateJob(2));
  untilQueued("s1", 9);
  rpc.endOne("s1");
  untilRunning("s1", 1);
  EXPECT_TRUE(isBobs()) << "bob has had nothing yet";
  passes(std::chrono::milliseconds(5));
  rpc.endOne("s1");
  untilRunning("s1", 1);
  EXPECT_FALSE(isBobs());
  // Ten times as long as bob's, and a hundredth of it by alice's shares.
  passes(std::chrono::milliseconds(50));
  rpc.endOne("s1");
  untilRunning("s1", 1);
  EXPECT_FALSE(isBobs());
}

// A master that signs grants.
struct LateGrantsTest : LateRpcTest {
  LateGrantsTest() {
    rpc.grantKey = master.publicKey();
    rpc.grant = [this](const std::string& agent, const std::string& user, const std::string& runAs) {
      ++asked;
      return grantBy(master, agent, user, runAs);
    };
    rpc.startMonitor("s1");
    rpc.give("s1", 2);
    rpc.startAgent("a1");
    client = rpc.client({"a1"}, heard);
  }

  static LateGrant grantBy(const SigningKey& key, const std::string& agent, const std::string& user,
                           const std::string& runAs) {
    return signedGrant({agent, user, runAs, systemClock().now().wall + kLateGrantLife}, key);
  }

  const SigningKey master;
  int asked = 0;
  std::unique_ptr<LateClient> client;
};

TEST_F(LateGrantsTest, AreAskedForOnceForAUser) {
  client->submit(lateJob(3));
  untilResults(3);
  client->submit(lateJob(3));
  untilResults(6);
  EXPECT_THAT(heard.results, Each(Field(&LateClientResult::code, 0)));
  EXPECT_EQ(asked, 1);
  HeardResults bobs;
  const auto bob = rpc.client({"a1"}, bobs, "bob");
  bob->submit(lateJob(1));
  rpc.until("bob's task is over", [&]() { return !bobs.results.empty(); });
  EXPECT_EQ(bobs.results[0].code, 0);
  EXPECT_EQ(asked, 2);
}

TEST_F(LateGrantsTest, OfManyUsersGoInSeveralMessages) {
  rpc.startMonitor("s2", true, {{"gpu", "true"}});
  constexpr size_t kUsers = 2 * kMaxGrantsAtOnce;
  std::vector<HeardResults> results(kUsers);
  std::vector<std::unique_ptr<LateClient>> clients;
  for (size_t i = 0; i < kUsers; ++i) {
    clients.push_back(rpc.client({"a1"}, results[i], "user-" + std::to_string(i)));
    LateClientJob job = lateJob(1);
    job.spec.placement.constraints = {{"gpu", Constraint::Operator::kEqual, {"true"}}};
    clients.back()->submit(job);
  }
  rpc.until("all have reservations", [this]() { return rpc.monitor("s2").load().queued >= kUsers; });
  rpc.give("s2", kUsers);
  rpc.until("all are over", [&]() {
    return std::ranges::all_of(results, [](const auto& of) { return of.results.size() == 1; });
  });
  for (const HeardResults& of : results)
    EXPECT_THAT(of.results, ElementsAre(Field(&LateClientResult::code, 0)));
}

TEST_F(LateGrantsTest, OfOthersHaveNothingStarted) {
  rpc.grant = [this](const std::string& agent, const std::string&, const std::string&) {
    return grantBy(master, agent, "bob", "bob");
  };
  client->submit(lateJob(3));
  untilResults(3);
  EXPECT_THAT(heard.results, Each(Field(&LateClientResult::code, kCodeNotStarted)));
  EXPECT_EQ(rpc.tasksOf("s1").started, 0u);
  EXPECT_EQ(rpc.monitor("s1").load().busy, 0u) << "the units are free again";
}

TEST_F(LateGrantsTest, AreWhatAJobIsRefusedWithout) {
  rpc.grant = [](const std::string&, const std::string&, const std::string&) -> kj::Promise<LateGrant> {
    return toException(denied("no user 'alice' is logged in at this agent"));
  };
  client->submit(lateJob(1));
  untilResults(1);
  EXPECT_THAT(heard.results[0].problem, HasSubstr("no user 'alice' is logged in"));
  EXPECT_EQ(rpc.tasksOf("s1").started, 0u);
}

TEST_F(LateGrantsTest, OfAMasterThatTheMonitorHasYetToMeetAreWaitedFor) {
  const SigningKey next;
  rpc.grant = [&next](const std::string& agent, const std::string& user, const std::string& runAs) {
    return grantBy(next, agent, user, runAs);
  };
  client->submit(lateJob(2));
  rpc.until("tasks came back", [this]() { return rpc.monitor("s1").load().counts.noneLeft > 2; });
  EXPECT_THAT(heard.results, IsEmpty());
  rpc.monitor("s1").masterAttached(next.publicKey());
  untilResults(2);
  EXPECT_THAT(heard.results, Each(Field(&LateClientResult::code, 0)));
  EXPECT_EQ(rpc.tasksOf("s1").started, 2u);
}

TEST_F(LateGrantsTest, KeepTheOrderOfWhatAClientAsks) {
  auto answer = kj::newPromiseAndFulfiller<LateGrant>();
  rpc.grant = [&answer, this](const std::string&, const std::string&, const std::string&) {
    ++asked;
    return kj::mv(answer.promise);
  };
  const late::ClientJob job = client->submit(lateJob(2));
  rpc.until("the master is asked", [this]() { return asked == 1; });
  client->cancel(job);
  rpc.settle();
  EXPECT_THAT(heard.results, IsEmpty());
  answer.fulfiller->fulfill(grantBy(master, "a1", "alice", "alice"));
  untilResults(2);
  EXPECT_THAT(heard.results, Each(Field(&LateClientResult::outcome, Outcome::kCancelled)));
  EXPECT_EQ(rpc.tasksOf("s1").started, 0u);
}

// One agent with a job of three tasks, of which one runs and two wait.
struct LateQueriesTest : LateRpcTest {
  LateQueriesTest() {
    rpc.startMonitor("s1", false);
    rpc.give("s1", 1);
    rpc.startAgent("a1");
    client = rpc.client({"a1"}, heard);
    client->submit(job);
    untilRunning("s1", 1);
    alice.user = "alice";
    bob.user = "bob";
    bob.role = Role::kSubmit;
  }

  LateBindingAgent& agent() { return rpc.agent("a1"); }
  // "name state queued active succeeded failed" of those that pass.
  std::vector<std::string> listed(const Caller& caller, const std::string& name = "") {
    capnp::MallocMessageBuilder message, answer;
    auto filter = message.initRoot<wire::JobFilter>();
    filter.setName(name.c_str());
    auto jobs = answer.initRoot<wire::ClientPort::LateJobsResults>();
    agent().list(caller, 10, filter.asReader(), jobs);
    std::vector<std::string> lines;
    for (auto one : jobs.asReader().getJobs()) {
      lines.push_back(kj::str(one.getName(), " ", tarcil::name(fromWire(one.getState())).data(), " ",
                              one.getQueued(), " ", one.getActive(), " ", one.getSucceeded(), " ",
                              one.getFailed())
                          .cStr());
    }
    return lines;
  }

  LateClientJob job = lateJob(3);
  std::unique_ptr<LateClient> client;
  Caller alice, bob;
};

TEST_F(LateQueriesTest, ListsJobsForThoseWhoMaySeeThem) {
  EXPECT_THAT(listed(alice), ElementsAre("short running 2 1 0 0"));
  EXPECT_THAT(listed(alice, "long"), IsEmpty());
  EXPECT_THAT(listed(bob), IsEmpty());
  const std::string prefix = toString(job.id).substr(0, 4);
  EXPECT_THAT(rpc.wait(agent().find(alice, prefix, 0)), ElementsAre(Pair(job.id, 1)));
  EXPECT_THAT(rpc.wait(agent().find(alice, "", 1)), ElementsAre(Pair(job.id, 1)));
  EXPECT_THAT(rpc.wait(agent().find(alice, prefix, 2)), IsEmpty()) << "the number counts where one is given";
  EXPECT_THAT(rpc.wait(agent().find(bob, prefix, 0)), IsEmpty());
  rpc.endOne("s1", 3);
  untilRunning("s1", 1);
  rpc.endOne("s1");
  untilRunning("s1", 1);
  EXPECT_THAT(listed(alice), ElementsAre("short running 0 1 1 1"));
  rpc.endOne("s1");
  untilResults(3);
  EXPECT_THAT(listed(alice), ElementsAre("short failed 0 0 2 1"));
}

TEST_F(LateQueriesTest, CancelsForThoseWhoMay) {
  EXPECT_EQ(agent().cancel(bob, job.id).error().code, ErrorCode::kNotFound);
  const auto before = agent().cancel(alice, job.id);
  ASSERT_TRUE(before.ok());
  EXPECT_EQ(*before, RunState::kRunning);
  untilResults(2);
  rpc.until("the task is told to stop", [this]() { return !rpc.tasksOf("s1").stopped.empty(); });
  rpc.endOne("s1", 143);
  untilResults(3);
  EXPECT_THAT(listed(alice), ElementsAre("short cancelled 0 0 0 3"));
  EXPECT_EQ(*agent().cancel(alice, job.id), RunState::kCancelled) << "it is over";
}

TEST_F(LateQueriesTest, TellsTasksThatAreOverInPages) {
  const LateClientJob large = lateJob(12'000);
  client->submit(large);
  rpc.until("it is held", [&]() { return listed(alice).size() == 2; });
  ASSERT_TRUE(agent().cancel(alice, large.id).ok());
  std::set<TaskIndex> over;
  uint32_t next = 0, answers = 0;
  do {
    capnp::MallocMessageBuilder answer;
    auto told = answer.initRoot<wire::LateJobDetails>();
    ASSERT_TRUE(agent().describe(alice, large.id, next, told).ok());
    EXPECT_LE(told.getOver().size(), 5'000u);
    for (auto task : told.getOver()) over.insert(task.getTask());
    next = told.getNextOver();
    ++answers;
  } while (next != 0);
  EXPECT_EQ(over.size(), 12'000u);
  EXPECT_EQ(answers, 3u);
}

TEST_F(LateQueriesTest, WaitsForATaskThatTheJobDoesNotHaveUntilTheJobIsOver) {
  auto place = agent().outputLocation(alice, job.id, 1'000'000, true);
  ASSERT_TRUE(agent().cancel(alice, job.id).ok());
  rpc.endOne("s1");
  EXPECT_TRUE(rpc.wait(kj::mv(place)).isOver);
}

TEST_F(LateQueriesTest, TellsWhoWaitsWhenTheJobIsOver) {
  bool isOver = false;
  auto waiting = agent().untilOver(alice, job.id).then([&isOver](RunState state) {
    isOver = true;
    EXPECT_EQ(state, RunState::kDone);
  });
  auto held = waiting.eagerlyEvaluate(nullptr);
  for (int i = 0; i < 3; ++i) {
    untilRunning("s1", 1);
    EXPECT_FALSE(isOver);
    rpc.endOne("s1");
  }
  rpc.until("the wait is over", [&isOver]() { return isOver; });
  EXPECT_EQ(rpc.wait(agent().untilOver(alice, job.id)), RunState::kDone) << "at once";
}

TEST_F(LateQueriesTest, KnowsWhereTheOutputOfATaskIsWhenThatIsOver) {
  const LateTask task = rpc.tasksOf("s1").running.front();
  const TaskIndex index = task.launch.task;
  EXPECT_EQ(rpc.wait(agent().outputLocation(alice, job.id, index, false)).address, "");
  auto place = agent().outputLocation(alice, job.id, index, true);
  rpc.endOne("s1");
  const auto found = rpc.wait(kj::mv(place));
  EXPECT_THAT(found.address, HasSubstr("/s1"));
  EXPECT_EQ(found.lease, task.lease);
  EXPECT_TRUE(found.isOver);
}

}  // namespace tarcil::rpc_test
