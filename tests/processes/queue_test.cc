// Waiting jobs of several agents: one order for all of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "tests/support/cluster.h"

namespace tarcil {
namespace {

using testing::ElementsAre;

// Submits to this agent and no other.
std::string submitAt(const TestCluster& cluster, int agent, const std::string& yaml) {
  const std::string address = "unix:" + cluster.data() + "/run/agent-" + std::to_string(agent) + ".sock";
  return cluster.json({"submit", "--cluster", address, "--token-file",
                       cluster.data() + "/tokens/operate.token", cluster.jobFile(yaml)})["job"];
}

// Three agents, and one unit that a first job holds until the gate opens; the other server is cordoned.
struct Queue : testing::Test {
  void SetUp() override {
    SKIP_WITHOUT_CONTAINERS();
    cluster.emplace(ClusterPlan{.servers = 2, .rus = 1, .agents = 3});
    ASSERT_EQ(cluster->run({"server", "cordon", "server-2"}).exitCode, 0);
    cluster->submit(shellJob(traces().note("running") + traces().waitForGate()));
    traces().waitForLines("running", 1);
  }
  TraceFolder& traces() { return cluster->traces(); }
  // A job that adds a line to `order` when it runs.
  std::string noting(const std::string& line, const std::string& more) {
    return shellJob("echo " + line + " >> " + traces().at("order"), more);
  }

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

}  // namespace
}  // namespace tarcil
