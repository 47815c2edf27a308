// Tasks that perform badly, on whole clusters.
#include <gtest/gtest.h>

#include "tests/support/cluster.h"

namespace tarcil::adjusting_test {

// Servers of two units whose violations are seen, and acted on, within fractions of a second.
ClusterPlan quickPlan(uint32_t servers, const char* calm) {
  return {.servers = servers,
          .rus = 2,
          .monitorFlags = {"--performance-period", "100ms"},
          .masterFlags = {"--adjusting-pause", "100ms", "--adjusting-calm", calm}};
}

// Performs badly for want of memory until the gate is open: processes of its own are killed at its
// limit, which no load of this machine hides. Notes what memory it starts with.
std::string sufferer(const TraceFolder& traces, const std::string& adjust) {
  const std::string script =
      "echo $TARCIL_MEMORY >> " + traces.at("memory") + "; while [ -d " + traces.at("") + " ] && ! [ -e " +
      traces.at("gate") +
      " ]; do dd if=/dev/zero of=/dev/null bs=32M count=1 status=none; echo 1 > $TARCIL_METRIC_FILE; done";
  return shellJob(script, "performance: {metric: reported, target: 100, window: 300ms}\nadjust: " + adjust +
                              "\nlimits: {memory: 16MiB}\n");
}

TEST(Adjusting, ATaskWhoseServerIsFullStartsElsewhereWithTheUnitsThatItNeeds) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster(quickPlan(2, "1h"));
  const TraceFolder& traces = cluster.traces();
  ASSERT_EQ(cluster.run({"server", "cordon", "server-2"}).exitCode, 0);
  const std::string filler = cluster.submit(shellJob(traces.note("started") + traces.waitForGate()));
  traces.waitForLines("started", 1);
  const std::string moves = cluster.submit(sufferer(traces, "{more_rus: 1, move: true}"));
  traces.waitForLines("memory", 1);
  ASSERT_EQ(cluster.status(moves)["tasks"][0]["server"], "server-1");
  ASSERT_EQ(cluster.run({"server", "uncordon", "server-2"}).exitCode, 0);

  traces.waitForLines("memory", 2);
  const Json task = cluster.status(moves)["tasks"][0];
  EXPECT_EQ(task["server"], "server-2");
  EXPECT_EQ(task["rus"], Json::parse("[0, 1]"));
  const std::vector<std::string> memory = traces.lines("memory");
  EXPECT_EQ(memory[0], std::to_string(16 << 20));
  EXPECT_GT(std::stoull(memory[1]), std::stoull(memory[0])) << "the limit goes with the units";

  traces.openGate();
  EXPECT_EQ(cluster.ended(moves)["tasks"][0]["exit_code"], 0);
  EXPECT_EQ(cluster.ended(filler)["state"], "done");
  cluster.expectAllUnitsFree();
}

// Performs so until the gate is open.
std::string performing(int value, const TraceFolder& traces, const std::string& until) {
  return shellJob("until " + until + "; do echo " + std::to_string(value) +
                      " > $TARCIL_METRIC_FILE; sleep 0.02; done; " + traces.note("ended"),
                  "performance: {metric: reported, window: 300ms}\n"
                  "profile: {application: steady, caused: {core: 1}, tolerated: {core: 90}}\n");
}

TEST(Adjusting, ATaskThatIsWorseThanEarlierRunsFromItsStartIsFound) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster(quickPlan(1, "300ms"));
  const TraceFolder& traces = cluster.traces();
  // Whatever a run lasts here, one that was too short to say how it performs does not count.
  cluster.until("enough runs were watched", [&]() {
    const std::string job = cluster.submit(performing(100, traces, "[ $((i = ${i:-0} + 1)) -gt 100 ]"));
    EXPECT_EQ(cluster.ended(job)["state"], "done");
    const Json observed = cluster.json({"profile", "list"});
    for (const Json& each : observed) {
      if (each["state"] != "observed" || each["performances"].empty()) continue;
      const Json& performance = each["performances"][0];
      EXPECT_EQ(performance["mean"], 100);
      return performance["runs"].get<int>() >= 3;
    }
    return false;
  });
  const std::string worse = cluster.submit(performing(50, traces, "[ -e " + traces.at("gate") + " ]"));
  cluster.until("the task is found to be degraded", [&]() {
    const Json violations = cluster.json({"job", "explain", worse})["troubles"];
    return !violations.empty() && violations[0]["expected"] == 100 && violations[0]["measured"] == 50;
  });
  traces.openGate();
  EXPECT_EQ(cluster.ended(worse)["state"], "done");
  cluster.expectAllUnitsFree();
}

// Its neighbour keeps several processes busy, and allows to be throttled. How badly this one does, no load of
// this machine decides; who is the cause, its monitor measures.
TEST(Adjusting, ANeighbourThatYieldsIsThrottledWhileItDoesHarmAndThenNoMore) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster(quickPlan(1, "300ms"));
  const TraceFolder& traces = cluster.traces();
  const std::string hog = cluster.submit(shellJob(
      "for i in 1 2 3 4 5 6; do sh -c 'while :; do :; done' & done; wait", "name: hog\nyields: true\n"));
  cluster.until("the neighbour runs", [&]() { return cluster.status(hog)["state"] == "running"; });
  const std::string service =
      cluster.submit(shellJob("while ! [ -e " + traces.at("gate") +
                                  " ]; do echo 1 > $TARCIL_METRIC_FILE; sleep 0.02; done; "
                                  "while [ -d " +
                                  traces.at("") + " ]; do echo 100 > $TARCIL_METRIC_FILE; sleep 0.02; done",
                              "performance: {metric: reported, target: 100, window: 300ms}\n"
                              "profile: {caused: {core: 1}, tolerated: {core: 5}}\nquality: "
                              "{protect_neighbours: false, max_wait: 0s}\n"));
  const auto says = [&cluster](const std::string& job, const std::string& text) {
    const Json explained = cluster.json({"job", "explain", job});
    for (const Json& step : explained["steps"]) {
      if (step["step"].get<std::string>().find(text) != std::string::npos) return true;
    }
    return false;
  };
  cluster.until("the neighbour is throttled", [&]() { return says(hog, "throttled to 2% of the time"); });
  cluster.until("the server shows it", [&]() {
    const Json server = cluster.json({"server", "show", "server-1"});
    for (const Json& task : server["tasks"]) {
      if (task["job"] == hog) return !task["throttled"].is_null();
    }
    return false;
  });
  EXPECT_TRUE(says(service, "throttled hog (job 1)"));
  traces.openGate();
  cluster.until("it is throttled no more", [&]() { return says(hog, "throttled no more"); });
  for (const std::string& job : {hog, service}) {
    EXPECT_EQ(cluster.run({"job", "cancel", job}).exitCode, 0);
    EXPECT_EQ(cluster.ended(job)["state"], "cancelled");
  }
  cluster.expectAllUnitsFree();
}

}  // namespace tarcil::adjusting_test
