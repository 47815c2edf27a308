// What a plan says of a cluster of real processes, and that it comes true.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/support/cluster.h"

namespace tarcil::processes_plan_test {

using testing::HasSubstr;

constexpr const char* kServers =
    "servers:\n"
    "- {name: \"quiet-{n}\", count: 4, rus: 2}\n"
    "- {name: big, rus: 4, platform: haswell, attributes: {disk: ssd}}\n";

// Emulated servers: tasks are timers.
class PlanOfProcesses : public testing::Test {
 protected:
  PlanOfProcesses() : cluster_({.emulate = written(folder_)}) {
    const std::string any = cluster_.jobFile(job(""));
    cluster_.until("the agent knows all servers", [this, &any]() {
      const ProcessResult plan = cluster_.run({"plan", "--json", any});
      return plan.exitCode == 0 && Json::parse(plan.out)["units"]["usable"] == 12;
    });
  }

  Json planned(const std::string& job, std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"plan", cluster_.jobFile(job)});
    return cluster_.json(more);
  }

  // Waits until no task of it is queued.
  Json placed(const std::string& id) const {
    cluster_.until("its tasks have places", [this, &id]() {
      const Json tasks = cluster_.status(id)["tasks"];
      return std::all_of(tasks.begin(), tasks.end(),
                         [](const Json& task) { return task["server"].is_string(); });
    });
    return cluster_.status(id)["tasks"];
  }

  static std::string job(const std::string& more) { return "command: [sleep, \"1000\"]\n" + more; }

 private:
  static std::string written(const TraceFolder& folder) {
    folder.write("servers.yaml", kServers);
    return folder.at("servers.yaml");
  }

  TraceFolder folder_;

 protected:
  ManualCluster cluster_;
};

TEST_F(PlanOfProcesses, ComesTrueWhenTheJobIsSubmitted) {
  const std::string text =
      job("tasks: 2\n"
          "profile: {caused: {llc: 40}, tolerated: {llc: 50}}\n"
          "placement: {constraints: [\"disk = ssd\"]}\n");
  const Json plan = planned(text);
  const Json tasks = placed(cluster_.submit(text));
  ASSERT_EQ(plan["decision"].size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    const Json& chosen = plan["decision"][i]["chosen"];
    EXPECT_EQ(chosen["server"], "big");
    EXPECT_EQ(tasks[i]["server"], chosen["server"]);
    EXPECT_EQ(tasks[i]["rus"], chosen["rus"]);
    EXPECT_EQ(tasks[i]["q"], chosen["q"]);
    EXPECT_EQ(tasks[i]["s"], chosen["s"]);
  }

  // Both are neighbours now; each bears 50 and feels the other.
  const Json next =
      planned(job("profile: {caused: {llc: 5}}\n"
                  "placement: {constraints: [\"server = big\"]}\n"));
  ASSERT_EQ(next["neighbours"].size(), 2u) << next;
  for (const Json& neighbour : next["neighbours"]) {
    EXPECT_EQ(neighbour["server"], "big");
    EXPECT_EQ(neighbour["slack_before"]["llc"], 50 - 40);
    EXPECT_EQ(neighbour["slack_after"]["llc"], 50 - 40 - 5);
  }
}

TEST_F(PlanOfProcesses, LeavesNothingBehind) {
  const std::string text = job("tasks: 3\n");
  const Json servers = cluster_.json({"server", "list"});
  const Json first = planned(text, {"--seed", "7"});
  EXPECT_EQ(planned(text, {"--seed", "7"}), first);
  EXPECT_EQ(cluster_.json({"job", "list"}), Json::array());
  EXPECT_EQ(cluster_.json({"server", "list"}), servers);
}

TEST_F(PlanOfProcesses, SaysWhatWouldWaitAndWhatWouldBeRefused) {
  placed(cluster_.submit(job("tasks: 10\n")));
  const Json plan = planned(job("tasks: 4\n"));
  EXPECT_EQ(plan["placed"], 2);
  EXPECT_EQ(plan["reason"], "no free unit: 12 of 12 are taken");
  EXPECT_EQ(plan["units"]["free"], 2);

  const std::string impossible = cluster_.jobFile(job("rus_per_task: 5\n"));
  const ProcessResult refused = cluster_.run({"plan", impossible});
  EXPECT_EQ(refused.exitCode, 1);
  EXPECT_EQ(refused.err, cluster_.run({"submit", impossible}).err);
  EXPECT_THAT(refused.err, HasSubstr("4"));
}

// Each neighbour by itself, and by worth: agents decide so, and the master checks their claims so.
TEST(PlanByWorth, GoesWhereNeighboursLoseNothing) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.servers = 2, .rus = 2});
  const Json settings = cluster.json({"tune", "--contention", "slowdowns", "--ranking", "worth"});
  EXPECT_EQ(settings["contention"], "slowdowns");
  EXPECT_EQ(settings["ranking"], "worth");
  const std::string loud =
      "command: [sleep, '1000']\ntasks: 2\n"
      "profile: {caused: {memory_bandwidth: 80}, tolerated: {memory_bandwidth: 20}}\n";
  const std::string id = cluster.submit(loud);
  cluster.until("both run", [&]() { return cluster.status(id)["state"] == "running"; });
  std::set<std::string> servers;
  const Json status = cluster.status(id);
  for (const Json& task : status["tasks"]) servers.insert(task["server"]);
  EXPECT_EQ(servers.size(), 2u) << "one beside the other would lose most of its speed";
  const Json third = cluster.json({"plan", cluster.jobFile(loud)});
  EXPECT_EQ(third["placed"], 0) << "it would break a neighbour on either";
}

}  // namespace tarcil::processes_plan_test
