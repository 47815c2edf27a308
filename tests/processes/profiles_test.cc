// Profiles that the cluster keeps: measured in it, and placements that they change.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "cli/known_applications.h"
#include "core/model/resources.h"
#include "tests/support/cluster.h"

namespace tarcil::processes_profiles_test {

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

// Those of the server's tasks, by job.
std::map<std::string, Json> shownTasks(TestCluster& cluster) {
  std::map<std::string, Json> tasks;
  const Json server = cluster.json({"server", "show", "server-1"});
  for (const Json& task : server["tasks"]) tasks[task["job"]] = task;
  return tasks;
}

TEST(StoredProfiles, AsTheyAreKnownNowGoToJobsThatRunAndJobsThatWait) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster(ClusterPlan{.servers = 1, .rus = 4});
  const auto import = [&cluster](const std::string& profile) {
    ASSERT_EQ(cluster.run({"profile", "import", file(cluster, "loud.yaml", profile)}).exitCode, 0);
  };
  import("application: loud\ncaused: {llc: 20}\ntolerated: {llc: 95}\n");
  const std::string running = cluster.submit(kJob),
                    waiting = cluster.submit(std::string(kJob) + "hold: true\n");
  const std::string typed = cluster.submit(
      shellJob("sleep 1000", "profile: {application: loud, caused: {llc: 20}, tolerated: {llc: 95}}\n"));
  cluster.until("both run", [&] { return shownTasks(cluster).size() == 2; });
  EXPECT_TRUE(cluster.status(running)["profile_replaced"].is_null());

  import("application: loud\ncaused: {llc: 35}\ntolerated: {llc: 90}\n");
  cluster.until("the task is charged for what is known now",
                [&] { return shownTasks(cluster).at(running)["charged"]["llc"] == 35; });
  EXPECT_EQ(shownTasks(cluster).at(running)["caused"]["llc"], 35);
  EXPECT_EQ(shownTasks(cluster).at(typed)["charged"]["llc"], 20);
  EXPECT_EQ(cluster.json({"server", "show", "server-1"})["contention"]["llc"], 35 + 20);
  EXPECT_TRUE(cluster.status(running)["profile_replaced"].is_string());
  EXPECT_THAT(cluster.run({"job", "explain", running}).out, HasSubstr("by what was learned of loud"));
  EXPECT_TRUE(cluster.status(typed)["profile_replaced"].is_null());

  cluster.kill("master");
  cluster.start("master");
  ASSERT_EQ(cluster.run({"job", "release", waiting}).exitCode, 0);
  cluster.until("the job that waited runs", [&] { return shownTasks(cluster).contains(waiting); });
  const auto tasks = shownTasks(cluster);
  EXPECT_EQ(tasks.at(waiting)["charged"]["llc"], 35);
  EXPECT_EQ(tasks.at(running)["charged"]["llc"], 35);
  EXPECT_EQ(tasks.at(typed)["charged"]["llc"], 20);
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
  // Inferred from what the cluster has measured, too.
  const std::string measured = "tolerated: {llc: 7}\norigins: {tolerated: {llc: measured}}\n";
  const std::string known = file(cluster, "known.yaml", measured);
  ASSERT_EQ(cluster.run({"profile", "import", "--application", "other", known}).exitCode, 0);
  const size_t came = parseApplications(shippedApplications(), "shipped")->size();
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
  EXPECT_EQ(profile["known_applications"], came + 1);
  EXPECT_EQ(profile["entries"][kResources]["origin"], "measured");
  const auto seen = cluster.traces().lines("seen");
  ASSERT_FALSE(seen.empty());
  EXPECT_THAT(seen.front(), testing::MatchesRegex("[0-9]+[-,][0-9]+ [0-9]+"));

  const Json stored = cluster.json({"profile", "show", "sleeper"});
  EXPECT_EQ(stored["caused"]["core"], profile["caused"]["core"]);
  EXPECT_EQ(stored["entries"][kResources]["origin"], "measured");
  EXPECT_EQ(stored["entries"],
            cluster.json(
                {"profile", "import", "--application", "copy",
                 file(cluster, "copy.yaml", cluster.run({"profile", "export", "sleeper"}).out)})["entries"]);
  EXPECT_EQ(stored["note"], "measured on server-1, platform default");
  cluster.expectAllUnitsFree();
}

