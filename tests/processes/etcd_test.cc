// A cluster whose master keeps its store in etcd.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <signal.h>

#include <filesystem>
#include <fstream>
#include <regex>

#include "rpc/token.h"
#include "tests/support/cluster.h"
#include "tests/support/etcd_cluster.h"

namespace tarcil::etcd_test {

using testing::HasSubstr;
using testing::UnorderedElementsAre;

std::string gatedScript(const TraceFolder& traces) {
  return traces.note("started") + traces.waitForGate() + traces.note("ended");
}

ClusterPlan onEtcd(const EtcdCluster& etcd, uint32_t masters = 1) {
  return {.servers = 2, .rus = 2, .masters = masters, .etcd = etcd.urlList()};
}

// What `tarcil master list` says of the one that leads; null where none does.
Json leaderOf(const TestCluster& cluster) {
  for (const Json& master : cluster.json({"master", "list"})) {
    if (master["leader"] == true) return master;
  }
  return nullptr;
}

Json masterOf(const TestCluster& cluster, const std::string& name) {
  for (const Json& master : cluster.json({"master", "list"})) {
    if (master["address"].get<std::string>().ends_with("/" + name + ".sock")) return master;
  }
  return nullptr;
}

void awaitAnotherLeaderThan(const TestCluster& cluster, const Json& former) {
  cluster.until("another master leads", [&]() {
    const Json leader = leaderOf(cluster);
    return !leader.is_null() && leader["term"] > former["term"];
  });
}

void awaitStandbys(const TestCluster& cluster, size_t count) {
  cluster.until("standbys hold the state", [&]() {
    size_t following = 0;
    for (const Json& master : cluster.json({"master", "list"}))
      following += master["leader"] == false && !master["behind_ms"].is_null() ? 1 : 0;
    return following == count;
  });
}

void expectEachRanOnce(const TraceFolder& traces) {
  EXPECT_THAT(traces.lines("started"), UnorderedElementsAre("0", "1", "2"));
  EXPECT_THAT(traces.lines("ended"), UnorderedElementsAre("0", "1", "2"));
}

TEST(MasterOnEtcd, KilledGoesOnWhereItWas) {
  SKIP_WITHOUT_CONTAINERS();
  SKIP_WITHOUT_ETCD();
  const EtcdCluster etcd;
  ManualCluster cluster(onEtcd(etcd));
  const std::string running = cluster.submit(shellJob(gatedScript(cluster.traces()), "tasks: 3\n"));
  cluster.traces().waitForLines("started", 3);
  const std::string waiting = cluster.submit(shellJob(cluster.traces().note("second"), "rus_per_task: 2\n"));
  cluster.kill("master");
  cluster.traces().openGate();
  cluster.traces().waitForLines("ended", 3);
  cluster.start("master");
  EXPECT_EQ(cluster.ended(running)["state"], "done");
  EXPECT_EQ(cluster.ended(waiting)["state"], "done");
  expectEachRanOnce(cluster.traces());
  EXPECT_EQ(cluster.traces().lines("second").size(), 1u);
  cluster.expectAllUnitsFree();
  EXPECT_EQ(cluster.run({"master", "check", "--etcd", etcd.urlList()}).exitCode, 0);
}

// As a master on another machine does, which has none of the files that the one before it wrote.
TEST(MasterOnEtcd, GoesOnWithTheAuditLogOfTheOneBefore) {
  SKIP_WITHOUT_CONTAINERS();
  SKIP_WITHOUT_ETCD();
  const EtcdCluster etcd;
  ManualCluster cluster(onEtcd(etcd));
  const std::string folder = cluster.data() + "/master/audit", before = cluster.data() + "/audit-before";
  const auto verify = [&cluster](std::vector<std::string> folders) {
    folders.insert(folders.begin(), {"audit", "--verify"});
    return cluster.run(folders);
  };
  for (int i = 0; i < 3; ++i) {
    cluster.submit(shellJob("true"));
    cluster.json({"audit"});
  }
  cluster.kill("master");
  std::filesystem::rename(folder, before);
  cluster.start("master");
  cluster.submit(shellJob("true"));
  const Json entries = cluster.json({"audit"});
  EXPECT_GT(entries.back()["term"], 0u);
  EXPECT_EQ(verify({before, folder}).exitCode, 0) << verify({before, folder}).err;
  EXPECT_EQ(verify({folder, before}).exitCode, 0) << verify({folder, before}).err;
  const ProcessResult alone = verify({folder});
  EXPECT_EQ(alone.exitCode, 1);
  EXPECT_THAT(alone.err, HasSubstr("missing before it"));
  const ProcessResult asked = cluster.run({"audit", "--verify"});
  EXPECT_EQ(asked.exitCode, 1);
  EXPECT_THAT(asked.err, HasSubstr("of several masters on machines of their own each has what it wrote"));
}

class EtcdFailpoint : public testing::TestWithParam<const char*> {};

TEST_P(EtcdFailpoint, LosesNothingAndRepeatsNothing) {
  SKIP_WITHOUT_CONTAINERS();
  SKIP_WITHOUT_ETCD();
  const EtcdCluster etcd;
  ClusterPlan plan = onEtcd(etcd);
  plan.failing = "master";
  plan.failpoint = GetParam();
  ManualCluster cluster(plan);
  const std::string script = cluster.traces().note("started") + cluster.traces().note("ended");
  const Json job = cluster.json({"submit", "--wait", cluster.jobFile(shellJob(script, "tasks: 3\n"))});
  cluster.waitForFailure();
  EXPECT_EQ(job["state"], "done");
  expectEachRanOnce(cluster.traces());
  cluster.expectAllUnitsFree();
  EXPECT_EQ(cluster.json({"job", "list"}).size(), 1u) << "the repeated submission did not find the job";
}

// The first batches are those of attaching.
INSTANTIATE_TEST_SUITE_P(Named, EtcdFailpoint,
                         testing::Values("etcd.before_batch:4", "etcd.after_batch:4", "etcd.before_fold"),
                         [](const auto& info) {
                           return std::regex_replace(std::string(info.param), std::regex("[.:]"), "_");
                         });

TEST(SeveralMasters, OneThatIsKilledIsFollowedByAnother) {
  SKIP_WITHOUT_CONTAINERS();
  SKIP_WITHOUT_ETCD();
  const EtcdCluster etcd({.members = 3});
  ManualCluster cluster(onEtcd(etcd, 3));
  awaitStandbys(cluster, 2);
  const Json former = leaderOf(cluster);
  EXPECT_EQ(former["pid"], cluster.pidOf("master-1"));
  const std::string job = cluster.submit(shellJob(gatedScript(cluster.traces()), "tasks: 3\n"));
  cluster.traces().waitForLines("started", 3);
  cluster.kill("master-1");
  cluster.traces().openGate();
  EXPECT_EQ(cluster.ended(job)["state"], "done");
  expectEachRanOnce(cluster.traces());
  EXPECT_GT(leaderOf(cluster)["term"], former["term"]);
  EXPECT_EQ(masterOf(cluster, "master-1")["pid"], nullptr);
  cluster.expectAllUnitsFree();
  cluster.start("master-1");
  awaitStandbys(cluster, 2);
  EXPECT_EQ(cluster.run({"master", "check", "--etcd", etcd.urlList()}).exitCode, 0);
}

TEST(SeveralMasters, ASubmissionThatCrossesAChangeOfLeaderIsOneJob) {
  SKIP_WITHOUT_CONTAINERS();
  SKIP_WITHOUT_ETCD();
  const EtcdCluster etcd;
  ClusterPlan plan = onEtcd(etcd, 2);
  plan.failing = "master-1";
  plan.failpoint = "etcd.after_batch:4";
  plan.staysDead = true;
  ManualCluster cluster(plan);
  const std::string script = cluster.traces().note("started") + cluster.traces().note("ended");
  const Json job = cluster.json({"submit", "--wait", cluster.jobFile(shellJob(script, "tasks: 3\n"))});
  cluster.waitForFailure();
  EXPECT_EQ(job["state"], "done");
  expectEachRanOnce(cluster.traces());
  EXPECT_EQ(cluster.json({"job", "list"}).size(), 1u) << "the repeated submission did not find the job";
}

TEST(SeveralMasters, OneThatIsStoppedWhileAnotherTakesOverTellsNothingMore) {
  SKIP_WITHOUT_CONTAINERS();
  SKIP_WITHOUT_ETCD();
  const EtcdCluster etcd;
  ManualCluster cluster(onEtcd(etcd, 2));
  const Json former = leaderOf(cluster);
  cluster.signal("master-1", SIGSTOP);
  awaitAnotherLeaderThan(cluster, former);
  const std::string job = cluster.submit(shellJob(cluster.traces().note("started")));
  cluster.signal("master-1", SIGCONT);
  const ProcessResult old = cluster.endOf("master-1");
  EXPECT_EQ(old.exitCode, 4) << old.err;
  EXPECT_THAT(cluster.logOf("master-1"), HasSubstr("the master stops: nothing answered is lost"));
  EXPECT_EQ(cluster.ended(job)["state"], "done");
  EXPECT_EQ(cluster.traces().lines("started").size(), 1u);
}

TEST(SeveralMasters, OneThatStandsByReadsItsTokensAgainAtSighup) {
  SKIP_WITHOUT_CONTAINERS();
  SKIP_WITHOUT_ETCD();
  const EtcdCluster etcd;
  ManualCluster cluster(onEtcd(etcd, 2));
  const Json former = leaderOf(cluster);
  const std::string token(32, 'c'), file = cluster.data() + "/ann.token";
  std::ofstream(cluster.data() + "/master/tokens", std::ios::app) << token << " ann submit nobody\n";
  ASSERT_TRUE(writeTokenFile(file, token).ok());
  cluster.signal("master-2", SIGHUP);
  cluster.until("it has read them", [&]() {
    return cluster.logOf("master-2").find("SIGHUP: the tokens in") != std::string::npos;
  });
  EXPECT_EQ(cluster.run({"job", "list", "--token-file", file}).exitCode, 3) << "the one that leads has not";
  cluster.kill("master-1");
  awaitAnotherLeaderThan(cluster, former);
  const ProcessResult listed = cluster.run({"job", "list", "--token-file", file});
  EXPECT_EQ(listed.exitCode, 0) << listed.err;
}

TEST(SeveralMasters, OneThatStepsDownIsFollowedAtOnce) {
  SKIP_WITHOUT_CONTAINERS();
  SKIP_WITHOUT_ETCD();
  const EtcdCluster etcd;
  // With a lease that nobody waits for.
  ClusterPlan plan = onEtcd(etcd, 2);
  plan.masterFlags = {"--etcd-lease", "5m"};
  ManualCluster cluster(plan);
  awaitStandbys(cluster, 1);
  const Json former = leaderOf(cluster);
  const std::string job = cluster.submit(shellJob(gatedScript(cluster.traces()), "tasks: 3\n"));
  cluster.traces().waitForLines("started", 3);
  const ProcessResult stepped = cluster.run({"master", "step-down"});
  EXPECT_EQ(stepped.exitCode, 0) << stepped.err;
  EXPECT_EQ(cluster.endOf("master-1").exitCode, 4);
  EXPECT_THAT(cluster.logOf("master-1"), HasSubstr("has stepped down"));
  awaitAnotherLeaderThan(cluster, former);
  cluster.traces().openGate();
  EXPECT_EQ(cluster.ended(job)["state"], "done");
  expectEachRanOnce(cluster.traces());
  const ProcessResult alone = cluster.run({"master", "step-down"});
  EXPECT_EQ(alone.exitCode, 1);
  EXPECT_THAT(alone.err, HasSubstr("no other master stands by"));
}

TEST(SeveralMasters, TheOnlyOneWithAFolderDoesNotStepDown) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.servers = 1, .rus = 1});
  EXPECT_EQ(leaderOf(cluster)["pid"], cluster.pidOf("master"));
  const ProcessResult refused = cluster.run({"master", "step-down"});
  EXPECT_NE(refused.exitCode, 0);
  EXPECT_THAT(refused.err, HasSubstr("this cluster has one master, whose store is in a folder"));
}

