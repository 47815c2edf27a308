// `tarcil plan` as a user meets it: what it prints, and what it exits with.
#include <gtest/gtest.h>

#include "formats/json.h"
#include "tests/cli/running_tarcil.h"
#include "tests/support/scratch_folder.h"

namespace tarcil::plan_command_test {

// Two servers of four units, of which s1 holds a task of somebody's.
std::vector<ScriptedServer> serversWithANeighbour() {
  std::vector<ScriptedServer> servers(2);
  for (ScriptedServer& server : servers) {
    server.facts.rus = 4;
    server.status.up = true;
  }
  servers[0].facts.name = "s0";
  servers[1].facts.name = "s1";
  servers[1].facts.platform = "haswell";
  ScriptedServer::Task task;
  task.job = idOf(1);
  task.index = 2;
  task.rus = {0};
  task.caused[4] = 30;
  task.tolerated.fill(99);
  task.tolerated[4] = 40;
  servers[1].tasks = {task};
  servers[1].status.background[4] = 3;
  return servers;
}

Claim claimOf(TaskIndex task, ServerId server, std::vector<RuIndex> rus) {
  Claim claim;
  claim.task = task;
  claim.server = server;
  claim.preferred = std::move(rus);
  claim.q = 0.9;
  claim.s = 0.98;
  return claim;
}

ClusterScript aScriptedPlan() {
  ClusterScript script;
  script.servers = serversWithANeighbour();
  JobPlan& plan = script.plan;
  plan.claims = {claimOf(0, 0, {1}), claimOf(1, 1, {2}), claimOf(2, 1, {3})};
  plan.explanation.drawn = 12;
  plan.explanation.acceptable = 6;
  plan.explanation.wanted = plan.explanation.placed = 3;
  plan.explanation.best.resize(12);
  for (Candidate& candidate : plan.explanation.best) candidate.server = 1;
  plan.servers = {{0, "s0", "default"}, {1, "s1", "haswell"}};
  plan.usableUnits = 8;
  plan.freeUnits = 7;
  return script;
}

// A job of three tasks, each causing 20 on the last-level cache and half as fast on haswell.
class PlanTest : public testing::Test {
 protected:
  explicit PlanTest(const std::string& more = "tasks: 3\n") {
    folder_.write("job.yaml",
                  "command: [\"true\"]\nprofile: {caused: {llc: 20}, tolerated: {llc: 60},"
                  " platforms: {haswell: 0.5, default: 1}}\n" +
                      more);
  }

