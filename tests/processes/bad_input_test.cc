// What cannot work says so in one message, with the exit code of its kind, and changes nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "rpc/token.h"
#include "tests/support/cluster.h"

namespace tarcil::bad_input_test {

using testing::HasSubstr;
using testing::StartsWith;

void expectOneMessage(const ProcessResult& result, int exitCode, const std::string& about) {
  EXPECT_EQ(result.exitCode, exitCode) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, StartsWith("tarcil: "));
  EXPECT_THAT(result.err, HasSubstr(about));
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
}

// Two servers of two units each, as timers.
class BadInput : public testing::Test {
 protected:
  static std::string servers() {
    static const TraceFolder folder;
    folder.write("servers.yaml",
                 "servers: [{name: \"s-{n}\", count: 2, rus: 2, attributes: {gpu: \"no\"}}]\n");
    return emulatedServer(folder);
  }

  void expectRefused(const std::string& yaml, int exitCode, const std::string& about) {
    expectOneMessage(cluster_.run({"submit", cluster_.jobFile(yaml)}), exitCode, about);
    EXPECT_EQ(cluster_.json({"job", "list"}), Json::array());
  }

  SupervisedCluster cluster_{{"--emulate", servers()}};
};

TEST_F(BadInput, MalformedFileNamesThePlace) {
  expectRefused("command: [sleep\ntasks: 3\n", 2, "job.yaml:");
}

TEST_F(BadInput, WrongValueNamesTheField) {
  expectRefused("command: [sleep, 1]\ntasks: 0\n", 2, ":2:8: tasks: ");
}

TEST_F(BadInput, UnknownFieldIsNamed) {
  expectRefused("command: [sleep, 1]\nprio: 3\n", 2, ":2:1: prio: unknown field");
}

TEST_F(BadInput, MissingCommandIsNamed) {
  expectRefused("tasks: 2\n", 2, "command");
}

TEST_F(BadInput, UnknownResourceOfAProfileIsNamed) {
  expectRefused("command: [sleep, 1]\nprofile: {caused: {l9: 3}}\n", 2, "l9");
}

TEST_F(BadInput, PressureAboveTheScaleIsNamed) {
  expectRefused("command: [sleep, 1]\nprofile: {caused: {llc: 100}}\n", 2, "100");
}

TEST_F(BadInput, ConstraintThatNobodyMeetsIsRefused) {
  expectRefused("command: [sleep, 1]\nplacement: {constraints: [gpu = yes]}\n", 1, "gpu");
}

TEST_F(BadInput, TaskLargerThanAnyServerIsRefused) {
  expectRefused("command: [sleep, 1]\nrus_per_task: 3\n", 1, "3");
}

TEST_F(BadInput, GangLargerThanTheClusterIsRefused) {
  expectRefused("command: [sleep, 1]\ntasks: 5\nschedule: gang\n", 1, "5");
}

TEST_F(BadInput, WrongTokenIsNotAllowed) {
  TraceFolder folder;
  ASSERT_TRUE(writeTokenFile(folder.at("token"), makeToken()).ok());
  expectOneMessage(cluster_.run({"job", "list", "--token-file", folder.at("token")}), 3, "token");
}

TEST_F(BadInput, NoSuchJobIsSaid) {
  expectOneMessage(cluster_.run({"job", "status", std::string(32, 'a')}), 1, "job");
}

TEST_F(BadInput, SecondClusterInTheSameFolderIsRefused) {
  expectOneMessage(cluster_.run({"up", "--detach", "--emulate", servers()}), 2, "tarcil down");
}

TEST(NoCluster, IsSaidWithExitCode3) {
  TraceFolder folder;
  ASSERT_TRUE(writeTokenFile(folder.at("token"), makeToken()).ok());
  const Environment environment = {{"HOME", folder.at("")}};
  const ProcessResult nowhere = runProcess({TARCIL_BINARY, "job", "list"}, environment);
  expectOneMessage(nowhere, 3, "tarcil up");
  const ProcessResult unreachable =
      runProcess({TARCIL_BINARY, "job", "list", "--cluster", "unix:" + folder.at("none.sock"), "--token-file",
                  folder.at("token")},
                 environment);
  EXPECT_EQ(unreachable.exitCode, 3);
  EXPECT_THAT(unreachable.err, HasSubstr("out of reach"));
}

