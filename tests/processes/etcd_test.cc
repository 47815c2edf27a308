// A cluster whose master keeps its store in etcd.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>

#include "tests/support/cluster.h"
#include "tests/support/etcd_cluster.h"

namespace tarcil::etcd_test {

using testing::HasSubstr;
using testing::UnorderedElementsAre;

std::string gatedScript(const TraceFolder& traces) {
  return traces.note("started") + traces.waitForGate() + traces.note("ended");
}

ClusterPlan onEtcd(const EtcdCluster& etcd) {
  return {.servers = 2, .rus = 2, .masterFlags = {"--etcd", etcd.urlList(), "--etcd-new"}};
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

TEST(MasterOnEtcd, IsFollowedByTheOneThatWaits) {
  SKIP_WITHOUT_CONTAINERS();
  SKIP_WITHOUT_ETCD();
  const EtcdCluster etcd({.members = 3});
  ManualCluster cluster(onEtcd(etcd));
  Process standby =
      cluster.startCommand({"serve", "master", "--data", cluster.data(), "--etcd", etcd.urlList()});
  ASSERT_TRUE(standby.waitFor("waits until no other master leads"));
  const std::string job = cluster.submit(shellJob(gatedScript(cluster.traces()), "tasks: 3\n"));
  cluster.traces().waitForLines("started", 3);
  cluster.kill("master");
  cluster.traces().openGate();
  ASSERT_TRUE(standby.waitFor("leads (term"));
  EXPECT_EQ(cluster.ended(job)["state"], "done");
  expectEachRanOnce(cluster.traces());
  cluster.expectAllUnitsFree();
  standby.signal(SIGTERM);
  EXPECT_EQ(standby.finish().exitCode, 0);
}

TEST(MasterOnEtcd, ThatIsStoppedWhileAnotherTakesOverTellsNothingMore) {
  SKIP_WITHOUT_CONTAINERS();
  SKIP_WITHOUT_ETCD();
  const EtcdCluster etcd;
  ManualCluster cluster(onEtcd(etcd));
  Process standby =
      cluster.startCommand({"serve", "master", "--data", cluster.data(), "--etcd", etcd.urlList()});
  ASSERT_TRUE(standby.waitFor("waits until no other master leads"));
  cluster.signal("master", SIGSTOP);
  ASSERT_TRUE(standby.waitFor("leads (term"));
  cluster.signal("master", SIGCONT);
  const ProcessResult old = cluster.endOf("master");
  EXPECT_EQ(old.exitCode, 4) << old.err;
  EXPECT_THAT(cluster.logOf("master"), HasSubstr("the master stops: nothing answered is lost"));
  EXPECT_EQ(cluster.ended(cluster.submit("command: ['true']\n"))["state"], "done");
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
  EXPECT_EQ(cluster.status(job)["state"], "running");
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
