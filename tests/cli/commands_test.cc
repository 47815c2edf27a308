// The executable as a user meets it: what it prints where, and what it exits with.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "client/context.h"
#include "core/model/sample_size.h"
#include "core/state/vacancy.h"
#include "formats/json.h"
#include "rpc/token.h"
#include "tests/cli/running_tarcil.h"
#include "tests/support/scratch_folder.h"

namespace tarcil::commands_test {

constexpr const char* kProfile =
    "application: logreg\n"
    "caused: {llc: 60, memory_bandwidth: 84}\n"
    "tolerated: {llc: 30, memory_bandwidth: 10}\n";

// --- Bad input ---

struct BadInput {
  Words arguments;
  std::string says;
};

class BadInputTest : public testing::TestWithParam<BadInput> {};

TEST_P(BadInputTest, ExitsWithTwoAndOneMessageThatNamesTheRemedy) {
  const ProcessResult result = tarcil(GetParam().arguments);
  EXPECT_EQ(result.exitCode, 2) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_TRUE(result.err.starts_with("tarcil: ")) << result.err;
  EXPECT_NE(result.err.find(GetParam().says), std::string::npos) << result.err;
}

INSTANTIATE_TEST_SUITE_P(
    Commands, BadInputTest,
    testing::Values(
        BadInput{{}, "`tarcil --help`"}, BadInput{{"sumbit"}, "did you mean submit?"},
        BadInput{{"job"}, "`tarcil job --help`"}, BadInput{{"job", "statsu", "x"}, "did you mean status?"},
        BadInput{{"submit"}, "`tarcil submit --help`"},
        BadInput{{"submit", "/nonexistent.yaml"}, "/nonexistent.yaml"},
        BadInput{{"job", "list", "--state", "dead"}, "--state: 'dead' is no state"},
        BadInput{{"job", "list", "--since", "soon"}, "--since: "},
        BadInput{{"job", "list", "--sort", "colour"}, "--sort"},
        BadInput{{"job", "wait", "--timeout", "soon", "4711"}, "--timeout: "},
        BadInput{{"server", "drain", "s1", "--deadline", "soon"}, "--deadline: "},
        BadInput{{"server", "cordon"}, "`tarcil server cordon --help`"},
        BadInput{{"submit", "--quietly", "x.yaml"}, "--quietly"}, BadInput{{"run"}, "after `--`"},
        BadInput{{"run", "--", ""}, "after `--`"},
        BadInput{{"run", "echo", "hi"}, "'echo' is no option of `tarcil run`; write the command after"},
        BadInput{
            {"serve", "agent", "--name", "a b", "--master", "h:1", "--token-file", "t", "--listen", "h:1"},
            "--name: 'a b' is no name"},
        BadInput{{"serve", "monitor", "--name", "a", "--rack", "r/1", "--master", "h:1", "--token-file", "t",
                  "--listen", "h:1", "--data", "d"},
                 "--rack: 'r/1'"},
        BadInput{{"serve", "monitor", "--name", "a", "--attribute", "a b=1", "--master", "h:1",
                  "--token-file", "t", "--listen", "h:1", "--data", "d"},
                 "--attribute: 'a b'"},
        BadInput{{"serve", "monitor", "--name", "a", "--attribute", "a=\x1b", "--master", "h:1",
                  "--token-file", "t", "--listen", "h:1", "--data", "d"},
                 "value of a does not fit"},
        BadInput{{"serve", "monitor", "--name", "a", "--attribute", "rack=r1", "--master", "h:1",
                  "--token-file", "t", "--listen", "h:1", "--data", "d"},
                 "use --rack"},
        BadInput{{"serve", "monitor", "--name", "a", "--master", "h:0", "--token-file", "t", "--listen",
                  "h:1", "--data", "d"},
                 "--master: address 'h:0'"},
        BadInput{{"serve", "monitor", "--name", "a", "--master", "h:1", "--token-file", "t", "--listen",
                  "127.0.0.1:0", "--data", "d", "--cores", "60000"},
                 "no core 60000"},
        BadInput{{"serve", "monitor", "--name", "a", "--master", "h:1", "--token-file", "t", "--listen",
                  "127.0.0.1:0", "--data", "d", "--disk", "no/disk"},
                 "--disk: 'no/disk' is no disk of this machine"},
        BadInput{{"serve", "monitor", "--name", "a", "--master", "h:1", "--token-file", "t", "--listen",
                  "127.0.0.1:0", "--data", "d", "--disk", "nodisk"},
                 "`lsblk` lists them"},
        BadInput{{"serve", "monitor", "--name", "a", "--master", "unix:/m", "--token-file", "t", "--listen",
                  "unix:/nonexistent/s", "--data", "d"},
                 "--listen: cannot listen at unix:/nonexistent/s: No such file"},
        BadInput{{"serve", "agent", "--master", "h:1", "--listen", "h:1", "--data", "/nonexistent"},
                 "--name is required: the name of this agent; or join a cluster first"},
        BadInput{{"serve", "agent", "--name", "a", "--listen", "h:1", "--data", "/nonexistent"},
                 "--master is required"},
        BadInput{
            {"serve", "agent", "--name", "a", "--master", "h:1", "--listen", "h:1", "--data", "/nonexistent"},
            "--token-file is required: a file with a token of role agent"},
        BadInput{{"init", "--listen", "0.0.0.0:7001", "--data", "/nonexistent"},
                 "--listen: 0.0.0.0:7001 stands for"},
        BadInput{{"init", "--listen", "unix:/m", "--data", "/nonexistent"}, "write HOST:PORT"},
        BadInput{{"init", "--listen", "10.0.0.1:7001", "--data", "/dev/null/x"}, "--data: "},
        BadInput{{"join", "10.0.0.1:7002", "--token", "s7"}, "--token: the word is not whole"},
        BadInput{{"join", "unix:/m", "--token", "s7"}, "write the master's joining address"},
        BadInput{{"join-token", "king", "--name", "s7"}, "agent, monitor"},
        BadInput{{"join-token", "monitor", "--name", "a b"}, "--name: 'a b' is no name"},
        BadInput{{"join-token", "monitor", "--name", "*"}, "--name: '*' is no name"},
        BadInput{{"join-token", "agent", "--name", "a", "--ttl", "soon"}, "--ttl: "},
        BadInput{{"certificate", "revoke", "king", "s7"}, "master, agent, monitor"},
        BadInput{{"run", "--tasks", "0", "--", "true"}, "from 1 to 100000"},
        BadInput{{"run", "--tasks", "1000000000", "--", "true"}, "from 1 to 100000"},
        BadInput{{"run", "--policy", "late-binding", "--rus", "2", "--tasks", "8", "--concurrency", "3", "--",
                  "true"},
                 "leave it out\ntarcil: concurrency: a late-bound job has no bound"},
        BadInput{{"run", "--env", "TARCIL_NOT_SET_HERE", "--", "true"}, "is not set here; write NAME=VALUE"},
        BadInput{{"run", "--env", "=A", "--", "true"}, "or NAME for its value here"},
        BadInput{{"run", "--env", "TARCIL_TASK=1", "--", "true"}, "choose another name"},
        BadInput{{"run", "--env", "TARCIL_EXTRA_GPUS=1", "--", "true"}, "choose another name"},
        BadInput{{"run", "--constraint", "gpu ~ true", "--", "true"}, "--constraint"},
        BadInput{{"run", "--priority", "101", "--", "true"}, "from 0 to 100"},
        BadInput{{"run", "--timeout", "soon", "--", "true"}, "--timeout"},
        BadInput{{"run", "--timeout", "0s", "--", "true"}, "--timeout"},
        BadInput{{"run", "--name", "\x1b[2J", "--", "true"}, "--name"},
        BadInput{{"job", "status", "--cluster", "nowhere", "abcd"}, "host:port"},
        BadInput{{"job", "list", "--cluster", "10.0.0.1:7101"}, "--token-file"},
        BadInput{{"serve", "monitor", "--name", "s", "--master", "unix:/x", "--token-file", "/x", "--listen",
                  "unix:/x", "--data", "/x", "--extra", "gpus"},
                 "--extra: 'gpus' is no pair; write KIND=COUNT"},
        BadInput{{"serve", "monitor", "--name", "s", "--master", "unix:/x", "--token-file", "/x", "--listen",
                  "unix:/x", "--data", "/x", "--extra-device", "gpus=/dev/null"},
                 "--extra-device: this server has no extras of the kind 'gpus'"},
        BadInput{{"serve", "monitor", "--name", "s", "--master", "unix:/x", "--token-file", "/x", "--listen",
                  "unix:/x", "--data", "/x", "--extra", "gpus=1", "--extra-device", "gpus=/dev/no-such"},
                 "--extra-device: /dev/no-such cannot be looked up: No such file or directory"},
        BadInput{{"serve", "monitor", "--name", "s", "--master", "unix:/x", "--token-file", "/x", "--listen",
                  "unix:/x", "--data", "/x", "--emulate", "/x", "--extra-device", "gpus=/dev/null"},
                 "--extra-device: the tasks of emulated servers open no devices"},
        BadInput{{"job", "logs", "--json", "-f", "ab00"}, "--follow excludes --json"},
        BadInput{{"job", "logs", "--json", "--stderr", "ab00"}, "--stderr excludes --json"},
        BadInput{{"platform", "set", "a b", "llc=1"}, "NAME: 'a b' is no name"},
        BadInput{{"platform", "set", "p", "llc=1", "llc=0.5"}, "named twice"},
        BadInput{{"platform", "set", "p", "llc=4.1"}, "from 0 to 4"},
        BadInput{{"platform", "set", "p", "l3=1"}, "memory_bandwidth"},
        BadInput{{"platform", "set", "p", "llc=much"}, "llc=0.5"},
        BadInput{{"platform", "set", "p"}, "RESOURCE=SHARE"},
        BadInput{{"tune", "--target", "1.5"}, "target: 1.5"},
        BadInput{{"tune", "--cap", "0"}, "from 1 to 10000"},
        BadInput{{"tune", "--target", "much"}, "--target: 'much' does not fit; write a number"},
        BadInput{{"tune", "--protect-neighbours", "maybe"}, "write one of true, false"},
        BadInput{{"tune", "--model", "best"}, "encoded, componentwise"},
        BadInput{{"tune", "--table", "--p", "1.5"}, "--p"}, BadInput{{"tune", "--p", "0.1"}, "--table"},
        BadInput{{"quality", "--profile", "/nonexistent", "--contention", "{}"}, "/nonexistent"},
        BadInput{{"quality", "--contention", "{}"}, "--profile is required"},
        BadInput{{"token", "--role", "submit"}, "--user: say whose the token is to be"},
        BadInput{{"token", "--role", "king", "--user", "ann"}, "submit, operate, read, agent, monitor"},
        BadInput{{"token", "--role", "submit", "--user", "a b"}, "--user: 'a b'"},
        BadInput{{"token", "--role", "agent", "--run-as", "ann"},
                 "--run-as: goes with --role submit, operate or read"},
        BadInput{{"token", "--role", "agent", "--write", "/dev/null"}, "--write: /dev/null exists"},
        BadInput{{"token", "--role", "agent", "--add", "/proc/none/tokens"},
                 "--add: /proc/none: cannot be made"},
        BadInput{{"profile", "run"}, "after `--`"}, BadInput{{"profile", "run", "true"}, "after `--`"},
        BadInput{{"profile", "run", "--target", "2", "--", "true"}, "--target"},
        BadInput{{"profile", "run", "--resources", "l9", "--", "true"}, "did you mean l2"},
        BadInput{{"profile", "run", "--known", "/nonexistent", "--", "true"}, "/nonexistent"},
        BadInput{{"profile", "run", "--calibration", "/nonexistent", "--", "true"}, "/nonexistent"},
        BadInput{{"profile", "run", "--scratch", "/nonexistent", "--", "true"}, "--scratch"},
        BadInput{{"profile", "run", "--platform", "../x", "--", "true"}, "--platform"},
        BadInput{{"profile", "run", "--seconds", "0", "--", "true"}, "from 1 to 86400"},
        BadInput{{"profile", "run", "--on-cluster", "--instructions", "--", "true"}, "containers may not"},
        BadInput{{"profile", "run", "--instructions", "--metric", "x", "--", "true"}, "--metric"},
        BadInput{{"profile", "calibrate", "--platform", ""}, "--platform"},
        BadInput{{"profile", "calibrate", "--preview"}, "write --on-cluster too"},
        BadInput{{"profile", "calibrate", "--reference", "x"}, "write --on-cluster too"},
        BadInput{{"profile", "calibrate", "--on-cluster", "--output", "x"}, "is for this machine"},
        BadInput{{"profile", "calibrate", "--scratch", "/nonexistent"}, "--scratch"}));

TEST(BadInputOfFiles, NamesFileLineAndField) {
  const ScratchFolder folder;
  folder.write("job.yaml", "command: [true]\ntasks: 0\n");
  const ProcessResult result = tarcil({"submit", folder.at("job.yaml")});
  EXPECT_EQ(result.exitCode, 2);
  EXPECT_NE(result.err.find(folder.at("job.yaml") + ":2:"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("tasks"), std::string::npos) << result.err;
}

TEST(BadJobId, IsNotLookedUp) {
  const ScriptedCluster cluster({});
  for (const char* id : {"abc", "train", "0123456789abcdef0123456789abcdef0"}) {
    EXPECT_EQ(tarcil({"job", "status", id}, cluster).exitCode, 2) << id;
  }
}

// --- Help ---

class HelpTest : public testing::TestWithParam<Words> {};

TEST_P(HelpTest, FitsAndTeaches) {
  Words words = GetParam();
  words.push_back("--help");
  const ProcessResult result = tarcil(words);
  EXPECT_EQ(result.exitCode, 0);
  EXPECT_EQ(result.err, "");
  for (const char* part : {"Usage: tarcil", "Examples:", "Exit codes:"}) {
    EXPECT_NE(result.out.find(part), std::string::npos) << part;
  }
  std::istringstream lines(result.out);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(line.size(), 78u) << line;
    // What CLI11 calls a value that nobody has given a name.
    for (const char* type : {" TEXT", " INT", " UINT", " FLOAT", " BOOLEAN"}) {
      EXPECT_EQ(line.find(type), std::string::npos) << line;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Commands, HelpTest,
    testing::Values(Words{}, Words{"submit"}, Words{"plan"}, Words{"run"}, Words{"job"}, Words{"job", "list"},
                    Words{"job", "status"}, Words{"job", "explain"}, Words{"job", "logs"},
                    Words{"job", "wait"}, Words{"job", "cancel"}, Words{"server"}, Words{"server", "list"},
                    Words{"server", "show"}, Words{"server", "cordon"}, Words{"server", "uncordon"},
                    Words{"server", "drain"}, Words{"usage"}, Words{"agent", "list"}, Words{"platform"},
                    Words{"platform", "set"}, Words{"platform", "list"}, Words{"tune"}, Words{"quality"},
                    Words{"profile"}, Words{"profile", "calibrate"}, Words{"profile", "run"},
                    Words{"version"}, Words{"status"}, Words{"token"}, Words{"options"}, Words{"man"},
                    Words{"top"}, Words{"up"}, Words{"down"}, Words{"serve", "master"},
                    Words{"serve", "agent"}, Words{"serve", "monitor"}));

// --- No cluster ---

TEST(Token, IsALineThatTheMasterReadsAndAFileForItsOwner) {
  const ScratchFolder folder;
  const ProcessResult result = tarcil({"token", "--role", "submit", "--user", "ann", "--run-as", "ann,nobody",
                                       "--write", folder.at("ann.token")});
  ASSERT_EQ(result.exitCode, 0) << result.err;
  folder.write("tokens", result.out + tarcil({"token", "--role", "monitor"}).out);
  std::filesystem::permissions(folder.at("tokens"), std::filesystem::perms(0600));
  const auto table = TokenTable::read(folder.at("tokens"));
  ASSERT_TRUE(table.ok()) << table.error().message;
  const auto token = readTokenFile(folder.at("ann.token"));
  ASSERT_TRUE(token.ok()) << "only its owner may read it: " << token.error().message;
  EXPECT_EQ(*table->check(*token), (Caller{"ann", Role::kSubmit, {"ann", "nobody"}}));
  const Json json = jsonOf(tarcil({"token", "--json", "--role", "operate", "--user", "bob"}));
  EXPECT_EQ(json["line"], json["token"].get<std::string>() + " bob operate nobody");
  EXPECT_NE(json["token"], *token);
}

TEST(Token, IsAddedToTheMastersFileAndShownOnlyWhereItIsInNoOther) {
  const ScratchFolder folder;
  const std::string tokens = folder.at("master/tokens");
  const ProcessResult added =
      tarcil({"token", "--role", "agent", "--write", folder.at("agent.token"), "--add", tokens});
  ASSERT_EQ(added.exitCode, 0) << added.err;
  const auto token = readTokenFile(folder.at("agent.token"));
  ASSERT_TRUE(token.ok());
  EXPECT_EQ(added.out.find(*token), std::string::npos) << added.out;
  EXPECT_EQ(TokenTable::read(tokens)->check(*token)->role, Role::kAgent);
  const ProcessResult twice =
      tarcil({"token", "--role", "agent", "--write", folder.at("second.token"), "--add", tokens});
  EXPECT_EQ(twice.exitCode, 2);
  EXPECT_FALSE(std::filesystem::exists(folder.at("second.token"))) << "nothing is changed";
  const Json json =
      jsonOf(tarcil({"token", "--json", "--role", "operate", "--user", "bob", "--add", tokens}));
  EXPECT_EQ(json["added_to"], tokens);
  EXPECT_EQ(TokenTable::read(tokens)->check(json["token"].get<std::string>())->user, "bob");
}

TEST(Cluster, NotFoundTellsHowToStartOne) {
  const ProcessResult result = tarcil({"job", "list"});
  EXPECT_EQ(result.exitCode, 3);
  EXPECT_NE(result.err.find("tarcil up"), std::string::npos) << result.err;
  EXPECT_EQ(tarcil({"run", "--", "true"}).exitCode, 125);
}

TEST(Cluster, IsFoundThroughTheContextThatUpLeaves) {
  const ScriptedCluster cluster({});
  const ScratchFolder folder;
  ASSERT_TRUE(writeContext(folder.path(), {cluster.addresses(), cluster.tokenFile(), "test"}).ok());
  EXPECT_EQ(tarcil({"agent", "list", "--data", folder.path()}, {}).exitCode, 0);
  EXPECT_EQ(tarcil({"agent", "list"}, {{"TARCIL_DATA", folder.path()}}).exitCode, 0);
  EXPECT_EQ(tarcil({"agent", "list"}, {{"XDG_STATE_HOME", folder.path().parent_path()}}).exitCode, 3);
}

TEST(Cluster, DeniesAWrongToken) {
  const ScriptedCluster cluster({});
  const ScratchFolder folder;
  folder.write("token", "wrong\n");
  std::filesystem::permissions(folder.at("token"), std::filesystem::perms::owner_read);
  const ProcessResult result = tarcil({"job", "list", "--token-file", folder.at("token")}, cluster);
  EXPECT_EQ(result.exitCode, 3);
  EXPECT_EQ(result.err, "tarcil: the token is not known here\n");
}

TEST(Cluster, OutOfReachIsSaidAfterAWhile) {
  const ScriptedCluster cluster({});
  const ProcessResult result = tarcil({"job", "list", "--cluster", "unix:/nonexistent/a,unix:/nonexistent/b",
                                       "--token-file", cluster.tokenFile()});
  EXPECT_EQ(result.exitCode, 3);
  EXPECT_NE(result.err.find("no agent answered"), std::string::npos) << result.err;
}

// --- Submitting ---

TEST(Submit, SendsTheJobWithItsFilesAndGivesItsId) {
  const ScriptedCluster cluster({});
  const ScratchFolder folder;
  folder.write("data.txt", "content");
  folder.write("job.yaml", "command: [cat, data.txt]\nfiles: [data.txt]\ntasks: 3\n");
  folder.write("p.yaml", kProfile);
  const ProcessResult result =
      tarcil({"submit", "--json", "--profile", folder.at("p.yaml"), folder.at("job.yaml")}, cluster);
  EXPECT_EQ(result.exitCode, 0) << result.err;
  EXPECT_EQ(jsonOf(result)["job"].get<std::string>().size(), 32u);
  EXPECT_EQ(jsonOf(result)["number"], kNumberOfSubmitted);
  const auto record = cluster.record();
  ASSERT_EQ(record.submitted.size(), 1u);
  EXPECT_EQ(record.submitted[0].tasks, 3u);
  EXPECT_EQ(record.submitted[0].profile.tolerated[4], 30);
  EXPECT_EQ(record.files[0], (std::vector<InputFile>{{"data.txt", 0644, "content"}}));
}

TEST(Submit, TakesTheJobFromStdinAndWhatIsLaidOverIt) {
  const ScriptedCluster cluster({});
  const ScratchFolder folder;
  folder.write("job.yaml", "command: [\"true\"]\nname: file\ntasks: 2\npriority: 10\n");
  const auto submit = [&](const std::string& options) {
    return runProcess(
        {"/bin/sh", "-c", "\"$0\" submit " + options + " - < \"$1\"", TARCIL_BINARY, folder.at("job.yaml")},
        cluster.environment());
  };
  const ProcessResult laid = submit("--name line --tasks 5 --priority 90 --hold");
  EXPECT_EQ(laid.exitCode, 0) << laid.err;
  EXPECT_EQ(submit("").exitCode, 0);
  const auto record = cluster.record();
  ASSERT_EQ(record.submitted.size(), 2u);
  EXPECT_EQ(record.submitted[0].name, "line");
  EXPECT_EQ(record.submitted[0].tasks, 5u);
  EXPECT_EQ(record.submitted[0].priority, 90);
  EXPECT_TRUE(record.submitted[0].hold);
  EXPECT_EQ(record.submitted[1].name, "file");
  EXPECT_EQ(record.submitted[1].tasks, 2u);
  folder.write("job.yaml", "command: [\"true\"]\ntasks: none\n");
  const ProcessResult bad = submit("");
  EXPECT_EQ(bad.exitCode, 2);
  EXPECT_NE(bad.err.find("stdin:2:8: tasks: "), std::string::npos) << bad.err;
  EXPECT_EQ(submit("--tasks 0").exitCode, 2);
  EXPECT_EQ(cluster.record().submitted.size(), 2u);
}

TEST(Submit, GivesTheParametersOfAFileTheirValues) {
  const ScriptedCluster cluster({});
  const ScratchFolder folder;
  folder.write("job.yaml", "parameters: {n: 2, word: }\ncommand: [echo, '{{word}}']\ntasks: '{{n}}'\n");
  const auto with = [&](Words words, const Words& more) {
    words.insert(words.end(), more.begin(), more.end());
    words.push_back(folder.at("job.yaml"));
    return tarcil(words, cluster);
  };
  EXPECT_EQ(with({"submit"}, {"--set", "word=[a,b]", "--set", "n=5"}).exitCode, 0);
  ASSERT_EQ(cluster.record().submitted.size(), 1u);
  EXPECT_EQ(cluster.record().submitted[0].command, (Words{"echo", "[a,b]"}));
  EXPECT_EQ(cluster.record().submitted[0].tasks, 5u);
  const ProcessResult piped = runProcess(
      {"/bin/sh", "-c", "\"$0\" submit --set word=x - < \"$1\"", TARCIL_BINARY, folder.at("job.yaml")},
      cluster.environment());
  EXPECT_EQ(piped.exitCode, 0) << piped.err;
  EXPECT_EQ(cluster.record().submitted[1].tasks, 2u);
  with({"plan"}, {"--set", "word=y"});
  with({"submit", "--dry-run"}, {"--set", "word=z"});
  ASSERT_EQ(cluster.record().planned.size(), 2u);
  EXPECT_EQ(cluster.record().planned[0].command.back(), "y");
  EXPECT_EQ(cluster.record().planned[1].command.back(), "z");

  for (const auto& [set, says] : {std::pair{"word", "--set: 'word' is no pair; write NAME=VALUE"},
                                  std::pair{"word=2", "--set: word is given twice"},
                                  std::pair{"wrd=1", "--set wrd: the file declares no such parameter"},
                                  std::pair{"n=many", "tasks: is 'many'; write a whole number"}}) {
    const ProcessResult bad = with({"submit"}, {"--set", "word=x", "--set", set});
    EXPECT_EQ(bad.exitCode, 2);
    EXPECT_THAT(bad.err, testing::HasSubstr(says));
  }
  const ProcessResult missing = with({"submit"}, {});
  EXPECT_EQ(missing.exitCode, 2);
  EXPECT_THAT(missing.err, testing::HasSubstr("job.yaml:1:20: parameters.word: has no value"));
  EXPECT_EQ(cluster.record().submitted.size(), 2u);
}

TEST(Submit, ADryRunShowsAPlanAndSubmitsNothing) {
  const ScriptedCluster cluster({});
  const ScratchFolder folder;
  folder.write("job.yaml", "command: [\"true\"]\n");
  const ProcessResult dry = tarcil({"submit", "--dry-run", "--json", folder.at("job.yaml")}, cluster);
  const ProcessResult plan = tarcil({"plan", "--json", folder.at("job.yaml")}, cluster);
  EXPECT_EQ(dry.exitCode, plan.exitCode);
  EXPECT_EQ(jsonOf(dry).contains("decision"), jsonOf(plan).contains("decision"));
  EXPECT_TRUE(cluster.record().submitted.empty());
  EXPECT_EQ(tarcil({"submit", "--dry-run", folder.at("job.yaml")}, cluster).out.find("Waits for"),
            std::string::npos);
  const Json other = jsonOf(tarcil({"submit", "--json", folder.at("job.yaml")}, cluster));
  const std::string number = other["number"].dump();
  const ProcessResult held =
      tarcil({"submit", "--dry-run", "--hold", "--after", "ok:" + number, folder.at("job.yaml")}, cluster);
  EXPECT_THAT(held.out, testing::HasSubstr("Waits for    = `tarcil job release`, others (it starts after " +
                                           number + "); if that were so now:\n"));
}

TEST(Submit, WaitShowsTheEndAndFailsWithTheJob) {
  ClusterScript script;
  script.tasks = {{"", "", RunState::kFailed, {}}};
  script.tasks[0].end.exitCode = 3;
  script.tasks[0].end.ended = WallTime(std::chrono::seconds(1'700'000'001));
  const ScriptedCluster cluster(script);
  const ScratchFolder folder;
  folder.write("job.yaml", "command: [\"false\"]\n");
  const ProcessResult result = tarcil({"submit", "--wait", "--json", folder.at("job.yaml")}, cluster);
  EXPECT_EQ(result.exitCode, 1);
  EXPECT_EQ(jsonOf(result)["state"], "failed");
  EXPECT_EQ(jsonOf(result)["tasks"][0]["exit_code"], 3);
}

TEST(Submit, RefusedByTheClusterExitsWithOne) {
  ClusterScript script;
  script.refusal = invalid("no server has 64 resource units; the largest has 8");
  const ScriptedCluster cluster(script);
  const ScratchFolder folder;
  folder.write("job.yaml", "command: [\"true\"]\nrus_per_task: 64\n");
  const ProcessResult result = tarcil({"submit", folder.at("job.yaml")}, cluster);
  EXPECT_EQ(result.exitCode, 1);
  EXPECT_EQ(result.err, "tarcil: no server has 64 resource units; the largest has 8\n");
}

TEST(Submit, GoesOnWithTheNextAgentAndMakesNoSecondJob) {
  ClusterScript script;
  script.deadly = ClusterScript::Deadly::kSubmit;
  const ScriptedCluster cluster(script, 2);
  const ScratchFolder folder;
  folder.write("job.yaml", "command: [\"true\"]\n");
  const ProcessResult result = tarcil({"submit", "--wait", "--json", folder.at("job.yaml")}, cluster);
  EXPECT_EQ(result.exitCode, 0) << result.err;
  EXPECT_NE(result.err.find("going on with unix:"), std::string::npos) << result.err;
  EXPECT_EQ(cluster.record().submissions, 2u);
  EXPECT_EQ(cluster.record().submitted.size(), 1u);
}

// --- Parts and settings ---

TEST(ServerShow, TellsWhoDisturbsWhom) {
  ScriptedServer server;
  server.facts.name = "s1";
  server.facts.rus = 4;
  server.facts.missing = {"perf"};
  server.status.up = true;
  server.status.free = RuSet::all(2);
  server.facts.extras = {{"gpus", 4}};
  server.status.freeExtras = allExtras(server.facts.extras);
  takeExtras(server.status.freeExtras, {{"gpus", {0, 1, 3}}});
  server.tasks = {{idOf(1), 0, {2}, {}, {4}, {}, {{"gpus", {0, 1, 3}}}}, {idOf(2), 0, {3}, {}, {}}};
  server.tasks[0].caused[4] = 7;
  server.tasks[0].tolerated[4] = 10;
  server.tasks[1].caused[4] = 60;
  ClusterScript script;
  script.servers = {server};
  const ScriptedCluster cluster(script);
  const Json json = jsonOf(tarcil({"server", "show", "s1", "--json"}, cluster));
  EXPECT_EQ(json["state"], "up");
  EXPECT_EQ(json["free"], 2);
  EXPECT_EQ(json["tasks"][0]["over"], Json::array({"llc"}));
  EXPECT_EQ(json["tasks"][0]["tolerated"]["llc"], 10);
  EXPECT_EQ(json["tasks"][0]["extras"], Json::parse(R"({"gpus": [0, 1, 3]})"));
  EXPECT_EQ(json["extras"], Json::parse(R"({"gpus": {"total": 4, "free": 1}})"));
  EXPECT_EQ(json["tasks"][1]["caused"]["llc"], 60);
  EXPECT_EQ(json["tasks"][1]["over"], Json::array());
  EXPECT_EQ(json["missing"], Json::array({"perf"}));
  const ProcessResult people = tarcil({"server", "show", "s1"}, cluster);
  for (const char* text :
       {"llc: too much for 1.0; caused by 2.0 (60)\n", "gpus 0-1,3", "llc 60", "gpus 1 of 4"}) {
    EXPECT_NE(people.out.find(text), std::string::npos) << text << "\n" << people.out;
  }
  EXPECT_EQ(tarcil({"server", "show", "s2"}, cluster).exitCode, 1);
  EXPECT_EQ(jsonOf(tarcil({"server", "list", "--json"}, cluster))[0]["name"], "s1");
}

TEST(ServerShow, CountsATaskAmongTheOffendersOnlyWhereItDisturbsAnother) {
  ScriptedServer server;
  server.facts.name = "s1";
  server.facts.rus = 4;
  server.tasks = {{idOf(1), 0, {0}, {}, {4}}, {idOf(2), 0, {1}, {}, {4}}, {idOf(3), 0, {2}, {}, {5}}};
  server.tasks[0].caused[4] = 30;
  server.tasks[1].caused[4] = 50;
  server.tasks[2].caused[5] = 80;
  ClusterScript script;
  script.servers = {server};
  const ScriptedCluster cluster(script);
  const std::string out = tarcil({"server", "show", "s1"}, cluster).out;
  EXPECT_NE(out.find("llc: too much for 1.0, 2.0; caused by 2.0 (50), 1.0 (30)\n"), std::string::npos) << out;
  EXPECT_NE(out.find("memory_bandwidth: too much for 3.0; caused by no task of this cluster\n"),
            std::string::npos)
      << out;
}

TEST(PlatformSet, LeavesOtherResourcesAsTheyAre) {
  ClusterScript script;
  script.platforms["haswell"] = fullShare();
  script.platforms["haswell"][7] = 0;
  const ScriptedCluster cluster(script);
  const ProcessResult result =
      tarcil({"platform", "set", "haswell", "memory_bandwidth=0.5", "llc=1"}, cluster);
  EXPECT_EQ(result.exitCode, 0) << result.err;
  Share expected = script.platforms["haswell"];
  expected[5] = 128;
  EXPECT_EQ(cluster.record().platforms["haswell"], expected);
  EXPECT_EQ(jsonOf(tarcil({"platform", "list", "--json"}, cluster))[0]["name"], "haswell");
}

TEST(Tune, ShowsAndSetsTheSettings) {
  const ScriptedCluster cluster({});
  const Json shown = jsonOf(tarcil({"tune", "--json"}, cluster));
  EXPECT_EQ(shown["target"], 0.95);
  EXPECT_EQ(shown["ratio"], nullptr);
  const Json set = jsonOf(tarcil({"tune", "--json", "--ratio", "16", "--model", "encoded",
                                  "--protect-neighbours", "false", "--neighbour-floor", "0.7"},
                                 cluster));
  EXPECT_EQ(set["ratio"], 16);
  EXPECT_EQ(set["neighbour_floor"], 0.7);
  QualitySettings expected;
  expected.ratio = 16;
  expected.model = QualityModel::kEncoded;
  expected.protectNeighbours = false;
  expected.neighbourFloor = 0.7;
  EXPECT_EQ(cluster.record().settings, expected);
  EXPECT_EQ(jsonOf(tarcil({"tune", "--json", "--ratio", "none"}, cluster))["ratio"], nullptr);
}

TEST(TuneTable, AgreesWithTheSampleSizes) {
  const ProcessResult result =
      tarcil({"tune", "--table", "--json", "--p", "0.05,0.2", "--tasks", "1,8,100", "--confidence", "0.999"});
  const Json table = jsonOf(result);
  ASSERT_EQ(table.size(), 6u);
  for (const Json& row : table) {
    const uint64_t samples = *drawsNeeded(row["p"], 0.999, row["tasks"]);
    EXPECT_EQ(row["samples"], samples);
    EXPECT_EQ(row["ratio"], static_cast<double>(samples) / row["tasks"].get<double>());
    EXPECT_GE(row["guarantee"].get<double>(), 0.999);
  }
}

TEST(Quality, ComputesTheExampleDigitForDigit) {
  const ScratchFolder folder;
  folder.write("p.yaml", kProfile);
  const ProcessResult result = tarcil({"quality", "--json", "--profile", folder.at("p.yaml"), "--contention",
                                       "{\"memory_bandwidth\": 8, \"llc\": 3}"});
  EXPECT_EQ(result.exitCode, 0) << result.err;
  const Json json = jsonOf(result);
  EXPECT_EQ(json["order"][0], "memory_bandwidth");
  EXPECT_EQ(json["order"][1], "llc");
  EXPECT_EQ(json["t_w"], (Json{{"digits", "89690000000000000000"}, {"value", 0.8969}}));
  EXPECT_EQ(json["u_h"], (Json{{"digits", "08030000000000000000"}, {"value", 0.9197}}));
  EXPECT_EQ(json["q"], (Json{{"corrected", 0.9772}, {"literal", 0.9772}}));
  EXPECT_EQ(json["satisfaction"], (Json{{"encoded", 1.0}, {"componentwise", 1.0}}));
}

TEST(Quality, ScalesTheDemandByTheShare) {
  const ScratchFolder folder;
  folder.write("p.yaml", kProfile);
  folder.write("c.json", "{\"memory_bandwidth\": 8, \"llc\": 3}");
  const Json json = jsonOf(tarcil({"quality", "--json", "--profile", folder.at("p.yaml"), "--contention",
                                   folder.at("c.json"), "--share", "{memory_bandwidth: 0.5}"}));
  EXPECT_EQ(json["t_w"]["digits"], "45690000000000000000");
}

TEST(Options, AreTheOnesOfTheDocument) {
  std::ifstream in(TARCIL_SOURCE_DIR "/docs/options.md");
  const std::string document{std::istreambuf_iterator<char>(in), {}};
  EXPECT_EQ(tarcil({"options"}).out, document) << "write it anew: tarcil options > docs/options.md";
}

TEST(Version, IsOneJsonValue) {
  EXPECT_TRUE(jsonOf(tarcil({"version", "--json"})).contains("version"));
}

}  // namespace tarcil::commands_test