// Three platforms, on which a command that reports its memory as its performance is as fast as 4, 2 and 1.
ClusterPlan threePlatforms() {
  ClusterPlan plan{.servers = 3, .rus = 2};
  plan.optionsOf = {{"server-1", {{"--platform", "new"}, {"--memory", "512MiB"}}},
                    {"server-2", {{"--platform", "old"}, {"--memory", "256MiB"}}},
                    {"server-3", {{"--platform", "rare"}, {"--memory", "128MiB"}}}};
  return plan;
}
constexpr const char* kMemoryAsSpeed = "echo speed: $TARCIL_MEMORY";

const Json& platformEntry(const Json& profile, const std::string& platform) {
  static const Json kNone;
  for (const Json& entry : profile["platform_entries"]) {
    if (entry["platform"] == platform) return entry;
  }
  return kNone;
}

TEST(ProfilingOnACluster, MeasuresASecondPlatformAndInfersTheOthers) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster(threePlatforms());
  if (cluster.json({"server", "show", "server-1"})["cores"] < 2) GTEST_SKIP() << "needs two cores";
  // What is alike is half as fast on `rare` as on `old`. Of `gone` the cluster has no server.
  const std::string alike =
      file(cluster, "alike.yaml",
           "platforms: {new: 1, old: 0.6, rare: 0.3, gone: 0.1}\n"
           "origins: {platforms: {new: inferred, old: measured, rare: measured, gone: measured}}\n");
  for (const char* name : {"one", "two", "three"})
    ASSERT_EQ(cluster.run({"profile", "import", "--application", name, alike}).exitCode, 0);

  const auto found = cluster.run(
      profiling({"--json", "--store", "--application", "memory", "--server", "server-1", "--metric", "speed"},
                kMemoryAsSpeed));
  ASSERT_EQ(found.exitCode, 0) << found.err;
  EXPECT_THAT(found.err, HasSubstr("measuring on server-2, with all of its 2 units")) << "the reference";
  EXPECT_THAT(found.err, testing::Not(HasSubstr("measuring on server-3")));
  const Json profile = Json::parse(found.out);
  EXPECT_EQ(profile["platforms"], (Json{{"new", 1.0}, {"old", 0.5}, {"rare", 0.25}}));
  EXPECT_EQ(platformEntry(profile, "new")["server"], "server-1");
  EXPECT_EQ(platformEntry(profile, "old")["performance"], 256 << 20);

  const Json stored = cluster.json({"profile", "show", "memory"});
  EXPECT_EQ(stored["platforms"], profile["platforms"]);
  EXPECT_EQ(platformEntry(stored, "new")["origin"], "measured");
  EXPECT_EQ(platformEntry(stored, "old")["origin"], "measured");
  EXPECT_EQ(platformEntry(stored, "rare")["origin"], "inferred");
  EXPECT_EQ(stored["platform_entries"],
            cluster.json({"profile", "import", "--application", "copy",
                          file(cluster, "copy.yaml",
                               cluster.run({"profile", "export", "memory"}).out)})["platform_entries"]);
  cluster.expectAllUnitsFree();
}