TEST(DataFolder, ThatCannotBeMadeIsSaid) {
  TraceFolder folder;
  folder.write("file", "");
  const ProcessResult result = runProcess({TARCIL_BINARY, "up", "--detach", "--data", folder.at("file/data"),
                                           "--emulate", emulatedServer(folder)},
                                          {{"HOME", folder.at("")}});
  expectOneMessage(result, 2, "--data");
}

TEST(Up, ChecksWhatItPassesOnBeforeItStartsAnything) {
  TraceFolder folder;
  const auto up = [&folder](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {TARCIL_BINARY, "up", "--detach", "--data", folder.at("data")});
    return runProcess(arguments, {{"HOME", folder.at("")}});
  };
  expectOneMessage(up({"--extra", "gpus"}), 2, "--extra");
  expectOneMessage(up({"--network-bandwidth", "fast"}), 2, "--network-bandwidth");
  expectOneMessage(up({"--memory-bandwidth", "0B"}), 2, "--memory-bandwidth: is 0");
  expectOneMessage(up({"--allow-rootfs", "/srv", "--emulate", emulatedServer(folder)}), 2,
                   "--allow-rootfs: is for servers that run containers");
  EXPECT_FALSE(std::filesystem::exists(folder.at("data")));
}

// --- Who may do what --------------------------------------------------------------------------------------

class OtherUser : public testing::Test {
 protected:
  OtherUser() { EXPECT_TRUE(writeTokenFile(folder_.at("token"), token_).ok()); }

  ProcessResult runAsOther(std::vector<std::string> arguments) {
    return cluster_.run(std::move(arguments), {{"TARCIL_TOKEN_FILE", folder_.at("token")}});
  }

  const std::string token_ = makeToken();
  TraceFolder folder_;
  ManualCluster cluster_{
      {.emulate = emulatedServer(folder_), .moreTokens = token_ + " mallory submit nobody\n"}};
};

TEST_F(OtherUser, NeitherSeesNorCancelsAJobOfSomebodyElse) {
  const std::string job = cluster_.submit("command: [sleep, 60]\n");
  EXPECT_EQ(Json::parse(runAsOther({"job", "list", "--json"}).out), Json::array());
  // Every verb says of it what it says of a job that is not there.
  for (const char* verb : {"status", "explain", "logs", "wait", "cancel"}) {
    std::string absent = job;
    absent[0] = absent[0] == '0' ? '1' : '0';
    const ProcessResult there = runAsOther({"job", verb, job}), nowhere = runAsOther({"job", verb, absent});
    EXPECT_EQ(there.exitCode, 1) << verb;
    std::string expected = nowhere.err;
    expected.replace(expected.find(absent), absent.size(), job);
    EXPECT_EQ(there.err, expected) << verb;
  }
  EXPECT_EQ(runAsOther({"job", "cancel", "id:" + job.substr(0, 8)}).exitCode, 1);
  const Json state = cluster_.status(job)["state"];
  EXPECT_TRUE(state == "running" || state == "starting") << state;
  EXPECT_EQ(cluster_.run({"job", "cancel", job}).exitCode, 0);
}

TEST_F(OtherUser, SeesAndCancelsItsOwnJob) {
  const ProcessResult submitted =
      runAsOther({"submit", "--json", cluster_.jobFile("command: [sleep, 60]\n")});
  const std::string job = Json::parse(submitted.out)["job"];
  EXPECT_EQ(Json::parse(runAsOther({"job", "list", "--json"}).out)[0]["user"], "mallory");
  EXPECT_EQ(runAsOther({"job", "cancel", job}).exitCode, 0);
  EXPECT_EQ(cluster_.ended(job)["state"], "cancelled");
}

TEST_F(OtherUser, MayNotChangeSettings) {
  const Json before = cluster_.json({"tune"});
  expectOneMessage(runAsOther({"tune", "--target", "0.5"}), 3, "operate");
  EXPECT_EQ(cluster_.json({"tune"}), before);
}

TEST_F(OtherUser, MayNotRunTasksAsAnyUser) {
  const ProcessResult result = runAsOther({"submit", cluster_.jobFile("command: [sleep, 1]\nuser: root\n")});
  EXPECT_NE(result.exitCode, 0);
  EXPECT_THAT(result.err, HasSubstr("root"));
  EXPECT_EQ(cluster_.json({"job", "list"}), Json::array());
}

}  // namespace tarcil::bad_input_test
