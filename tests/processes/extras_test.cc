// Countable things of servers, from the job file to the task's environment.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "tests/support/cluster.h"
#include "tests/support/device_folder.h"

namespace tarcil::processes_extras_test {

using testing::UnorderedElementsAre;

// A cluster whose servers are timers, described by this text.
class EmulatedServers {
 public:
  explicit EmulatedServers(const std::string& servers)
      : cluster({.emulate = written(folder_, "servers: " + servers + "\n")}) {}

 private:
  static std::string written(const TraceFolder& folder, const std::string& text) {
    folder.write("servers.yaml", text);
    return folder.at("servers.yaml");
  }

  TraceFolder folder_;

 public:
  ManualCluster cluster;
};

std::string job(const std::string& seconds, const std::string& more) {
  return "command: [sleep, \"" + seconds + "\"]\n" + more;
}

TEST(Extras, AreHandedOutOneByOneAndWaitedFor) {
  const EmulatedServers servers("[{name: s, rus: 8, extras: {gpus: 3, tapes: 1}}]");
  const ManualCluster& cluster = servers.cluster;
  const std::string first = cluster.submit(job("1000", "tasks: 3\nextras: {gpus: 1}\n"));
  cluster.until("all tasks run", [&cluster, &first]() {
    const Json status = cluster.status(first);
    return std::all_of(status["tasks"].begin(), status["tasks"].end(),
                       [](const Json& task) { return task["state"] == "running"; });
  });
  std::vector<Json> held;
  const Json status = cluster.status(first);
  for (const Json& task : status["tasks"]) held.push_back(task["extras"]["gpus"]);
  EXPECT_THAT(held, UnorderedElementsAre(Json{0}, Json{1}, Json{2}));
  EXPECT_EQ(cluster.json({"server", "list"})[0]["extras"],
            Json::parse(R"({"gpus": {"total": 3, "free": 0}, "tapes": {"total": 1, "free": 1}})"));
  std::vector<Json> shown;
  const Json server = cluster.json({"server", "show", "s"});
  for (const Json& task : server["tasks"]) shown.push_back(task["extras"]["gpus"]);
  EXPECT_THAT(shown, UnorderedElementsAre(Json{0}, Json{1}, Json{2}));

  const std::string second = cluster.submit(job("0", "extras: {gpus: 2}\n"));
  cluster.until("the reason is known",
                [&cluster, &second]() { return cluster.status(second)["reason"].is_string(); });
  const Json waiting = cluster.status(second);
  EXPECT_EQ(waiting["state"], "queued");
  EXPECT_THAT(waiting["reason"].get<std::string>(), testing::HasSubstr("2 gpus"));
  EXPECT_EQ(cluster.run({"job", "cancel", first}).exitCode, 0);
  EXPECT_EQ(cluster.ended(second)["state"], "done");
  cluster.ended(first);
  EXPECT_EQ(cluster.json({"server", "list"})[0]["extras"]["gpus"]["free"], 3);
}

TEST(Extras, AreLookedForWhereTheyAre) {
  const EmulatedServers servers(
      "[{name: \"plain-{n}\", count: 8, rus: 8}, {name: gpu, rus: 8, extras: {gpus: 2}}]");
  const std::string submitted = servers.cluster.submit(job("0", "tasks: 2\nextras: {gpus: 1}\n"));
  const Json status = servers.cluster.ended(submitted);
  EXPECT_EQ(status["state"], "done");
  for (const Json& task : status["tasks"]) EXPECT_EQ(task["server"], "gpu");
}

TEST(Extras, ThatNoServerHasAreRefused) {
  const EmulatedServers servers("[{name: s, rus: 8, extras: {gpus: 3}}]");
  const ManualCluster& cluster = servers.cluster;
  cluster.until("the server is there", [&cluster]() { return !cluster.json({"server", "list"}).empty(); });
  const ProcessResult refused = cluster.run({"submit", cluster.jobFile(job("0", "extras: {gpus: 4}\n"))});
  EXPECT_EQ(refused.exitCode, 1);
  EXPECT_THAT(refused.err, testing::HasSubstr("the most that one that suits it has is 3"));
}

TEST(Extras, AreHeldByTheirTasksThroughTheDeathsOfMasterAndMonitor) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.rus = 4, .monitorFlags = {"--extra", "gpus=2"}});
  const TraceFolder& traces = cluster.traces();
  const std::string say = "echo $TARCIL_EXTRA_GPUS/$CUDA_VISIBLE_DEVICES >> " + traces.at("held") + "; ";
  const std::string first =
      cluster.submit(shellJob(say + traces.waitForGate(), "tasks: 2\nextras: {gpus: 1}\n"));
  traces.waitForLines("held", 2);
  EXPECT_THAT(traces.lines("held"), UnorderedElementsAre("0/0", "1/1"));

  for (const std::string role : {"master", "server-1"}) {
    cluster.kill(role);
    cluster.start(role);
  }
  cluster.until("the server is up", [&cluster]() {
    const Json servers = cluster.json({"server", "list"});
    return servers.size() == 1 && servers[0]["state"] == "up";
  });
  EXPECT_EQ(cluster.json({"server", "list"})[0]["extras"]["gpus"]["free"], 0);
  const std::string second = cluster.submit(shellJob(say, "extras: {gpus: 2}\n"));
  EXPECT_EQ(cluster.status(second)["state"], "queued");
  traces.openGate();
  EXPECT_EQ(cluster.ended(second)["state"], "done");
  EXPECT_EQ(cluster.ended(first)["state"], "done");
  EXPECT_EQ(traces.lines("held").back(), "0,1/0,1");
}