TEST(SeveralMasters, AreStartedWithTheirEtcdHereAndStopped) {
  SKIP_WITHOUT_CONTAINERS();
  SKIP_WITHOUT_ETCD();
  std::map<std::string, pid_t> pids;
  {
    SupervisedCluster cluster({"--masters", "3", "--etcd", "local", "--no-page"});
    for (const char* name : {"etcd-1", "etcd-2", "etcd-3", "master-1", "master-2", "master-3"})
      pids[name] = cluster.pidOf(name);
    awaitStandbys(cluster, 2);
    const Json former = leaderOf(cluster);
    ::kill(former["pid"], SIGKILL);
    EXPECT_EQ(cluster.ended(cluster.submit("command: ['true']\n"))["state"], "done");
    awaitStandbys(cluster, 2);
  }
  for (const auto& [name, pid] : pids) EXPECT_NE(::kill(pid, 0), 0) << name << " is still there";
}

TEST(MasterOnEtcd, GoesOnWhereAMemberOfEtcdIsKilled) {
  SKIP_WITHOUT_CONTAINERS();
  SKIP_WITHOUT_ETCD();
  EtcdCluster etcd({.members = 3});
  // It may be etcd's leader that is killed: the lease is to outlast the election of another.
  ClusterPlan plan = onEtcd(etcd);
  plan.masterFlags.insert(plan.masterFlags.end(), {"--etcd-lease", "30s"});
  ManualCluster cluster(plan);
  const std::string job = cluster.submit(shellJob(gatedScript(cluster.traces()), "tasks: 3\n"));
  cluster.traces().waitForLines("started", 3);
  etcd.kill(2);
  cluster.traces().openGate();
  EXPECT_EQ(cluster.ended(job)["state"], "done");
  expectEachRanOnce(cluster.traces());
}

