// The numbers of jobs on a cluster of real processes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/cluster.h"

namespace tarcil::numbers_test {

using testing::HasSubstr;

TEST(Numbers, GoOnThroughTheDeathOfTheMasterAndAreTakenByEveryCommand) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.rus = 2, .agents = 2});
  const std::string file = cluster.jobFile(shellJob("echo task $TARCIL_TASK", "tasks: 2\nname: greet\n"));
  EXPECT_EQ(cluster.json({"submit", file})["number"], 1);
  EXPECT_EQ(cluster.json({"submit", file})["number"], 2);
  cluster.kill("master");
  cluster.start("master");
  const Json third = cluster.json({"submit", file});
  EXPECT_EQ(third["number"], 3);
  EXPECT_EQ(cluster.json({"job", "wait", "1", "2", "3"})[2]["number"], 3);
  EXPECT_EQ(cluster.run({"job", "wait", "1", "--timeout", "0s"}).exitCode, 0) << "it is over already";
  EXPECT_EQ(cluster.json({"job", "status", "3"})["id"], third["job"]);
  EXPECT_EQ(cluster.run({"job", "logs", "3.1"}).out, "task 1\n");
  EXPECT_EQ(cluster.json({"job", "explain", "3"})["number"], 3);
  EXPECT_THAT(cluster.run({"job", "status", "name:greet"}).err,
              HasSubstr("several jobs have a name like greet"));
  EXPECT_THAT(cluster.run({"job", "cancel", "3"}).out, HasSubstr("3 (done)"));
  EXPECT_THAT(cluster.run({"job", "hold", "3"}).out, HasSubstr("Was over = 3 (done)"));
  EXPECT_EQ(cluster.run({"job", "status", "4"}).exitCode, 1);
}

TEST(Numbers, OfLateBoundJobsAreOfTheSameRow) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.rus = 2});
  EXPECT_EQ(cluster.json({"submit", cluster.jobFile(shellJob("true"))})["number"], 1);
  const std::string late = cluster.jobFile(shellJob("echo late", "policy: late-binding\nname: late\n"));
  const Json first = cluster.json({"submit", late});
  EXPECT_EQ(first["number"], 2) << "its agent has leased some";
  EXPECT_EQ(cluster.json({"submit", late})["number"], 3);
  EXPECT_GT(cluster.json({"submit", cluster.jobFile(shellJob("true"))})["number"], 3);
  EXPECT_EQ(cluster.run({"job", "wait", "2"}).exitCode, 0);
  const Json status = cluster.json({"job", "status", "2"});
  EXPECT_EQ(status["id"], first["job"]);
  EXPECT_EQ(status["number"], 2);
  EXPECT_EQ(cluster.run({"job", "logs", "2.0"}).out, "late\n");
  EXPECT_EQ(cluster.json({"submit", "--wait", late})["number"].is_number(), true);
}

}  // namespace tarcil::numbers_test