  Words words(const Words& more = {}) const {
    Words words = {"plan", folder_.at("job.yaml")};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  ScratchFolder folder_;
};

TEST_F(PlanTest, SaysForEachTaskWhereItWouldGoAndWhatWasLookedAt) {
  const ScriptedCluster cluster(aScriptedPlan());
  const Json json = jsonOf(tarcil(words({"--json", "--seed", "18446744073709551615"}), cluster));
  ASSERT_EQ(json["decision"].size(), 3u) << json;
  const Json& entry = json["decision"][1];
  EXPECT_EQ(entry["task"], 1);
  EXPECT_EQ(entry["chosen"], (Json{{"server", "s1"}, {"rus", {2}}, {"q", 0.9}, {"s", 0.98}}));
  EXPECT_EQ(entry["p"], 0.5);
  EXPECT_EQ(entry["best"].size(), 12u);
  EXPECT_EQ(entry["best"][0]["server"], "s1");
  EXPECT_EQ(entry["seed"], UINT64_MAX);
  for (const char* key : {"ratio", "drawn", "guarantee", "dropped"}) EXPECT_TRUE(entry.contains(key)) << key;
  EXPECT_EQ(json["reason"], nullptr);
  EXPECT_EQ(json["units"], (Json{{"usable", 8}, {"free", 7}}));
  EXPECT_EQ(cluster.record().submissions, 0u);
  ASSERT_EQ(cluster.record().planned.size(), 1u);
  EXPECT_EQ(cluster.record().planned[0].tasks, 3u);
}

TEST_F(PlanTest, SaysWhatTheNeighboursWouldLose) {
  ClusterScript script = aScriptedPlan();
  const ScriptedCluster cluster(script);
  const Json json = jsonOf(tarcil(words({"--json"}), cluster));
  ASSERT_EQ(json["neighbours"].size(), 1u) << json;
  const Json& neighbour = json["neighbours"][0];
  EXPECT_EQ(neighbour["job"], toString(idOf(1)));
  EXPECT_EQ(neighbour["task"], 2);
  EXPECT_EQ(neighbour["slack_before"]["llc"], 40 - 3);
  EXPECT_EQ(neighbour["slack_after"]["llc"], 40 - 3 - 2 * 20);
  EXPECT_EQ(neighbour["slack_before"]["tlb"], nullptr) << "bears anything there";
  const ProcessResult people = tarcil(words(), cluster);
  EXPECT_NE(people.out.find("1.2        s1      3.0 %  llc       37         -3"), std::string::npos)
      << people.out;
  EXPECT_NE(people.out.find("Would slow 1.2 on s1 by 3.0 %."), std::string::npos) << people.out;
  EXPECT_EQ(neighbour["s_before"], 1.0);
  EXPECT_NEAR(neighbour["s_after"].get<double>(), 96 / 99.0, 0.001);
  script.plan.explanation.price = 0.62;
  script.plan.explanation.waitingJobs = 14;
  const ScriptedCluster busy(script);
  EXPECT_NE(tarcil(words(), busy).out.find("Would slow 1.2 on s1 by 3.0 %; worth it: 14 jobs wait."),
            std::string::npos);

  script.platforms["haswell"] = fullShare();
  script.platforms["haswell"][4] = kShareUnit / 2;
  const ScriptedCluster scaled(script);
  const Json less = jsonOf(tarcil(words({"--json"}), scaled))["neighbours"][0];
  EXPECT_EQ(less["slack_after"]["llc"].get<int>(), less["slack_before"]["llc"].get<int>() - 20);

  script.platforms.clear();
  script.settings.contention = ContentionModel::kMean;
  const ScriptedCluster mean(script);
  EXPECT_EQ(jsonOf(tarcil(words({"--json"}), mean))["neighbours"][0]["slack_after"]["llc"], 40 - 13 - 3);
}

TEST_F(PlanTest, TellsPeopleWhereTasksWouldGo) {
  const ScriptedCluster cluster(aScriptedPlan());
  const ProcessResult people = tarcil(words({"--seed", "7"}), cluster);
  EXPECT_EQ(people.exitCode, 0);
  EXPECT_EQ(people.err, "");
  for (const char* text :
       {"Would start  = 3 of 3 tasks\n", "Free units   = 7 of 8 now, 4 afterwards\n", "Sensitive to = llc\n",
        "0     s0      1    0.9000  0.9800  0.9800\n", "1     s1      2    0.9000  0.9800  0.4900\n", "= 7\n",
        "Best ", "and 2 more candidates; --verbose shows all\n"}) {
    EXPECT_NE(people.out.find(text), std::string::npos) << text << "\n" << people.out;
  }
  EXPECT_EQ(people.out.find("Would wait"), std::string::npos) << people.out;
  const ProcessResult all = tarcil(words({"--verbose"}), cluster);
  EXPECT_EQ(all.out.find("--verbose"), std::string::npos) << all.out;
  EXPECT_NE(all.out.find("1.2"), std::string::npos) << all.out;
}

TEST_F(PlanTest, SaysWhyTasksWouldWaitAndWhatIsFree) {
  ClusterScript script = aScriptedPlan();
  script.plan.claims.resize(1);
  script.plan.waitReason = "no free unit: 8 of 8 are taken";
  script.plan.freeUnits = 1;
  const ScriptedCluster cluster(script);
  const Json json = jsonOf(tarcil(words({"--json"}), cluster));
  EXPECT_EQ(json["decision"][0]["chosen"]["server"], "s0");
  EXPECT_EQ(json["decision"][2]["chosen"], nullptr);
  EXPECT_EQ(json["placed"], 1);
  EXPECT_EQ(json["reason"], "no free unit: 8 of 8 are taken");
  EXPECT_EQ(json["neighbours"], Json::array());
  const ProcessResult people = tarcil(words(), cluster);
  EXPECT_EQ(people.exitCode, 0);
  for (const char* text : {"Would start  = 1 of 3 tasks\n", "Would wait   = 2 tasks\n",
                           "Because      = no free unit: 8 of 8 are taken\n", "= 1 of 8 now, 0 afterwards\n",
                           "\nNobody's slack changes.\n"}) {
    EXPECT_NE(people.out.find(text), std::string::npos) << text << "\n" << people.out;
  }
}

TEST_F(PlanTest, ShowsNoDrawsWhereThereWereNone) {
  ClusterScript script;
  script.plan.explanation.wanted = 3;
  script.plan.waitReason = "no free unit: 8 of 8 are taken";
  const ScriptedCluster cluster(script);
  const ProcessResult people = tarcil(words(), cluster);
  EXPECT_NE(people.out.find("\nNo slot was looked at.\n"), std::string::npos) << people.out;
  EXPECT_EQ(people.out.find("Guarantee"), std::string::npos) << people.out;
  EXPECT_EQ(people.out.find("slack"), std::string::npos) << people.out;
  EXPECT_EQ(jsonOf(tarcil(words({"--json"}), cluster))["decision"][0]["drawn"], 0);
}

TEST_F(PlanTest, IsRefusedAsASubmissionIs) {
  ClusterScript script;
  script.refusal = invalid("no server has 64 resource units; the largest has 8");
  const ScriptedCluster cluster(script);
  const ProcessResult planned = tarcil(words(), cluster);
  const ProcessResult submitted = tarcil({"submit", folder_.at("job.yaml")}, cluster);
  EXPECT_EQ(planned.exitCode, submitted.exitCode);
  EXPECT_EQ(planned.err, submitted.err);
  EXPECT_EQ(planned.out, "");
}

TEST_F(PlanTest, RefusesASeedThatIsNone) {
  for (const char* seed : {"-1", "x", "1.5", "18446744073709551616"}) {
    const ProcessResult result = tarcil(words({std::string("--seed=") + seed}));
    EXPECT_EQ(result.exitCode, 2) << result.err;
    EXPECT_NE(result.err.find("--seed: "), std::string::npos) << result.err;
  }
}

TEST_F(PlanTest, GoesOnWithTheNextAgent) {
  ClusterScript script = aScriptedPlan();
  script.hangingAgents = 1;
  const ScriptedCluster cluster(script, 2);
  EXPECT_EQ(tarcil(words(), cluster).exitCode, 0);
}

class LargePlanTest : public PlanTest {
 protected:
  LargePlanTest() : PlanTest("tasks: 2000\n") {}
};

TEST_F(LargePlanTest, IsBounded) {
  ClusterScript script = aScriptedPlan();
  script.plan.claims.clear();
  for (TaskIndex i = 0; i < 2'000; ++i) script.plan.claims.push_back(claimOf(i, 0, {1}));
  script.plan.freeUnits = script.plan.usableUnits = 2'000;
  const ScriptedCluster cluster(script);
  const Json json = jsonOf(tarcil(words({"--json"}), cluster));
  ASSERT_EQ(json["decision"].size(), 2'000u);
  EXPECT_EQ(json["decision"][1999]["best"].size(), 2u);
  const ProcessResult people = tarcil(words(), cluster);
  EXPECT_NE(people.out.find("and 1950 more tasks; --verbose shows all\n"), std::string::npos) << people.out;
}

}  // namespace tarcil::plan_command_test
