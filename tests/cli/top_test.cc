// tarcil top: in which order it shows servers and tasks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "tests/cli/running_tarcil.h"
#include "tests/cli/terminal.h"

namespace tarcil::top_test {

using testing::ElementsAre;
using testing::HasSubstr;

ScriptedServer aServer(const std::string& name, uint8_t contention) {
  ScriptedServer server;
  server.facts.name = name;
  server.facts.rus = 8;
  server.facts.cores = 4;
  server.status.up = true;
  server.status.free = RuSet::all(6);
  server.contention[4] = contention;
  return server;
}

ScriptedServer::Task aTask(uint8_t job, uint8_t caused) {
  ScriptedServer::Task task{idOf(job), 0, {6}, {}, {}};
  task.caused[4] = caused;
  return task;
}

ClusterScript threeServers() {
  ClusterScript script;
  script.servers = {aServer("idle", 0), aServer("busy", 70), aServer("away", 99), aServer("fair", 20)};
  script.servers[1].tasks = {aTask(1, 10), aTask(2, 50)};
  script.servers[2].status.up = false;
  script.servers[3].tasks = {aTask(3, 20)};
  return script;
}

std::vector<std::string> namesIn(const Json& list, const char* key) {
  std::vector<std::string> names;
  for (const Json& one : list)
    names.push_back(one[key].is_string() ? one[key].get<std::string>() : one[key].dump());
  return names;
}

TEST(Top, ShowsTheMostContendedServersAndTheTasksThatCauseTheMostOnThem) {
  const ScriptedCluster cluster(threeServers());
  const Json json = jsonOf(tarcil({"top", "--once", "--json"}, cluster));
  EXPECT_THAT(namesIn(json["servers"], "name"), ElementsAre("busy", "fair", "idle")) << "away is not up";
  EXPECT_THAT(namesIn(json["tasks"], "number"), ElementsAre("2", "3", "1"));
  EXPECT_EQ(json["servers"][0]["rus_in_use"], 2);
  EXPECT_EQ(json["cluster"]["servers"], (Json{{"down", 1}, {"up", 3}}));
  const Json one = jsonOf(tarcil({"top", "--once", "--json", "--limit", "1"}, cluster));
  EXPECT_THAT(namesIn(one["servers"], "name"), ElementsAre("busy"));
  EXPECT_THAT(namesIn(one["tasks"], "number"), ElementsAre("2"));
}

TEST(Top, IsATableForPeople) {
  const ScriptedCluster cluster(threeServers());
  const std::string out = tarcil({"top", "--once"}, cluster).out;
  EXPECT_THAT(out, HasSubstr("Units   = 18 of 24 free where servers take tasks\n"));
  EXPECT_THAT(out, HasSubstr("busy    up     2 of 8        4"));
  EXPECT_THAT(out, HasSubstr("2.0   busy    1      <none>          llc 50"));
}

TEST(Top, SaysWhereThereIsNothing) {
  const ScriptedCluster cluster({});
  const std::string out = tarcil({"top", "--once"}, cluster).out;
  EXPECT_THAT(out, HasSubstr("No server is up.\n"));
  EXPECT_THAT(out, HasSubstr("No tasks.\n"));
}

TEST(Top, GoesOnUntilQIsPressed) {
  const ScriptedCluster cluster(threeServers());
  Environment environment = cluster.environment();
  environment["TERM"] = "xterm";
  Terminal terminal(tarcilWith({"top", "--interval", "0.5"}), environment);
  ASSERT_TRUE(terminal.waitFor("busy"));
  ASSERT_TRUE(terminal.waitFor("\x1b[H"));
  ASSERT_TRUE(terminal.waitFor("busy"));
  terminal.press("q");
  EXPECT_EQ(terminal.finish().exitCode, 0);
}

}  // namespace tarcil::top_test
