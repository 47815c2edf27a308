// What operators do and look at: lists of jobs, servers out of service, usage.
#include <gtest/gtest.h>

#include "tests/cli/running_tarcil.h"

namespace tarcil::operator_commands_test {

ClusterScript fiveJobs() {
  ClusterScript script;
  for (uint8_t i = 1; i <= 5; ++i) script.jobs.push_back(aJob(idOf(0xab, i), RunState::kQueued));
  script.jobsAPage = 2;
  return script;
}

TEST(JobList, GoesOnPageByPage) {
  const ScriptedCluster cluster(fiveJobs());
  EXPECT_EQ(jsonOf(tarcil({"job", "list", "--json", "--all"}, cluster)).size(), 5u);
  EXPECT_EQ(tarcil({"job", "list", "--all"}, cluster).err, "");
  const ProcessResult three = tarcil({"job", "list", "--json", "--limit", "3"}, cluster);
  EXPECT_EQ(jsonOf(three).size(), 3u);
  EXPECT_NE(three.err.find("--after 171"), std::string::npos) << three.err;
  const Json rest =
      jsonOf(tarcil({"job", "list", "--json", "--after", toString(idOf(0xab, 3)), "--all"}, cluster));
  ASSERT_EQ(rest.size(), 2u);
  EXPECT_EQ(rest[0]["id"], toString(idOf(0xab, 4)));
}

TEST(JobList, AsksForWhatTheFiltersSay) {
  const ScriptedCluster cluster(fiveJobs());
  EXPECT_EQ(
      tarcil({"job", "list", "--state", "queued,running", "--user", "bob", "--name", "tra", "--since", "1h"},
             cluster)
          .exitCode,
      0);
  const auto record = cluster.record();
  EXPECT_EQ(record.listedStates, (std::vector<RunState>{RunState::kQueued, RunState::kRunning}));
  EXPECT_EQ(record.listedUser, "bob");
  EXPECT_EQ(record.listedName, "tra");
  EXPECT_GT(record.listedSince, WallTime(std::chrono::hours(24 * 365 * 50)));
}

TEST(JobStatus, GoesOnPageByPage) {
  ClusterScript script;
  script.jobs = {aJob(idOf(0xab), RunState::kQueued)};
  script.tasksAPage = 2;
  for (TaskIndex index = 1; index < 5; ++index) {
    script.jobs[0].tasks.push_back(script.jobs[0].tasks[0]);
    script.jobs[0].tasks.back().index = index;
  }
  const ScriptedCluster cluster(script);
  const Json tasks = jsonOf(tarcil({"job", "status", "--json", "ab00"}, cluster))["tasks"];
  ASSERT_EQ(tasks.size(), 5u);
  for (TaskIndex index = 0; index < 5; ++index) EXPECT_EQ(tasks[index]["index"], index);
}

TEST(JobStatus, SaysWhyATaskWasMoved) {
  ClusterScript script;
  script.jobs = {aJob(idOf(0xab), RunState::kRunning)};
  script.jobs[0].tasks[0].previous = "was stopped: server drained (s1)";
  const ScriptedCluster cluster(script);
  EXPECT_NE(tarcil({"job", "status", "ab00"}, cluster).out.find("before: was stopped: server drained (s1)"),
            std::string::npos);
  EXPECT_NE(tarcil({"job", "explain", "ab00"}, cluster).out.find("server drained (s1)"), std::string::npos);
  EXPECT_EQ(jsonOf(tarcil({"job", "status", "--json", "ab00"}, cluster))["tasks"][0]["previous"],
            script.jobs[0].tasks[0].previous);
}

ScriptedServer aServerNamed(const std::string& name) {
  ScriptedServer server;
  server.facts.name = name;
  server.facts.rus = 1;
  server.status.up = true;
  server.status.free = RuSet::all(1);
  return server;
}

TEST(ServerList, GoesOnPageByPage) {
  ClusterScript script;
  script.serversAPage = 2;
  for (size_t i = 0; i < 5; ++i) script.servers.push_back(aServerNamed("s" + std::to_string(i)));
  const ScriptedCluster cluster(script);
  const Json servers = jsonOf(tarcil({"server", "list", "--json"}, cluster));
  ASSERT_EQ(servers.size(), 5u);
  for (size_t i = 0; i < 5; ++i) EXPECT_EQ(servers[i]["name"], "s" + std::to_string(i));
}

TEST(Lists, GoOnPageByPage) {
  ClusterScript script;
  script.entriesAPage = 2;
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    script.usage.push_back({.user = name});
    script.platforms[name] = fullShare();
    script.profiles.emplace_back().profile.application = name;
  }
  const ScriptedCluster cluster(script);
  const std::vector<std::pair<Words, std::string>> lists = {
      {{"usage"}, "user"}, {{"platform", "list"}, "name"}, {{"profile", "list"}, "application"}};
  for (const auto& [command, key] : lists) {
    Words words = command;
    words.push_back("--json");
    const Json entries = jsonOf(tarcil(words, cluster));
    ASSERT_EQ(entries.size(), 5u) << command[0];
    for (size_t i = 0; i < 5; ++i) EXPECT_EQ(entries[i][key], std::string(1, static_cast<char>('a' + i)));
  }
}

