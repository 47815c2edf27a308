// From a profile that the cluster keeps to a placement that it changed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace tarcil
