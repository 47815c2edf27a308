// Crons on a cluster of real processes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/cluster.h"

namespace tarcil::cron_test {

using testing::AllOf;
using testing::HasSubstr;

// Comes once in four years, at a time that no test runs at.
constexpr const char* kSeldom = "30 3 29 2 *";

TEST(Cron, MakesJobsByHandAndSurvivesTheDeathOfTheMaster) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.rus = 2});
  const std::string file = cluster.jobFile("parameters: {word: none}\ncommand: [echo, '{{word}}']\n");
  const Json added = cluster.json({"cron", "add", "leap", kSeldom, file, "--zone", "Europe/Berlin", "--set",
                                   "word=hello", "--if-running", "wait", "--deadline", "2h"});
  EXPECT_THAT(added["next"][0].get<std::string>(), HasSubstr("-02-29T02:30:00")) << "UTC";
  const std::string job = cluster.json({"cron", "run", "leap"})["number"].dump();
  EXPECT_EQ(cluster.run({"job", "wait", job}).exitCode, 0);
  EXPECT_EQ(cluster.run({"job", "logs", job}).out, "hello\n");
  const Json status = cluster.json({"job", "status", job});
  EXPECT_EQ(status["name"], "leap");
  EXPECT_EQ(status["cron"], "leap");
  cluster.kill("master");
  cluster.start("master");
  const Json cron = cluster.json({"cron", "list"})[0];
  EXPECT_EQ(cron["name"], "leap");
  EXPECT_EQ(cron["zone"], "Europe/Berlin");
  EXPECT_EQ(cron["if_running"], "wait");
  EXPECT_EQ(cron["deadline"], 7200.0);
  EXPECT_EQ(cron["next"], Json::array({added["next"][0]}));
  EXPECT_EQ(cron["last"]["number"].dump(), job);
  EXPECT_EQ(cron["last"]["state"], "done");
  const auto tooSoon = cluster.run({"cron", "run", "leap"});
  EXPECT_EQ(tooSoon.exitCode, 1);
  EXPECT_THAT(tooSoon.err, HasSubstr("less than a minute ago"));
}

TEST(Cron, IsHeldReleasedShownAndRemoved) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.rus = 2});
  ASSERT_EQ(cluster.run({"cron", "add", "leap", kSeldom, cluster.jobFile(shellJob("true"))}).exitCode, 0);
  EXPECT_THAT(cluster.run({"cron", "hold", "leap"}).out, HasSubstr("leap"));
  cluster.kill("master");
  cluster.start("master");
  EXPECT_EQ(cluster.json({"cron", "show", "leap"})["held"], true);
  EXPECT_THAT(cluster.run({"cron", "run", "leap"}).err, HasSubstr("is held; release it first"));
  EXPECT_EQ(cluster.run({"cron", "release", "leap"}).exitCode, 0);
  ASSERT_EQ(cluster.run({"cron", "run", "leap"}).exitCode, 0);
  const auto shown = cluster.run({"cron", "show", "leap"});
  EXPECT_THAT(shown.out, AllOf(HasSubstr("-02-29T03:30:00"), HasSubstr("by hand"), HasSubstr("active")));
  const std::string other = cluster.jobFile(shellJob("true", "tasks: 2\n"));
  EXPECT_THAT(cluster.run({"cron", "add", "leap", kSeldom, other}).err, HasSubstr("--replace"));
  ASSERT_EQ(cluster.run({"cron", "hold", "leap"}).exitCode, 0);
  const ProcessResult again = cluster.run({"cron", "add", "leap", kSeldom, other, "--replace"});
  ASSERT_EQ(again.exitCode, 0);
  EXPECT_THAT(again.out, HasSubstr("State    = held"));
  const Json replaced = cluster.json({"cron", "show", "leap"});
  EXPECT_EQ(replaced["next"].size(), 0u) << "it is held";
  EXPECT_EQ(replaced["runs"].size(), 1u);
  EXPECT_EQ(replaced["job"]["tasks"], 2);
  EXPECT_EQ(cluster.run({"cron", "remove", "leap"}).exitCode, 0);
  EXPECT_EQ(cluster.json({"cron", "list"}).size(), 0u);
  EXPECT_EQ(cluster.json({"job", "list"}).size(), 1u) << "its job stays";
  const auto gone = cluster.run({"cron", "show", "leap"});
  EXPECT_EQ(gone.exitCode, 1);
  EXPECT_THAT(gone.err, HasSubstr("has no cron 'leap'"));
}

TEST(Cron, WhatIsWrongIsSaidAndNothingChanged) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.rus = 2});
  const std::string good = cluster.jobFile(shellJob("true"));
  const auto refusal = [&cluster](std::vector<std::string> words) {
    words.insert(words.begin(), {"cron", "add"});
    const auto refused = cluster.run(words);
    EXPECT_EQ(refused.exitCode, 2) << refused.err;
    return refused.err;
  };
  EXPECT_THAT(refusal({"x", "0 0 31 2 *", good}), HasSubstr("SCHEDULE: day of month"));
  EXPECT_THAT(refusal({"a/b", kSeldom, good}), HasSubstr("NAME"));
  EXPECT_THAT(refusal({"x", kSeldom, good, "--zone", "Mars/Base"}), HasSubstr("zone: 'Mars/Base'"));
  EXPECT_THAT(refusal({"x", kSeldom, good, "--deadline", "1s"}), HasSubstr("--deadline: 1s is out of range"));
  EXPECT_THAT(refusal({"x", kSeldom, good, "--if-running", "perhaps"}), HasSubstr("--if-running"));
  const std::string late = cluster.jobFile(shellJob("true", "policy: late-binding\n"));
  EXPECT_THAT(refusal({"x", kSeldom, late}), HasSubstr(late + ": policy: agents keep late-bound jobs"));
  const std::string timed = cluster.jobFile(shellJob("true", "start_after: tomorrow 6:00\n"));
  EXPECT_THAT(refusal({"x", kSeldom, timed}), HasSubstr(timed + ": start_after: the schedule says when"));
  const std::string dependent = cluster.jobFile(shellJob("true", "after: 1\n"));
  EXPECT_THAT(refusal({"x", kSeldom, dependent}), HasSubstr("after: names jobs"));
  EXPECT_THAT(refusal({"x", kSeldom, good, "--hold"}), HasSubstr("--hold"));
  EXPECT_EQ(cluster.json({"cron", "list"}).size(), 0u);
}

}  // namespace tarcil::cron_test
