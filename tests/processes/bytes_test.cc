// Memory and disk of servers, claimed by tasks beside their units.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tests/support/cluster.h"

namespace tarcil::processes_bytes_test {

using testing::HasSubstr;

constexpr uint64_t kGiB = uint64_t{1} << 30;

// One server of eight units that is a timer, with 4.7 GiB of memory and 10 GiB of disk.
struct Bytes : testing::Test {
  std::string servers() {
    folder.write("servers.yaml", "servers: [{name: s, rus: 8, memory: 4.7GiB, disk: 10GiB}]\n");
    return folder.at("servers.yaml");
  }

  size_t running(const std::string& job) const {
    const Json status = cluster.status(job);
    return static_cast<size_t>(
        std::ranges::count_if(status["tasks"], [](const Json& task) { return task["state"] == "running"; }));
  }

  TraceFolder folder;
  ManualCluster cluster{{.emulate = servers()}};
};

TEST_F(Bytes, AreNeverMoreThanTheServerHas) {
  const std::string job =
      cluster.submit("command: [sleep, \"1000\"]\ntasks: 8\nlimits: {memory: 2GiB, disk: 1GiB}\n");
  cluster.until("it has what it can have", [&]() { return running(job) == 2; });
  const Json server = cluster.json({"server", "show", "s"});
  EXPECT_EQ(server["memory_allocated_bytes"], 4 * kGiB);
  EXPECT_EQ(server["disk_allocated_bytes"], 2 * kGiB);
  EXPECT_EQ(server["disk_allocatable_bytes"], 10 * kGiB);
  EXPECT_EQ(server["free"], 6);
  cluster.until("the reason is known", [&]() { return cluster.status(job)["reason"].is_string(); });
  EXPECT_THAT(cluster.status(job)["reason"].get<std::string>(),
              HasSubstr("less memory left than a task claims, 2GiB"));
  const Json plan = cluster.json({"plan", cluster.jobFile("command: [\"true\"]\nlimits: {memory: 1GiB}\n")});
  EXPECT_EQ(plan["placed"], 0);
  EXPECT_EQ(plan["reason"], "6 units are free, but none together with 1GiB of memory");
  EXPECT_EQ(cluster.run({"job", "cancel", job}).exitCode, 0);
  cluster.ended(job);
  EXPECT_EQ(cluster.json({"server", "list"})[0]["memory_allocated_bytes"], 0);
}

TEST_F(Bytes, ThatNoServerHasAreRefused) {
  cluster.until("the server is there", [&]() { return !cluster.json({"server", "list"}).empty(); });
  const ProcessResult refused =
      cluster.run({"submit", cluster.jobFile("command: [\"true\"]\nlimits: {memory: 100TiB}\n")});
  EXPECT_EQ(refused.exitCode, 1);
  EXPECT_THAT(refused.err, HasSubstr("100TiB of memory; a server that suits it gives at most 4.7GiB"));
}

TEST_F(Bytes, LetTasksRunOneAfterTheOther) {
  const Json done =
      cluster.ended(cluster.submit("command: [sleep, \"0.05\"]\ntasks: 33\nlimits: {memory: 2GiB}\n"));
  EXPECT_EQ(done["state"], "done");
}

TEST_F(Bytes, ThatAreLackingAreNamedWhereSlotsAreTurnedDown) {
  cluster.until("the server is there", [&]() { return !cluster.json({"server", "list"}).empty(); });
  for (const auto& [kind, limits] : std::map<std::string, std::string>{
           {"memory", "{memory: 2GiB}"}, {"disk", "{memory: 100MiB, disk: 4GiB}"}}) {
    const std::string text = "command: [sleep, \"1000\"]\ntasks: 8\nlimits: " + limits + "\n";
    const std::string job = cluster.submit(text);
    cluster.until("it has what it can have", [&]() { return running(job) == 2; });
    const Json explained = cluster.json({"job", "explain", job})["decision"][0]["dropped"];
    EXPECT_EQ(explained.size(), 1u) << explained;
    EXPECT_GT(explained.value(kind, 0), 0) << explained;
    EXPECT_EQ(cluster.run({"job", "cancel", job}).exitCode, 0);
    cluster.ended(job);
    Json plan;
    cluster.until("the agent knows that all is free", [&]() {
      plan = cluster.json({"plan", cluster.jobFile(text)});
      return plan["placed"] == 2;
    });
    const Json planned = plan["decision"][0]["dropped"];
    EXPECT_EQ(planned.size(), 1u) << planned;
    EXPECT_GT(planned.value(kind, 0), 0) << planned;
  }
}

// Of four tasks of 64 MiB on a server of four units and 128 MiB, so many run at once.
void expectAtOnce(const std::string& overcommit, size_t most) {
  ClusterPlan plan;
  plan.optionsOf["server-1"]["--memory"] = "128MiB";
  plan.optionsOf["server-1"]["--memory-overcommit"] = overcommit;
  ManualCluster cluster(plan);
  const TraceFolder& traces = cluster.traces();
  const std::string job = cluster.submit(
      shellJob(traces.note("started") + traces.waitForGate(), "tasks: 4\nlimits: {memory: 64MiB}\n"));
  ASSERT_TRUE(traces.waitForLines("started", most));
  cluster.until("the reason is known", [&]() { return cluster.status(job)["reason"].is_string(); });
  EXPECT_THAT(cluster.status(job)["reason"].get<std::string>(), HasSubstr("64MiB"));
  EXPECT_EQ(traces.lines("started").size(), most);
  const Json server = cluster.json({"server", "show", "server-1"});
  EXPECT_EQ(server["memory_allocated_bytes"], most * (kGiB / 16));
  EXPECT_EQ(server["free"], 4 - most);
  traces.openGate();
  EXPECT_EQ(cluster.ended(job)["state"], "done");
  EXPECT_EQ(traces.lines("started").size(), 4u);
}

TEST(BytesOfTasks, AndNotUnitsAreWhatBoundsHowManyRunAtOnce) {
  SKIP_WITHOUT_CONTAINERS();
  expectAtOnce("1", 2);
}

TEST(BytesOfTasks, AreOvercommittedAsFarAsTheOperatorSaysAndNoFurther) {
  SKIP_WITHOUT_CONTAINERS();
  expectAtOnce("1.5", 3);
}

}  // namespace tarcil::processes_bytes_test