TEST(CalibrationOnACluster, GivesTheSharesOfItsPlatforms) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster(threePlatforms());
  const std::vector<std::string> words = {"profile", "calibrate", "--on-cluster", "--seconds", "1"};
  const auto with = [&words](std::vector<std::string> more) {
    more.insert(more.begin(), words.begin(), words.end());
    return more;
  };
  EXPECT_THAT(cluster.run(words).err, HasSubstr("--reference: the cluster has several platforms"));
  EXPECT_THAT(cluster.run(with({"--reference", "none"})).err, HasSubstr("no server has the platform 'none'"));
  const auto shareOf = [&cluster](const std::string& platform, const std::string& resource) {
    for (const Json& each : cluster.json({"platform", "list"})) {
      if (each["name"] == platform) return each["share"][resource].get<double>();
    }
    return -1.0;
  };
  const auto steer = [&cluster](const char* change, const char* server) {
    EXPECT_EQ(cluster.run({"server", change, server}).exitCode, 0);
  };
  steer("cordon", "server-1");
  steer("cordon", "server-3");
  ASSERT_EQ(cluster.run({"platform", "set", "old", "network_bandwidth=0.25", "memory_capacity=3"}).exitCode,
            0);

  const auto previewed = cluster.run(with({"--reference", "old", "--preview", "--json"}));
  ASSERT_EQ(previewed.exitCode, 0) << previewed.err;
  EXPECT_THAT(previewed.err, HasSubstr("platform rare is left out: its servers are down, cordoned"));
  EXPECT_EQ(Json::parse(previewed.out)["platforms"][0]["share"]["memory_capacity"], 1);
  EXPECT_EQ(shareOf("old", "memory_capacity"), 3) << "nothing is set";
  EXPECT_THAT(cluster.run(with({"--reference", "new"})).err,
              HasSubstr("no server of the platform new can do it"));

  steer("uncordon", "server-1");
  const auto set = cluster.run(with({"--reference", "new", "--json"}));
  ASSERT_EQ(set.exitCode, 0) << set.err;
  const Json found = Json::parse(set.out);
  EXPECT_EQ(found["reference"], "new");
  ASSERT_EQ(found["platforms"].size(), 2u);
  EXPECT_EQ(found["platforms"][0]["share"]["memory_capacity"], 1);
  EXPECT_TRUE(found["platforms"][1]["share"]["network_bandwidth"].is_null());
  EXPECT_EQ(shareOf("new", "memory_capacity"), 1);
  EXPECT_EQ(shareOf("old", "memory_capacity"), 2);
  EXPECT_GT(shareOf("old", "memory_bandwidth"), 0);
  EXPECT_EQ(shareOf("old", "network_bandwidth"), 0.25) << "stays as it was set";
  steer("uncordon", "server-3");
  cluster.expectAllUnitsFree();
}

TEST(ProfilingOnACluster, KeepsWhatItHasWhereAnotherPlatformFails) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster(threePlatforms());
  if (cluster.json({"server", "show", "server-1"})["cores"] < 2) GTEST_SKIP() << "needs two cores";
  const std::string script =
      std::string(kMemoryAsSpeed) + "; [ $TARCIL_MEMORY -ne " + std::to_string(256 << 20) + " ]";
  const std::vector<std::string> flags = {"--json", "--server", "server-1", "--metric", "speed"};
  auto all = flags, one = flags;
  all.insert(all.end(), {"--platforms", "9"});
  one.insert(one.end(), {"--platforms", "1"});
  const auto found = cluster.run(profiling(all, script));
  ASSERT_EQ(found.exitCode, 0) << found.err;
  EXPECT_THAT(found.err, HasSubstr("warning: platform old is left out: nothing was measured on server-2"));
  EXPECT_EQ(Json::parse(found.out)["platforms"], (Json{{"new", 1.0}, {"rare", 0.25}}));
  const auto single = cluster.run(profiling(one, script));
  ASSERT_EQ(single.exitCode, 0) << single.err;
  EXPECT_EQ(Json::parse(single.out)["platforms"], (Json{{"new", 1.0}}));
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

// What `profile list` says of the application; null where it says nothing.
Json listed(TestCluster& cluster, const std::string& application) {
  for (const Json& entry : cluster.json({"profile", "list"})) {
    if (entry["application"] == application) return entry;
  }
  return {};
}

// Whatever else the machine does.
constexpr const char* kTakesAnyPlace = "quality: {max_wait: 0s}\n";