class ExtraDevices : public testing::Test {
 protected:
  void SetUp() override {
    SKIP_WITHOUT_CONTAINERS();
    if (!std::filesystem::exists("/sys/fs/cgroup/cgroup.procs") &&
        !std::filesystem::exists("/sys/fs/cgroup/unified/cgroup.procs")) {
      GTEST_SKIP() << "no cgroup version 2";
    }
    // The devices of /dev/null and /dev/zero stand for GPUs.
    nodes_.add("gpu0", 1, 3);
    nodes_.add("gpu1", 1, 5);
    if (!nodes_.isMade()) GTEST_SKIP() << "no device nodes can be made here";
  }
  std::vector<std::string> flags() const {
    return {"--extra", "gpus=2", "--extra-device", "gpus=" + nodes_.at("gpu{n}"), "--host-view"};
  }
  // Shell that appends to `file` which of the two open for whoever holds what it is told.
  std::string tryBoth(const std::string& file) const {
    const auto tried = [this](const std::string& name) {
      return "$({ (: < " + nodes_.at(name) + ") 2>&1 && echo opens; } | grep -o 'opens\\|not permitted')";
    };
    return "echo \"$TARCIL_EXTRA_GPUS:" + tried("gpu0") + "," + tried("gpu1") + "\" >> " + file;
  }

  DeviceFolder nodes_;
};

TEST_F(ExtraDevices, OpenForTheTasksThatHoldThemAlsoWhenTheMonitorIsStartedAgain) {
  ManualCluster cluster({.rus = 4, .monitorFlags = flags()});
  const TraceFolder& traces = cluster.traces();
  const std::string both = tryBoth(traces.at("tried"));
  const std::string held =
      cluster.submit(shellJob(both + "; " + traces.waitForGate() + both, "tasks: 2\nextras: {gpus: 1}\n"));
  traces.waitForLines("tried", 2);
  cluster.kill("server-1");
  cluster.start("server-1");
  traces.openGate();
  EXPECT_EQ(cluster.ended(held)["state"], "done");
  EXPECT_EQ(cluster.ended(cluster.submit(shellJob(both)))["state"], "done");
  const std::string first = "0:opens,not permitted", second = "1:not permitted,opens";
  EXPECT_THAT(traces.lines("tried"),
              UnorderedElementsAre(first, first, second, second, ":not permitted,not permitted"));
}

TEST_F(ExtraDevices, OpenForNoLateBoundTask) {
  ManualCluster cluster({.rus = 4, .monitorFlags = flags()});
  const TraceFolder& traces = cluster.traces();
  const ProcessResult ran =
      cluster.run({"run", "--policy", "late-binding", "--env", "CUDA_VISIBLE_DEVICES=0,1", "--", "sh", "-c",
                   tryBoth(traces.at("tried"))});
  EXPECT_EQ(ran.exitCode, 0) << ran.err;
  EXPECT_THAT(traces.lines("tried"), UnorderedElementsAre(":not permitted,not permitted"));
}

}  // namespace tarcil::processes_extras_test