TEST(ServerList, SaysWhichServersTakeNoTasksAndWhy) {
  ClusterScript script;
  for (const char* name : {"s1", "s2", "s3", "s4"}) script.servers.push_back(aServerNamed(name));
  for (size_t i : {1, 2, 3}) script.servers[i].status.cordoned = true;
  script.servers[1].reason = "cordoned by alice";
  script.servers[2].reason = "drained by alice";
  script.servers[2].draining = true;
  script.servers[3].reason = "set aside after 5 tasks";
  script.servers[3].asideUntil = WallTime(std::chrono::seconds(1'700'000'000));
  script.servers[3].status.quarantined = true;
  const ScriptedCluster cluster(script);
  const Json list = jsonOf(tarcil({"server", "list", "--json"}, cluster));
  const Words states = {"up", "cordoned", "drained", "quarantined"};
  for (size_t i = 0; i < states.size(); ++i) EXPECT_EQ(list[i]["state"], states[i]);
  EXPECT_EQ(list[0]["reason"], nullptr);
  EXPECT_EQ(list[1]["reason"], "cordoned by alice");
  const ProcessResult people = tarcil({"server", "list"}, cluster);
  EXPECT_NE(people.out.find("set aside after 5 tasks; ends "), std::string::npos) << people.out;
}

TEST(ServerCordon, TakesSeveralServers) {
  const ScriptedCluster cluster(ClusterScript{});
  EXPECT_EQ(tarcil({"server", "cordon", "s1", "s2"}, cluster).out, "Cordoned = s1, s2\n");
  const Json json = jsonOf(tarcil({"server", "uncordon", "--json", "s1"}, cluster));
  EXPECT_EQ(json[0]["name"], "s1");
  EXPECT_EQ(cluster.record().steered, (Words{"cordon s1 0", "cordon s2 0", "uncordon s1 0"}));
}

TEST(ServerDrain, SaysWhatIsLeftUntilNothingIs) {
  ClusterScript script;
  script.tasksLeft = {2, 1, 0};
  const ScriptedCluster cluster(script);
  const ProcessResult result = tarcil({"server", "drain", "s1", "--wait", "--deadline", "1m"}, cluster);
  EXPECT_EQ(result.exitCode, 0);
  EXPECT_EQ(result.err, "tarcil: s1: 2 tasks left\ntarcil: s1: 1 task left\ntarcil: s1: empty\n");
  EXPECT_EQ(result.out, "Drained = s1\n");
  EXPECT_EQ(cluster.record().steered, (Words{"drain s1 60000000"}));
}

TEST(ServerDrain, FailsWhereSomebodyEndsIt) {
  const ScriptedCluster cluster(ClusterScript{});
  const ProcessResult result = tarcil({"server", "drain", "s1", "--wait"}, cluster);
  EXPECT_EQ(result.exitCode, 1);
  EXPECT_NE(result.err.find("not being drained any more, with 1 task left"), std::string::npos) << result.err;
}

TEST(Usage, IsAnArrayForScriptsAndATableForPeople) {
  ClusterScript script;
  script.usage = {{"alice", 5'400'000'000, 3, 1, 2, 0, 0}};
  const ScriptedCluster cluster(script);
  const Json list = jsonOf(tarcil({"usage", "--json"}, cluster));
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list[0]["user"], "alice");
  EXPECT_EQ(list[0]["ru_seconds"], 5400.0);
  EXPECT_EQ(list[0]["jobs"]["failed"], 2);
  EXPECT_NE(tarcil({"usage"}, cluster).out.find("alice  1       1.50      5400.0"), std::string::npos);
}

}  // namespace tarcil::operator_commands_test
