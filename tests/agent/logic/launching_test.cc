#include <gtest/gtest.h>

#include "tests/agent/agent_harness.h"

namespace tarcil::launching_test {

using namespace std::chrono_literals;
using Outcome = agent::LaunchAnswered::Outcome;

JobRecord record(uint8_t id) {
  return {
      .id = jobId(id), .spec = aJob(2), .user = "alice", .runAs = "batch", .hasFiles = true, .submitted = {}};
}

TaskAssignment startingAt(ServerId server, AllocationId allocation) {
  return {.index = 0,
          .attempt = 2,
          .state = RunState::kStarting,
          .allocation = allocation,
          .server = server,
          .rus = {3}};
}

// An agent that has launched the one task of job 1.
struct Launched : AgentHarness {
  Launched() : AgentHarness({aServer("a")}) {
    attach();
    submitted(aJob(1));
  }
};

// The answer may come from a machine that is lost by then: the master says "starting" of what its successor
// does not know.
TEST(Launching, IsRepeatedWhereTheMasterAskedForItBeforeTheAnswer) {
  Launched h;
  ASSERT_EQ(h.launches.size(), 1u);
  const AllocationId allocation = h.launches[0].spec.allocation;
  h.tell(h.master.unfinishedJobs().at(0));
  EXPECT_EQ(h.launches.size(), 1u) << "it is under way";
  h.launchAnswered(allocation, Outcome::kAccepted);
  h.pass(10s);
  ASSERT_EQ(h.launches.size(), 2u);
  EXPECT_EQ(h.launches[1].spec.allocation, allocation);
  h.launchAnswered(allocation, Outcome::kAccepted);
  h.pass(10s);
  EXPECT_EQ(h.launches.size(), 2u);
}

TEST(Launching, SaysWhichExtrasTheTaskWasGiven) {
  AgentHarness h({aServer("a").extra("gpus", 4)});
  h.attach();
  JobSpec spec = aJob(2);
  spec.extras = {{"gpus", 2}};
  h.submitted(spec);
  ASSERT_EQ(h.launches.size(), 2u);
  EXPECT_EQ(h.launches[0].spec.extras, (ExtraNumbers{{"gpus", {0, 1}}}));
  EXPECT_EQ(h.launches[1].spec.extras, (ExtraNumbers{{"gpus", {2, 3}}}));
}

TEST(Launching, SaysWhichExtrasATaskHasThatWasTakenOver) {
  AgentHarness h({aServer("a").extra("gpus", 4)});
  h.attach();
  TaskAssignment starting = startingAt(0, 7);
  starting.extras = {{"gpus", {3}}};
  h.tell(h.master.handOver(record(1), {starting}));
  ASSERT_EQ(h.launches.size(), 1u);
  EXPECT_EQ(h.launches[0].spec.extras, starting.extras);
}

TEST(Launching, WaitsWhereExtrasAreTakenAndGoesOnWhenTheyAreFree) {
  AgentHarness h({aServer("a").extra("gpus", 1)});
  h.attach();
  JobSpec spec = aJob(1);
  spec.extras = {{"gpus", 1}};
  h.submitted(spec);
  h.submitted(spec, jobId(2));
  EXPECT_EQ(h.launches.size(), 1u);
  h.endTask(jobId(1), 0);
  h.takeCommits();
  ASSERT_EQ(h.launches.size(), 2u);
  EXPECT_EQ(h.launches[1].spec.job, jobId(2));
}

TEST(Launching, SaysWhatIsExpectedOnThePlatformOfTheServer) {
  AgentHarness h({aServer("a").platform("haswell")});
  h.attach();
  JobSpec spec = aJob(1);
  spec.earlier = {{"broadwell", 50}, {"haswell", 90}};
  h.submitted(spec);
  spec.earlier = {{"broadwell", 50}};
  h.submitted(spec, jobId(2));
  ASSERT_EQ(h.launches.size(), 2u);
  EXPECT_EQ(h.launches[0].spec.earlier, 90);
  EXPECT_EQ(h.launches[1].spec.earlier, 0) << "of other platforms alone";
}

TEST(Launching, SaysAllThatTheMonitorNeeds) {
  AgentHarness h({aServer("a")});
  h.attach();
  JobSpec spec = aJob(2);
  spec.command = {"run", "me"};
  spec.env = {{"K", "v"}};
  spec.timeout = 5s;
  spec.grace = 3s;
  spec.workdir = "/srv";
  h.submitted(spec);
  ASSERT_EQ(h.launches.size(), 2u);
  EXPECT_EQ(h.launches[1].address, "monitor of a");
  const LaunchSpec& launch = h.launches[1].spec;
  EXPECT_EQ(launch.allocation, h.master.task(jobId(1), 1).allocation);
  EXPECT_EQ(launch.rus, h.master.task(jobId(1), 1).rus);
  EXPECT_EQ(launch.job, jobId(1));
  EXPECT_EQ(launch.task, 1u);
  EXPECT_EQ(launch.tasks, 2u);
  EXPECT_EQ(launch.server, "a");
  EXPECT_EQ(launch.command, spec.command);
  EXPECT_EQ(launch.env, spec.env);
  EXPECT_EQ(launch.workdir, "/srv");
  EXPECT_EQ(launch.user, "alice");
  EXPECT_EQ(launch.timeout, spec.timeout);
  EXPECT_EQ(launch.grace, spec.grace);
  EXPECT_FALSE(launch.hasFiles);
}

JobSpec aGang(uint32_t tasks) {
  JobSpec spec = aJob(tasks);
  spec.schedule = Schedule::kGang;
  spec.placement.spread = Domain::kServer;
  spec.placement.atMost = 1;
  return spec;
}

// An agent that has launched the gang of job 1, a task on each of three servers.
struct LaunchedGang : AgentHarness {
  LaunchedGang() : AgentHarness({aServer("a"), aServer("b"), aServer("c")}) {
    for (ServerId id = 0; id < 3; ++id) master.facts(id).address = host(id) + ":1";
    attach();
    submitted(aGang(3));
  }
  static std::string host(ServerId id) { return "host-" + std::to_string(id); }
  std::string hostOfTask(TaskIndex task) const { return host(master.task(jobId(1), task).server); }
  std::string allHosts() const { return hostOfTask(0) + "," + hostOfTask(1) + "," + hostOfTask(2); }
};

TEST(LaunchesOfAGang, SayWhereAllOfItsTasksAre) {
  LaunchedGang h;
  ASSERT_EQ(h.launches.size(), 3u);
  for (const agent::Launch& launch : h.launches) {
    ASSERT_TRUE(launch.spec.gang);
    EXPECT_EQ(launch.spec.gang->list, h.allHosts());
    EXPECT_EQ(launch.spec.gang->file, h.hostOfTask(0) + " slots=1\n" + h.hostOfTask(1) + " slots=1\n" +
                                          h.hostOfTask(2) + " slots=1\n");
  }
}

TEST(LaunchesOfAGang, AreAloneInSayingSo) {
  Launched h;
  EXPECT_EQ(h.launches[0].spec.gang, std::nullopt);
}

TEST(LaunchesOfAGang, SayWhereItsTasksAreNowWhenItIsStartedAgain) {
  LaunchedGang h;
  h.holdOffers();
  for (TaskIndex task = 0; task < 3; ++task) h.tell(h.master.requeue(jobId(1), task, Duration::zero()));
  h.tellServers();
  h.master.facts(0).address = "elsewhere:1";
  h.tellServer(0);
  h.launches.clear();
  h.offerJobs();
  h.takeCommits();
  ASSERT_EQ(h.launches.size(), 3u);
  std::vector<std::string> hosts;
  for (TaskIndex task = 0; task < 3; ++task) {
    const ServerId server = h.master.task(jobId(1), task).server;
    hosts.push_back(server == 0 ? "elsewhere" : LaunchedGang::host(server));
  }
  for (const agent::Launch& launch : h.launches) {
    EXPECT_EQ(launch.spec.gang->list, hosts[0] + "," + hosts[1] + "," + hosts[2]);
  }
}

TEST(LaunchesOfAGang, HaveNoHostOfATaskThatHasEnded) {
  LaunchedGang h;
  h.launches.clear();
  h.endTask(jobId(1), 0);
  h.tell(h.master.requeue(jobId(1), 2, Duration::zero()));
  h.tellServers();
  h.offerJobs();
  h.takeCommits();
  ASSERT_EQ(h.launches.size(), 1u);
  EXPECT_EQ(h.launches[0].spec.task, 2u);
  EXPECT_EQ(h.launches[0].spec.gang->list, "," + h.hostOfTask(1) + "," + h.hostOfTask(2));
}

// With the list of its jobs an agent hears of servers by number only.
TEST(LaunchesOfAGang, WaitForTheStateOfTheServersAfterAnAttachment) {
  LaunchedGang h;
  for (const agent::Launch& launch : std::vector(h.launches))
    h.launchAnswered(launch.spec.allocation, Outcome::kAccepted);
  h.loseMaster();
  h.launches.clear();
  h.attachOnly();
  EXPECT_TRUE(h.launches.empty());
  h.feedSnapshot();
  ASSERT_EQ(h.launches.size(), 3u);
  for (const agent::Launch& launch : h.launches) EXPECT_EQ(launch.spec.gang->list, h.allHosts());
}

TEST(Launching, RetriedUntilAMonitorAccepts) {
  Launched h;
  const AllocationId allocation = h.launches[0].spec.allocation;
  h.launchAnswered(allocation, Outcome::kUnreachable);
  h.pass(199ms);
  EXPECT_EQ(h.launches.size(), 1u);
  h.pass(1ms);
  ASSERT_EQ(h.launches.size(), 2u);
  EXPECT_EQ(h.launches[1].spec, h.launches[0].spec);
  h.launchAnswered(allocation, Outcome::kAccepted);
  h.pass(1min);
  EXPECT_EQ(h.launches.size(), 2u);
}

TEST(Launching, PausesBetweenTriesGrowToTwoSeconds) {
  Launched h;
  for (int tries = 1; tries <= 20; ++tries) {
    h.launchAnswered(h.launches[0].spec.allocation, Outcome::kUnreachable);
    h.pass(2s);
    EXPECT_EQ(h.launches.size(), 1u + static_cast<size_t>(tries));
  }
  h.launchAnswered(h.launches[0].spec.allocation, Outcome::kUnreachable);
  h.pass(1999ms);
  EXPECT_EQ(h.launches.size(), 21u);
}

TEST(Launching, RevokedLaunchIsForgotten) {
  Launched h;
  h.launchAnswered(h.launches[0].spec.allocation, Outcome::kRevoked);
  h.pass(1min);
  EXPECT_EQ(h.launches.size(), 1u);
}

TEST(Launching, NotRetriedOnceTheMasterSaysOtherwise) {
  Launched h;
  h.launchAnswered(h.launches[0].spec.allocation, Outcome::kUnreachable);
  h.tell(h.master.run(jobId(1), 0));
  h.pass(1min);
  EXPECT_EQ(h.launches.size(), 1u);
}

TEST(Launching, RetryGoesToTheNewestAddress) {
  Launched h;
  h.launchAnswered(h.launches[0].spec.allocation, Outcome::kUnreachable);
  h.master.facts(0).address = "elsewhere";
  h.tellServer(0);
  ASSERT_EQ(h.launches.size(), 2u);  // at once: the monitor is back
  EXPECT_EQ(h.launches[1].address, "elsewhere");
}

TEST(Launching, TakenOverJobLaunchesWhatIsStarting) {
  AgentHarness h({aServer("a"), aServer("b")});
  h.attach();
  h.tell(h.master.handOver(record(7), {startingAt(1, 55)}));
  ASSERT_EQ(h.launches.size(), 1u);
  EXPECT_EQ(h.launches[0].address, "monitor of b");
  EXPECT_EQ(h.launches[0].spec.allocation, 55u);
  EXPECT_EQ(h.launches[0].spec.attempt, 2u);
  EXPECT_EQ(h.launches[0].spec.user, "batch");
  EXPECT_TRUE(h.launches[0].spec.hasFiles);
}

TEST(Launching, TakenOverJobPlacesWhatIsQueued) {
  AgentHarness h({aServer("a")});
  h.attach();
  h.tell(h.master.handOver(record(7), {{.index = 0, .rus = {}}, {.index = 1, .rus = {}}}));
  h.takeCommits();
  EXPECT_EQ(h.launches.size(), 2u);
}

TEST(Launching, WaitsForTheFactsOfItsServer) {
  AgentHarness h({aServer("a")});
  h.master.handOver(record(7), {startingAt(0, 55)});
  h.attachOnly();
  EXPECT_TRUE(h.launches.empty());
  h.feedSnapshot();
  EXPECT_EQ(h.launches.size(), 1u);
}

TEST(Launching, AcceptedLaunchIsSentAgainWhereTheMasterStillWaitsForIt) {
  Launched h;
  h.launchAnswered(h.launches[0].spec.allocation, Outcome::kAccepted);
  h.loseMaster();
  h.attach();
  ASSERT_EQ(h.launches.size(), 2u);
  EXPECT_EQ(h.launches[1].spec, h.launches[0].spec);
}

TEST(Launching, LateGrantOfACancelledJobIsNotLaunched) {
  AgentHarness h({aServer("a")});
  h.attach();
  h.submitted(aJob(1));
  h.tell(h.master.requeue(jobId(1), 0, 0s));
  h.tellServers();
  ASSERT_EQ(h.commits.size(), 1u);
  const CommitAnswer granted = h.master.take(h.commits[0]);
  h.tell(h.master.cancel(jobId(1)));
  h.handle(agent::CommitAnswered{granted});
  EXPECT_EQ(h.launches.size(), 1u);  // the first attempt's
  EXPECT_EQ(h.agent.load().jobs, 0u);
  EXPECT_EQ(h.agent.load().commits, 0u);
}

TEST(Launching, CancelledJobIsForgottenWithItsLaunches) {
  Launched h;
  h.launchAnswered(h.launches[0].spec.allocation, Outcome::kUnreachable);
  h.tell(h.master.cancel(jobId(1)));
  h.pass(1min);
  EXPECT_EQ(h.launches.size(), 1u);
  EXPECT_EQ(h.agent.load().jobs, 0u);
}

}  // namespace tarcil::launching_test
