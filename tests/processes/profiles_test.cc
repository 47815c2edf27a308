// Profiles that the cluster keeps: measured in it, and placements that they change.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "core/model/resources.h"
#include "tests/support/cluster.h"

namespace tarcil {
namespace {

using testing::HasSubstr;

constexpr const char* kLoud = "application: loud\ncaused: {llc: 90}\ntolerated: {llc: 5}\n";
constexpr const char* kJob = "name: j\napplication: loud\ncommand: [sleep, '1000']\n";

std::string file(TestCluster& cluster, const std::string& name, const std::string& text) {
  cluster.traces().write(name, text);
  return cluster.traces().at(name);
}

TEST(StoredProfiles, GoToJobsThatNameTheirApplication) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster(ClusterPlan{.servers = 2, .rus = 2});
  const std::string job = cluster.jobFile(kJob);
  const auto unknown = cluster.run({"submit", job});
  EXPECT_EQ(unknown.exitCode, 2);
  EXPECT_THAT(unknown.err, HasSubstr(":2:14: application: no profile is stored under 'loud'"));

  ASSERT_EQ(cluster.run({"profile", "import", file(cluster, "loud.yaml", kLoud)}).exitCode, 0);
  const auto stored = cluster.json({"profile", "show", "loud@3"});
  EXPECT_EQ(stored["application"], "loud");
  EXPECT_EQ(stored["caused"]["llc"], 90);
  EXPECT_EQ(stored["tolerated"]["llc"], 5);
  EXPECT_EQ(stored["tolerated"]["core"], 99);

  // Two that bear little of what they cause go to different servers.
  const std::string first = cluster.submit(kJob), second = cluster.submit(kJob);
  const auto serverOf = [&](const std::string& id) {
    cluster.until("the job runs", [&] { return cluster.status(id)["state"] == "running"; });
    return cluster.status(id)["tasks"][0]["server"];
  };
  EXPECT_NE(serverOf(first), serverOf(second));

  const auto exported = cluster.run({"profile", "export", "loud"});
  EXPECT_EQ(exported.exitCode, 0);
  const std::string again = file(cluster, "again.yaml", exported.out);
  ASSERT_EQ(cluster.run({"profile", "import", "--application", "again", again}).exitCode, 0);
  EXPECT_EQ(cluster.json({"profile", "show", "again"})["tolerated"], stored["tolerated"]);
  EXPECT_EQ(cluster.json({"profile", "list"}).size(), 2u);

  ASSERT_EQ(cluster.run({"profile", "delete", "loud"}).exitCode, 0);
  EXPECT_EQ(cluster.run({"profile", "show", "loud"}).exitCode, 1);
  EXPECT_EQ(cluster.run({"submit", job}).exitCode, 2);
}

// What is measured takes a moment: nothing is pressed on, since `core` is each core's own.
std::vector<std::string> profiling(const std::vector<std::string>& flags, const std::string& script) {
  std::vector<std::string> words = {"profile",   "run", "--on-cluster", "--resources", "core",
                                    "--seconds", "2"};
  words.insert(words.end(), flags.begin(), flags.end());
  words.insert(words.end(), {"--", "sh", "-c", script});
  return words;
}

TEST(ProfilingOnACluster, MeasuresInATaskThatHasAServerToItself) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster(ClusterPlan{.servers = 1, .rus = 2});
  if (cluster.json({"server", "show", "server-1"})["cores"] < 2) GTEST_SKIP() << "needs two cores";
  const std::string script =
      "echo $TARCIL_CORES $TARCIL_MEMORY >> " + cluster.traces().at("seen") + "; sleep 0.02";
  const auto found = cluster.run(
      profiling({"--json", "--store", "--application", "sleeper", "--server", "server-1"}, script));
  ASSERT_EQ(found.exitCode, 0) << found.err;
  EXPECT_THAT(found.err, HasSubstr("measuring on server-1, with all of its 2 units"));
  EXPECT_THAT(found.err, HasSubstr("alone:"));  // the profiler's own progress
  const Json profile = Json::parse(found.out);
  EXPECT_EQ(profile["application"], "sleeper");
  EXPECT_EQ(profile["server"], "server-1");
  EXPECT_EQ(profile["entries"][kResources]["origin"], "measured");
  const auto seen = cluster.traces().lines("seen");
  ASSERT_FALSE(seen.empty());
  EXPECT_THAT(seen.front(), testing::MatchesRegex("[0-9]+[-,][0-9]+ [0-9]+"));

  const Json stored = cluster.json({"profile", "show", "sleeper"});
  EXPECT_EQ(stored["caused"]["core"], profile["caused"]["core"]);
  EXPECT_EQ(stored["note"], "measured on server-1, platform default");
  cluster.expectAllUnitsFree();
}

TEST(ProfilingOnACluster, FailsAsItWouldHere) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster(ClusterPlan{.servers = 1, .rus = 2});
  const auto failing = cluster.run(profiling({}, "echo broken >&2; exit 7"));
  EXPECT_EQ(failing.exitCode, 1);
  EXPECT_THAT(failing.err, HasSubstr("exit code 7; the last it said: broken"));
  const auto elsewhere = cluster.run(profiling({"--server", "nowhere"}, "true"));
  EXPECT_EQ(elsewhere.exitCode, 1);
  EXPECT_THAT(elsewhere.err, HasSubstr("there is no server 'nowhere'"));
  EXPECT_EQ(cluster.run(profiling({"--store"}, "true")).exitCode, 2);
  EXPECT_EQ(cluster.run(profiling({"--file", "../x"}, "true")).exitCode, 2);
}

TEST(ProfilingOnACluster, IsCancelledByCtrlC) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster(ClusterPlan{.servers = 1, .rus = 2});
  const std::string script = "echo runs >> " + cluster.traces().at("runs") + "; sleep 1000";
  Process measuring = cluster.startCommand(profiling({}, script));
  ASSERT_TRUE(cluster.traces().waitForLines("runs", 1));
  measuring.signal(SIGINT);
  EXPECT_EQ(measuring.finish().exitCode, 130);
  cluster.expectAllUnitsFree();
}

}  // namespace
}  // namespace tarcil
