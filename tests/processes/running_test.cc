// Jobs on a whole cluster where nothing goes wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/monitor/container/root_image.h"
#include "tests/support/cluster.h"

namespace tarcil::running_test {

TEST(Run, CopiesOutputAndExitCode) {
  SKIP_WITHOUT_CONTAINERS();
  SupervisedCluster cluster({"--rus", "2"});
  const ProcessResult result = cluster.run({"run", "--", "sh", "-c", "echo out; echo err >&2; exit 7"});
  EXPECT_EQ(result.out, "out\n");
  EXPECT_EQ(result.err, "err\n");
  EXPECT_EQ(result.exitCode, 7);
}

TEST(Run, ExitsWith128AndTheSignal) {
  SKIP_WITHOUT_CONTAINERS();
  SupervisedCluster cluster({"--rus", "2"});
  EXPECT_EQ(cluster.run({"run", "--", "sh", "-c", "kill -TERM $$"}).exitCode, 143);
}

TEST(Run, ExitsWith125WhereTheCommandCannotBeStarted) {
  SKIP_WITHOUT_CONTAINERS();
  SupervisedCluster cluster({"--rus", "2"});
  const ProcessResult result = cluster.run({"run", "--", "/no/such/program"});
  EXPECT_EQ(result.exitCode, 125);
  EXPECT_THAT(result.err, testing::HasSubstr("/no/such/program"));
}

TEST(Run, SaysWhereItsOutputCannotBeWritten) {
  SKIP_WITHOUT_CONTAINERS();
  SupervisedCluster cluster({"--rus", "2"});
  const ProcessResult result = runProcess(
      {"/bin/sh", "-c", "\"$0\" run --data \"$1\" -- echo hi > /dev/full", TARCIL_BINARY, cluster.data()},
      {});
  EXPECT_EQ(result.exitCode, 125);
  EXPECT_THAT(result.err, testing::HasSubstr("cannot write to stdout: No space left on device"));
}

TEST(Run, SaysWhyItWaits) {
  SKIP_WITHOUT_CONTAINERS();
  SupervisedCluster cluster({"--rus", "1"});
  ASSERT_EQ(cluster.run({"server", "cordon", "server-1"}).exitCode, 0);
  Process running = cluster.startCommand({"run", "--", "true"});
  EXPECT_TRUE(running.waitFor("the job waits: "));
  ASSERT_EQ(cluster.run({"server", "uncordon", "server-1"}).exitCode, 0);
  EXPECT_EQ(running.finish().exitCode, 0);
}

TEST(Submit, WaitsAndTellsEveryTasksResult) {
  SKIP_WITHOUT_CONTAINERS();
  SupervisedCluster cluster({"--servers", "2", "--rus", "2"});
  const std::string file = cluster.jobFile(shellJob("exit $TARCIL_TASK", "tasks: 3\n"));
  const Json job = cluster.json({"submit", "--wait", file}, 1);
  EXPECT_EQ(job["state"], "failed");
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(job["tasks"][i]["exit_code"], i);
    EXPECT_EQ(job["tasks"][i]["state"], i == 0 ? "done" : "failed");
  }
  cluster.expectAllUnitsFree();
}

TEST(Up, GoesOnWhereItWasOnTheSameFolder) {
  SKIP_WITHOUT_CONTAINERS();
  SupervisedCluster cluster({"--rus", "2"});
  const std::string job = cluster.submit(shellJob("exit 3"));
  cluster.ended(job);
  ASSERT_EQ(cluster.run({"down"}).exitCode, 0);
  ASSERT_EQ(cluster.run({"up", "--detach", "--rus", "2"}).exitCode, 0);
  EXPECT_EQ(cluster.status(job)["tasks"][0]["exit_code"], 3);
  EXPECT_EQ(cluster.run({"run", "--", "true"}).exitCode, 0);
}

TEST(Up, PassesOnWhatItsServersOffer) {
  SKIP_WITHOUT_CONTAINERS();
  TraceFolder images;
  makeRootImage(images.at("small"), {"sh", "ls"});
  SupervisedCluster cluster({"--rus", "2", "--allow-rootfs", images.at(""), "--extra", "gpus=1"});
  const std::string job =
      cluster.submit(shellJob("ls / && exit $((4 + TARCIL_EXTRA_GPUS))",
                              "extras: {gpus: 1}\ncontainer: {rootfs: " + images.at("small") + "}\n"));
  const Json ended = cluster.ended(job);
  EXPECT_EQ(ended["tasks"][0]["exit_code"], 4) << ended;
  EXPECT_THAT(cluster.run({"job", "logs", job}).out, testing::Not(testing::HasSubstr("root")));
}

TEST(EmulatedServers, HaveTheSharesOfTheirFile) {
  TraceFolder folder;
  folder.write("servers.yaml", "servers: [{name: s, rus: 2, platform: p}]\nplatforms: {p: {llc: 0.5}}\n");
  SupervisedCluster cluster({"--emulate", folder.at("servers.yaml")});
  const Json platforms = cluster.json({"platform", "list"});
  ASSERT_EQ(platforms.size(), 1u);
  EXPECT_EQ(platforms[0]["name"], "p");
  EXPECT_EQ(platforms[0]["share"]["llc"], 0.5);
}

TEST(EmulatedServers, FinishALargeJobAcrossAKillOfTheMaster) {
  TraceFolder folder;
  folder.write("servers.yaml", "servers:\n  - {name: \"s-{n}\", count: 200, rus: 8}\n");
  SupervisedCluster cluster({"--emulate", folder.at("servers.yaml")});
  EXPECT_EQ(cluster.json({"server", "list"}).size(), 200u);
  const std::string job = cluster.submit("command: [sleep, 0.2]\ntasks: 500\n");
  cluster.kill("master");
  const Json ended = cluster.ended(job);
  EXPECT_EQ(ended["state"], "done");
  EXPECT_EQ(ended["tasks"].size(), 500u);
  cluster.expectAllUnitsFree();
}

}  // namespace tarcil::running_test
