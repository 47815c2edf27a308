// Waiting jobs of several agents: one order for all of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "rpc/token.h"
#include "tests/support/cluster.h"

namespace tarcil::queue_test {

using testing::ElementsAre;

std::string agentAt(const TestCluster& cluster, int agent) {
  return "unix:" + cluster.data() + "/run/agent-" + std::to_string(agent) + ".sock";
}

std::string operatorToken(const TestCluster& cluster) {
  return cluster.data() + "/tokens/operate.token";
}

// Submits to this agent and no other.
std::string submitAt(const TestCluster& cluster, int agent, const std::string& yaml) {
  return cluster.json({"submit", "--cluster", agentAt(cluster, agent), "--token-file", operatorToken(cluster),
                       cluster.jobFile(yaml)})["job"];
}

// Three agents, and one unit that a first job holds until the gate opens; the other server is cordoned.
struct Queue : testing::Test {
  void SetUp() override {
    SKIP_WITHOUT_CONTAINERS();
    const std::string token = makeToken();
    ASSERT_TRUE(writeTokenFile(tokens.at("bob"), token).ok());
    cluster.emplace(
        ClusterPlan{.servers = 2, .rus = 1, .agents = 3, .moreTokens = token + " bob submit root\n"});
    ASSERT_EQ(cluster->run({"server", "cordon", "server-2"}).exitCode, 0);
    cluster->submit(shellJob(traces().note("running") + traces().waitForGate()));
    traces().waitForLines("running", 1);
  }
  TraceFolder& traces() { return cluster->traces(); }
  // A job that adds a line to `order` when it runs.
  std::string noting(const std::string& line, const std::string& more) {
    return shellJob("echo " + line + " >> " + traces().at("order"), more);
  }