TEST(UnknownApplications, AreMeasuredAfterTheirFirstJobHasComeAndGoOnWithThat) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster(ClusterPlan{.servers = 1, .rus = 2});
  if (cluster.json({"server", "show", "server-1"})["cores"] < 2) GTEST_SKIP() << "needs two cores";
  const std::string job = cluster.jobFile(
      "name: j\napplication: sleeper\ncommand: [sh, -c, 'cat input; echo $KEY >> " +
      cluster.traces().at("seen") + "; sleep 0.05']\nfiles: [input]\nenv: {KEY: value}\n" + kTakesAnyPlace);
  std::ofstream(std::filesystem::path(job).parent_path() / "input") << "data";
  EXPECT_EQ(cluster.run({"submit", job}).exitCode, 2) << "the operator has not asked for it";
  ASSERT_EQ(cluster.run({"tune", "--profile-unknown", "true"}).exitCode, 0);

  EXPECT_TRUE(cluster.json({"plan", job})["profile_assumed"]);
  const auto first = cluster.run({"submit", "--json", "--wait", job});
  ASSERT_EQ(first.exitCode, 0) << first.err;
  EXPECT_THAT(first.err, HasSubstr("sleeper has no profile yet: job "));
  const std::string id = Json::parse(first.out)["id"];
  EXPECT_TRUE(cluster.json({"job", "explain", id})["profile_assumed"]);
  // What is under way, or was found, outlives the master.
  cluster.kill("master");
  cluster.start("master");
  const Json measuring = listed(cluster, "sleeper");
  if (measuring["state"] != "stored") {  // it may be quick
    EXPECT_EQ(measuring["state"], "measuring");
    const std::string measuringId = measuring["job"];
    EXPECT_EQ(cluster.ended(measuringId)["state"], "done");
  }

  const Json stored = listed(cluster, "sleeper");
  ASSERT_EQ(stored["state"], "stored") << stored.dump();
  EXPECT_EQ(stored["note"], "measured on server-1, platform default");
  EXPECT_EQ(stored["entries"][kResources]["origin"], "measured");
  // It ran there as the job does, and many times.
  const auto seen = cluster.traces().lines("seen");
  EXPECT_GT(seen.size(), 2u);
  EXPECT_EQ(seen.back(), "value");
  const auto second = cluster.run({"submit", "--json", "--wait", job});
  ASSERT_EQ(second.exitCode, 0) << second.err;
  EXPECT_THAT(second.err, testing::Not(HasSubstr("has no profile")));
  EXPECT_FALSE(cluster.json({"job", "explain", Json::parse(second.out)["id"]})["profile_assumed"]);
  cluster.expectAllUnitsFree();
}

TEST(UnknownApplications, OfLateBoundJobsAreMeasuredUnlessAnExecutorRunsThem) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster(ClusterPlan{.servers = 1, .rus = 2});
  if (cluster.json({"server", "show", "server-1"})["cores"] < 2) GTEST_SKIP() << "needs two cores";
  ASSERT_EQ(cluster.run({"tune", "--profile-unknown", "true"}).exitCode, 0);
  const std::string late = "application: blink\npolicy: late-binding\ncommand: [sleep, '0.05']\n";
  const auto submitted = cluster.run({"submit", "--wait", cluster.jobFile(late)});
  ASSERT_EQ(submitted.exitCode, 0) << submitted.err;
  EXPECT_THAT(submitted.err, HasSubstr("blink has no profile yet: job "));
  cluster.until("it is measured", [&] { return listed(cluster, "blink")["state"] == "stored"; });
  const auto again = cluster.run({"submit", "--wait", cluster.jobFile(late)});
  ASSERT_EQ(again.exitCode, 0) << again.err;
  EXPECT_THAT(again.err, testing::Not(HasSubstr("has no profile")));
  const auto executed = cluster.run({"submit", cluster.jobFile("application: other\npolicy: late-binding\n"
                                                               "executor: [cat]\ncommand: [x]\n")});
  EXPECT_EQ(executed.exitCode, 2) << executed.err;
}

TEST(UnknownApplications, ThatCannotBeMeasuredSayWhyAndAreNotTriedAgainAtOnce) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster(ClusterPlan{.servers = 1, .rus = 2});
  if (cluster.json({"server", "show", "server-1"})["cores"] < 2) GTEST_SKIP() << "needs two cores";
  ASSERT_EQ(cluster.run({"tune", "--profile-unknown", "true"}).exitCode, 0);
  const std::string job =
      cluster.jobFile("name: j\napplication: broken\ncommand: [sh, -c, 'echo torn >&2; exit 7']\n" +
                      std::string(kTakesAnyPlace));
  EXPECT_EQ(cluster.run({"submit", "--wait", job}).exitCode, 1);
  cluster.until("the measurement has failed", [&] { return listed(cluster, "broken")["state"] == "failed"; });
  const std::string reason = listed(cluster, "broken")["reason"];
  EXPECT_THAT(reason, HasSubstr("exit code 7; the last it said: torn"));
  const auto again = cluster.run({"submit", "--wait", job});
  EXPECT_EQ(again.exitCode, 1);
  EXPECT_THAT(again.err, HasSubstr("broken is not measured now: measuring broken failed"));
  ASSERT_EQ(cluster.run({"profile", "delete", "broken"}).exitCode, 0);
  EXPECT_EQ(listed(cluster, "broken"), Json());
}

}  // namespace tarcil::processes_profiles_test