TEST(MasterOnEtcd, InputFilesLeaveRoomInEtcdForTheRest) {
  SKIP_WITHOUT_CONTAINERS();
  SKIP_WITHOUT_ETCD();
  const EtcdCluster etcd;
  ClusterPlan plan = onEtcd(etcd);
  plan.masterFlags = {"--etcd-quota", "8MiB", "--disk-reserve", "0B"};
  ManualCluster cluster(plan);
  const std::string job = cluster.jobFile("command: ['true']\nfiles: [input]\n");
  const std::string input = std::filesystem::path(job).parent_path().string() + "/input";
  std::ofstream(input) << std::string(3 << 20, 'x');
  const ProcessResult refused = cluster.run({"submit", job});
  EXPECT_EQ(refused.exitCode, 1);
  EXPECT_THAT(refused.err, HasSubstr("2MiB (the master's --max-files-size"));
  std::ofstream(input) << std::string(1 << 20, 'x');
  EXPECT_EQ(cluster.run({"submit", "--wait", job}).exitCode, 0) << "a quarter of it is there for them";
}

TEST(StoreMoved, FromAFolderIntoEtcdAndBackIsTheSameCluster) {
  SKIP_WITHOUT_CONTAINERS();
  SKIP_WITHOUT_ETCD();
  const EtcdCluster etcd;
  ManualCluster cluster({.servers = 1, .rus = 1});
  const std::string job = cluster.submit(shellJob(gatedScript(cluster.traces())));
  cluster.traces().waitForLines("started", 1);
  cluster.kill("master");
  const std::string store = cluster.data() + "/master/store";
  const ProcessResult imported = cluster.run({"master", "import", "--etcd", etcd.urlList(), store});
  ASSERT_EQ(imported.exitCode, 0) << imported.err;
  Process master =
      cluster.startCommand({"serve", "master", "--data", cluster.data(), "--etcd", etcd.urlList()});
  ASSERT_TRUE(master.waitFor("ready"));
  cluster.until("it runs on", [&]() { return cluster.status(job)["state"] == "running"; });
  cluster.traces().openGate();
  EXPECT_EQ(cluster.ended(job)["state"], "done");
  const ProcessResult refused =
      cluster.run({"master", "export", "--etcd", etcd.urlList(), cluster.data() + "/copy"});
  EXPECT_EQ(refused.exitCode, 2);
  EXPECT_THAT(refused.err, HasSubstr("a master leads under /tarcil/; stop all masters first"));
  master.signal(SIGTERM);
  master.finish();
  std::filesystem::rename(store, store + ".old");
  const ProcessResult exported = cluster.run({"master", "export", "--etcd", etcd.urlList(), store});
  ASSERT_EQ(exported.exitCode, 0) << exported.err;
  cluster.start("master");
  EXPECT_EQ(cluster.status(job)["state"], "done");
  EXPECT_EQ(cluster.ended(cluster.submit("command: ['true']\n"))["state"], "done");
}