  TraceFolder tokens;
  std::optional<ManualCluster> cluster;
};

TEST_F(Queue, JobsStartByPriorityWhicheverAgentHasThem) {
  int agent = 0;
  for (const int priority : {30, 10, 50, 20, 60, 40}) {
    submitAt(*cluster, 1 + agent++ % 3,
             noting(std::to_string(priority), "priority: " + std::to_string(priority) + "\n"));
  }
  traces().openGate();
  traces().waitForLines("order", 6);
  EXPECT_THAT(traces().lines("order"), ElementsAre("60", "50", "40", "30", "20", "10"));
}

TEST_F(Queue, HeldJobsWaitAndPrioritiesCanBeChanged) {
  const std::string held = submitAt(*cluster, 1, noting("held", "hold: true\npriority: 99\n"));
  const std::string first = submitAt(*cluster, 2, noting("first", "priority: 50\n"));
  const std::string second = submitAt(*cluster, 3, noting("second", "priority: 50\n"));
  EXPECT_EQ(cluster->status(held)["reason"], "held by root");
  EXPECT_EQ(cluster->run({"job", "priority", "40", first}).exitCode, 0);
  traces().openGate();
  traces().waitForLines("order", 2);
  EXPECT_THAT(traces().lines("order"), ElementsAre("second", "first"));
  cluster->ended(first);
  EXPECT_EQ(cluster->status(held)["state"], "queued");
  EXPECT_EQ(cluster->run({"job", "release", held}).exitCode, 0);
  EXPECT_EQ(cluster->ended(held)["state"], "done");
  EXPECT_EQ(cluster->run({"job", "hold", held}).exitCode, 0) << "over: nothing changes";
  EXPECT_EQ(cluster->run({"job", "priority", "101", held}).exitCode, 2);
  EXPECT_EQ(cluster->run({"job", "hold", "00000000000000000000000000000000"}).exitCode, 1);
}

TEST_F(Queue, AJobThatCannotBePlacedHoldsNobodyUp) {
  // Its two slots at once are never there while the other server is cordoned.
  const std::string gang = submitAt(*cluster, 1, noting("gang", "priority: 90\ntasks: 2\nschedule: gang\n"));
  const std::string after = submitAt(*cluster, 2, noting("after", "priority: 10\n"));
  EXPECT_EQ(cluster->status(after)["ahead"], 1);
  traces().openGate();
  EXPECT_EQ(cluster->ended(after)["state"], "done");
  EXPECT_EQ(cluster->status(gang)["state"], "queued");
  EXPECT_EQ(cluster->run({"server", "uncordon", "server-2"}).exitCode, 0);
  EXPECT_EQ(cluster->ended(gang)["state"], "done");
}

TEST_F(Queue, SaysHowManyAreAheadWhicheverAgentIsAsked) {
  submitAt(*cluster, 1, noting("first", ""));
  submitAt(*cluster, 2, noting("urgent", "priority: 80\n"));
  const std::string last = submitAt(*cluster, 3, noting("last", ""));
  EXPECT_EQ(cluster->status(last)["ahead"], 2);
  traces().openGate();
  EXPECT_EQ(cluster->ended(last)["state"], "done");
  EXPECT_THAT(traces().lines("order"), ElementsAre("urgent", "first", "last"));
}

TEST_F(Queue, IsShownInItsOrderWhicheverAgentIsAsked) {
  const std::string last = submitAt(*cluster, 1, noting("last", "priority: 10\ntasks: 2\n"));
  const std::string first = submitAt(*cluster, 2, noting("first", "priority: 20\nname: urgent\n"));
  for (int agent = 1; agent <= 3; ++agent) {
    const Json queue = cluster->json(
        {"queue", "--cluster", agentAt(*cluster, agent), "--token-file", operatorToken(*cluster)});
    ASSERT_EQ(queue.size(), 2u);
    EXPECT_EQ(queue[0]["id"], first);
    EXPECT_EQ(queue[0]["name"], "urgent");
    EXPECT_EQ(queue[0]["ahead"], 0);
    EXPECT_EQ(queue[0]["priority"], 20);
    EXPECT_EQ(queue[1]["id"], last);
    EXPECT_EQ(queue[1]["ahead"], 1);
    EXPECT_EQ(queue[1]["queued"], 2);
    EXPECT_EQ(queue[1]["reason"], "no free unit: 1 of 1 are taken");
    EXPECT_TRUE(queue[1]["expected_start"].is_null()) << "the cluster has just started";
  }
  traces().openGate();
  EXPECT_EQ(cluster->ended(last)["state"], "done");
  EXPECT_TRUE(cluster->json({"queue"}).empty());
}

TEST_F(Queue, BucketsShowServersThatTakeTasks) {
  Json buckets = cluster->json({"buckets"});
  ASSERT_EQ(buckets.size(), 1u);
  EXPECT_EQ(buckets[0]["servers"], 1);
  EXPECT_EQ(buckets[0]["free"], 0);
  ASSERT_EQ(cluster->run({"server", "uncordon", "server-2"}).exitCode, 0);
  buckets = cluster->json({"buckets"});
  uint64_t servers = 0, free = 0;
  for (const Json& bucket : buckets) {
    servers += bucket["servers"].get<uint64_t>();
    free += bucket["free"].get<uint64_t>();
    EXPECT_TRUE(bucket["mean"].contains("llc"));
  }
  EXPECT_EQ(servers, 2u);
  EXPECT_EQ(free, 1u);
  traces().openGate();
}

TEST_F(Queue, TheJobsOfAnAgentThatDiesKeepTheirPlaces) {
  submitAt(*cluster, 2, noting("second", "priority: 20\n"));
  submitAt(*cluster, 1, noting("third", "priority: 10\n"));
  submitAt(*cluster, 2, noting("first", "priority: 30\n"));
  cluster->kill("agent-2");
  traces().openGate();
  traces().waitForLines("order", 3);
  // While the agent's jobs have no owner, another one's may go ahead; their own order stays.
  std::vector<std::string> order = traces().lines("order");
  std::erase(order, "third");
  EXPECT_THAT(order, ElementsAre("first", "second"));
}

TEST_F(Queue, AnUrgentJobGetsTheUnitOfAPreemptibleOne) {
  traces().openGate();
  const std::string batch = submitAt(*cluster, 1,
                                     R"(
name: batch
command: [sh, -c, "echo $$ >> )" + traces().at("batch") +
                                         R"(; exec sleep 300"]
priority: 10
preemptible: true
)");
  traces().waitForLines("batch", 1);
  const std::string urgent = submitAt(*cluster, 2, noting("urgent", "priority: 90\nname: urgent\n"));
  EXPECT_EQ(cluster->ended(urgent)["state"], "done");
  traces().waitForLines("batch", 2);  // it runs again
  const Json status = cluster->status(batch);
  EXPECT_EQ(status["tasks"][0]["previous"], "was stopped: preempted by urgent (job " +
                                                cluster->status(urgent)["number"].dump() + ", priority 90)");
  EXPECT_EQ(cluster->run({"job", "cancel", batch}).exitCode, 0);
}

TEST_F(Queue, UnitsGoToTheUserWhoHoldsFewestForEachOfHisShares) {
  // These are of the operator, who holds a unit; another user's job passes them.
  submitAt(*cluster, 1, noting("mine", ""));
  submitAt(*cluster, 2, noting("mine too", ""));
  const std::string other =
      cluster->json({"submit", "--cluster", agentAt(*cluster, 3), "--token-file", tokens.at("bob"),
                     cluster->jobFile("command: [\"true\"]\n")})["job"];
  const Json queue =
      cluster->json({"queue", "--cluster", agentAt(*cluster, 1), "--token-file", operatorToken(*cluster)});
  ASSERT_EQ(queue.size(), 3u);
  EXPECT_EQ(queue[0]["id"], other);
  EXPECT_EQ(queue[0]["lifted_priority"], 50);
  EXPECT_EQ(cluster->run({"server", "uncordon", "server-2"}).exitCode, 0);
  const Json ended = cluster->ended(other);
  EXPECT_EQ(ended["state"], "done");
  EXPECT_EQ(ended["tasks"][0]["server"], "server-2");
  traces().openGate();
  traces().waitForLines("order", 2);
}

TEST_F(Queue, SharesAreSetByOperatorsAndKept) {
  const auto asOperator = [&](std::vector<std::string> words) {
    words.insert(words.end(), {"--token-file", operatorToken(*cluster)});
    return words;
  };
  EXPECT_EQ(cluster->run({"user", "set", "bob", "--shares", "3", "--token-file", tokens.at("bob")}).exitCode,
            3);
  EXPECT_EQ(cluster->json(asOperator({"user", "set", "alice", "--shares", "3"}))["shares"], 3);
  EXPECT_EQ(cluster->run(asOperator({"user", "set", "alice", "--shares", "0"})).exitCode, 2);
  cluster->kill("master");
  cluster->start("master");
  const Json usage = cluster->json(asOperator({"usage"}));
  const auto alice = std::ranges::find(usage, "alice", [](const Json& user) { return user["user"]; });
  ASSERT_NE(alice, usage.end());
  EXPECT_EQ((*alice)["shares"], 3);
  traces().openGate();
}

// More than one message between master and agent, and between master and user, takes.
TEST_F(Queue, AJobOfManyTasksIsTakenShownAndCancelled) {
  const std::string job = cluster->submit("command: [\"true\"]\ntasks: 4500\nconcurrency: 1\n");
  const Json status = cluster->status(job);
  ASSERT_EQ(status["tasks"].size(), 4500u);
  EXPECT_EQ(status["tasks"][4499]["index"], 4499);
  EXPECT_EQ(status["tasks"][4499]["state"], "queued");
  ASSERT_EQ(cluster->run({"job", "cancel", job}).exitCode, 0);
  const Json ended = cluster->ended(job);
  EXPECT_EQ(ended["state"], "cancelled");
  EXPECT_EQ(ended["tasks"][4499]["state"], "cancelled");
  EXPECT_EQ(ended["tasks"][4499]["finished"], ended["finished"]);
}

}  // namespace tarcil::queue_test