class MasterThatCannotUseEtcd : public testing::Test {
 protected:
  MasterThatCannotUseEtcd() {
    std::filesystem::create_directories(cluster_.data() + "/master");
    std::filesystem::create_directories(cluster_.data() + "/run");
    const std::string tokens = cluster_.data() + "/master/tokens";
    std::ofstream(tokens) << std::string(64, 'a') << " alice operate\n";
    std::filesystem::permissions(tokens,
                                 std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  }
  // It ends with exit code 2; what it said.
  std::string refusal(std::vector<std::string> more) {
    std::vector<std::string> words = {"serve", "master", "--data", cluster_.data()};
    words.insert(words.end(), more.begin(), more.end());
    const ProcessResult result = cluster_.run(words);
    EXPECT_EQ(result.exitCode, 2) << result.err;
    return result.err;
  }

  TestCluster cluster_;
};

TEST_F(MasterThatCannotUseEtcd, SaysThatNobodyAnswers) {
  SKIP_WITHOUT_ETCD();
  EtcdCluster etcd;
  etcd.kill(0);
  EXPECT_THAT(refusal({"--etcd", etcd.urlList()}),
              HasSubstr("tarcil: --etcd: no answer from etcd at " + etcd.urlList()));
}

TEST_F(MasterThatCannotUseEtcd, SaysThatTheStoreIsNotThere) {
  SKIP_WITHOUT_ETCD();
  const EtcdCluster etcd;
  EXPECT_THAT(refusal({"--etcd", etcd.urlList(), "--etcd-prefix", "/wrong/"}),
              HasSubstr("there is no store in etcd under /wrong/: is the prefix right?"));
  EXPECT_TRUE(etcd.client()->get({.key = "/", .end = "0"}, std::chrono::seconds(20))->records.empty())
      << "nothing is written";
}

TEST_F(MasterThatCannotUseEtcd, SaysThatTheStoreIsOfANewerVersion) {
  SKIP_WITHOUT_ETCD();
  const EtcdCluster etcd;
  etcd.control({"put", "/tarcil/format", "999"});
  EXPECT_THAT(refusal({"--etcd", etcd.urlList()}),
              HasSubstr("was written by a newer version of tarcil (format 999"));
  EXPECT_EQ(etcd.client()->get({.key = "/", .end = "0"}, std::chrono::seconds(20))->records.size(), 1u)
      << "nothing is written";
}

TEST_F(MasterThatCannotUseEtcd, SaysThatSomethingElseIsThere) {
  SKIP_WITHOUT_ETCD();
  const EtcdCluster etcd;
  etcd.control({"put", "/tarcil/something", "else"});
  EXPECT_THAT(refusal({"--etcd", etcd.urlList(), "--etcd-new"}), HasSubstr("keys that are no whole store"));
}

TEST_F(MasterThatCannotUseEtcd, SaysThatItIsNotLetIn) {
  SKIP_WITHOUT_ETCD();
  const EtcdCluster etcd;
  etcd.control({"user", "add", "root:secret"});
  etcd.control({"auth", "enable"});
  const std::string file = cluster_.data() + "/master/etcd-password";
  std::ofstream(file) << "wrong\n";
  std::filesystem::permissions(file,
                               std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  EXPECT_THAT(
      refusal({"--etcd", etcd.urlList(), "--etcd-new", "--etcd-user", "root", "--etcd-password-file", file}),
      HasSubstr("authentication failed, invalid user ID or password"));
  EXPECT_THAT(refusal({"--etcd", etcd.urlList(), "--etcd-new"}), HasSubstr("user name is empty"));
}

// Before it leads, and before anything is written.
TEST_F(MasterThatCannotUseEtcd, SaysThatItCannotListen) {
  SKIP_WITHOUT_ETCD();
  const EtcdCluster etcd;
  EXPECT_THAT(refusal({"--etcd", etcd.urlList(), "--etcd-new", "--listen", "unix:/nowhere/at-all.sock"}),
              HasSubstr("--listen"));
  EXPECT_TRUE(etcd.client()->get({.key = "/", .end = "0"}, std::chrono::seconds(20))->records.empty());
}

TEST_F(MasterThatCannotUseEtcd, SaysWhatIsWrongWithItsOptions) {
  SKIP_WITHOUT_ETCD();
  EXPECT_THAT(refusal({"--etcd", "10.0.0.1"}),
              HasSubstr("--etcd: '10.0.0.1' is no URL of etcd; write http://host:port"));
  EXPECT_THAT(refusal({"--etcd", "http://a:1", "--etcd-prefix", "x"}),
              HasSubstr("--etcd-prefix: 'x' is none"));
  EXPECT_THAT(refusal({"--etcd", "http://a:1", "--etcd-user", "x"}),
              HasSubstr("--etcd-user: needs --etcd-password-file"));
  EXPECT_THAT(refusal({"--etcd", "http://a:1", "--store", "x"}), HasSubstr("--store"));
  EXPECT_THAT(refusal({"--etcd", "http://a:1", "--read-only"}),
              HasSubstr("--read-only: shows a store in a folder"));
}

}  // namespace tarcil::etcd_test
