// People: users of the machine by their uid, known users with roles and accounts, tokens that expire.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <fstream>

#include "rpc/token.h"
#include "tests/support/cluster.h"

namespace tarcil::people_test {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

mode_t modeOf(const std::string& path) {
  struct stat status {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
  return status.st_mode & 07777;
}

// --- Known users, accounts, tokens

class KnownUsers : public testing::Test {
 protected:
  // The token in a file of this name.
  std::string token(const std::string& user, const std::string& life = "1h") {
    const std::string file = folder_.at(user + std::to_string(++files_) + ".token");
    const ProcessResult made = cluster_.run({"token", "add", "--user", user, "--ttl", life, "--write", file});
    EXPECT_EQ(made.exitCode, 0) << made.err;
    return file;
  }
  void expectBadInput(const std::vector<std::string>& arguments, const std::string& part) {
    const ProcessResult result = cluster_.run(arguments);
    EXPECT_EQ(result.exitCode, 2) << result.out << result.err;
    EXPECT_THAT(result.err, HasSubstr(part));
  }
  Json add(const std::string& user, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"user", "add", user});
    return cluster_.json(more);
  }

  const TraceFolder folder_;
  int files_ = 0;
  ManualCluster cluster_{{.emulate = emulatedServer(folder_)}};
};

TEST_F(KnownUsers, MayDoWhatTheirRoleSaysAndItChangesWithoutARestart) {
  add("ann", {"--role", "read"});
  const std::string file = token("ann");
  const std::string yaml = cluster_.jobFile("command: [sleep, \"1\"]\n");
  EXPECT_EQ(cluster_.run({"job", "list", "--token-file", file}).exitCode, 0);
  const ProcessResult refused = cluster_.run({"submit", "--token-file", file, yaml});
  EXPECT_EQ(refused.exitCode, 3);
  EXPECT_THAT(refused.err, HasSubstr("user ann may look and change nothing"));
  cluster_.json({"user", "set", "ann", "--role", "submit"});
  EXPECT_EQ(cluster_.run({"submit", "--token-file", file, yaml}).exitCode, 0);
  EXPECT_EQ(cluster_.run({"user", "list", "--token-file", file}).exitCode, 0);
  EXPECT_EQ(cluster_.run({"user", "add", "bob", "--token-file", file}).exitCode, 3);
  cluster_.json({"user", "set", "ann", "--role", "operate"});
  EXPECT_EQ(cluster_.run({"user", "add", "bob", "--token-file", file}).exitCode, 0);
}

TEST_F(KnownUsers, WhatIsWrongIsSaidAndChangesNothing) {
  cluster_.json({"account", "add", "physics", "--max-priority", "40"});
  add("ann", {"--account", "physics"});
  expectBadInput({"user", "add", "ann"}, "there is user 'ann' already");
  expectBadInput({"user", "set", "bob", "--role", "read"}, "there is no user 'bob'");
  expectBadInput({"user", "remove", "bob"}, "there is no user 'bob'");
  expectBadInput({"user", "add", "bob", "--account", "nix"}, "there is no account 'nix'");
  expectBadInput({"user", "set", "ann"}, "say what to set");
  expectBadInput({"account", "remove", "physics"}, "account physics has 1 member: ann");
  expectBadInput({"account", "set", "nix", "--shares", "2"}, "there is no account 'nix'");
  expectBadInput({"account", "set", "physics", "--max-running-units", "few"}, "--max-running-units");
  expectBadInput({"token", "add", "--user", "bob"}, "there is no user 'bob'");
  expectBadInput({"token", "add", "--user", "ann", "--ttl", "100d"}, "ttl: 100d is out of range");
  expectBadInput({"token", "revoke"}, "say which");
  expectBadInput({"token", "revoke", "7"}, "ID: '7' is none");
  EXPECT_EQ(cluster_.run({"token", "revoke", "0123456789abcdef"}).exitCode, 1);
  const Json users = cluster_.json({"user", "list"});
  ASSERT_EQ(users.size(), 1u);
  EXPECT_EQ(users[0]["account"], "physics");
  EXPECT_EQ(cluster_.json({"account", "list"})[0]["max_priority"], 40);
  EXPECT_TRUE(cluster_.json({"token", "list"}).empty());
}

TEST_F(KnownUsers, AnAccountBoundsItsMembersJobs) {
  cluster_.json({"account", "add", "physics", "--max-priority", "40", "--allow-opt-out", "no",
                 "--max-waiting-tasks", "3"});
  add("ann", {"--account", "physics"});
  const std::string file = token("ann");
  const auto submit = [&](const std::string& yaml) {
    return cluster_.run(
        {"submit", "--token-file", file, cluster_.jobFile("command: [sleep, \"1\"]\n" + yaml)});
  };
  for (const auto& [yaml, said] :
       {std::pair("priority: 41\n", "account physics may have at most 40"),
        std::pair("priority: 1\nquality: {protect_neighbours: false}\n", "account physics does not allow"),
        std::pair("priority: 1\nprofile: {caused: {llc: 10}, tolerated: {llc: 0}}\n",
                  "account physics does not allow"),
        std::pair("priority: 1\ntasks: 4\n", "more than the 3 tasks would wait that account physics")}) {
    const ProcessResult refused = submit(yaml);
    EXPECT_EQ(refused.exitCode, 1) << yaml;
    EXPECT_THAT(refused.err, HasSubstr(said));
    EXPECT_THAT(refused.err, HasSubstr("(set by ")) << "who set it";
  }
  EXPECT_EQ(submit("priority: 40\ntasks: 3\n").exitCode, 0);
}

TEST_F(KnownUsers, TasksBeyondTheUnitsOfTheirAccountWaitAndSaySo) {
  cluster_.json({"account", "add", "physics", "--max-running-units", "1"});
  add("ann", {"--account", "physics"});
  const std::string file = token("ann");
  const std::string yaml = cluster_.jobFile("command: [sleep, \"3600\"]\ntasks: 2\npriority: 1\n");
  const ProcessResult submitted = cluster_.run({"submit", "--json", "--token-file", file, yaml});
  ASSERT_EQ(submitted.exitCode, 0) << submitted.err;
  const std::string job = Json::parse(submitted.out)["job"];
  cluster_.until("one runs, and the other waits for the account", [&]() {
    const Json status = cluster_.status(job);
    const std::string reason = status["reason"].is_string() ? status["reason"] : Json("");
    return reason.find("account physics holds the 1 units that it may") != std::string::npos;
  });
  const auto active = [&]() {
    int count = 0;
    const Json status = cluster_.status(job);
    for (const Json& task : status["tasks"])
      count += task["state"] == "running" || task["state"] == "starting";
    return count;
  };
  EXPECT_EQ(active(), 1);
  cluster_.json({"account", "set", "physics", "--max-running-units", "2"});
  cluster_.until("both run", [&]() { return active() == 2; });
  EXPECT_EQ(cluster_.run({"job", "cancel", job}).exitCode, 0);
}

TEST_F(KnownUsers, WhatIsAnsweredOutlivesAMasterThatIsKilled) {
  cluster_.json({"account", "add", "physics"});
  add("ann", {"--account", "physics"});
  const std::string kept = token("ann"), revoked = token("ann");
  const Json tokens = cluster_.json({"token", "list"});
  ASSERT_EQ(tokens.size(), 2u);
  // Which is which shows in the file: a token begins with its id.
  const std::string id = readTokenFile(revoked).value().substr(0, 16);
  EXPECT_EQ(cluster_.run({"token", "revoke", id}).exitCode, 0);
  cluster_.kill("master");
  cluster_.start("master");
  cluster_.until("the agent is attached again", [&]() {
    return cluster_.run({"job", "list", "--token-file", kept}).exitCode == 0;
  });
  EXPECT_EQ(cluster_.run({"job", "list", "--token-file", revoked}).exitCode, 3);
  EXPECT_EQ(cluster_.json({"user", "list"})[0]["account"], "physics");
}

// A command that waits is logged in all the while.
TEST_F(KnownUsers, AreLoggedOutWhenTheirTokenIsRevokedOrExpires) {
  add("ann");
  const std::string yaml = cluster_.jobFile("command: [sleep, \"3600\"]\npriority: 1\n");
  const std::string revoked = token("ann"), expiring = token("ann", "5s");
  const std::string job =
      Json::parse(cluster_.run({"submit", "--json", "--token-file", revoked, yaml}).out)["job"];
  Process byRevoked = cluster_.startCommand({"job", "wait", job, "--token-file", revoked});
  Process byExpiring = cluster_.startCommand({"job", "wait", job, "--token-file", expiring});
  const ProcessResult over = byExpiring.finish();
  EXPECT_EQ(over.exitCode, 3);
  EXPECT_THAT(over.err, HasSubstr("the token expired at"));
  EXPECT_EQ(cluster_.run({"token", "revoke", "--user", "ann"}).exitCode, 0);
  const ProcessResult out = byRevoked.finish();
  EXPECT_EQ(out.exitCode, 3);
  EXPECT_THAT(out.err, HasSubstr("was revoked"));
}

TEST_F(KnownUsers, ALineThatIsTakenOutOfTheFileEndsLoginsAtOnce) {
  const std::string tokens = cluster_.data() + "/master/tokens", line(32, 'a');
  std::string before;
  std::getline(std::ifstream(tokens), before, '\0');
  std::ofstream(tokens, std::ios::app) << line << " ann submit nobody\n";
  cluster_.signal("master", SIGHUP);
  const std::string file = folder_.at("line.token");
  ASSERT_TRUE(writeTokenFile(file, line).ok());
  cluster_.until("the line counts", [&]() {
    return cluster_.run({"job", "list", "--token-file", file}).exitCode == 0;
  });
  const std::string yaml = cluster_.jobFile("command: [sleep, \"3600\"]\npriority: 1\n");
  const std::string job =
      Json::parse(cluster_.run({"submit", "--json", "--token-file", file, yaml}).out)["job"];
  Process waiting = cluster_.startCommand({"job", "wait", job, "--token-file", file});
  std::ofstream(tokens, std::ios::trunc) << before;
  cluster_.signal("master", SIGHUP);
  const ProcessResult out = waiting.finish();
  EXPECT_EQ(out.exitCode, 3);
  EXPECT_THAT(out.err, HasSubstr("the token is not one of this cluster's"));
}

TEST_F(KnownUsers, LoginGivesAPrivateTokenForOneself) {
  add("ann", {"--role", "read"});
  const std::string first = token("ann"), own = folder_.at("own/ann.token");
  const ProcessResult made = cluster_.run({"login", "--token-file", first, "--ttl", "1h", "--write", own});
  ASSERT_EQ(made.exitCode, 0) << made.err;
  EXPECT_EQ(modeOf(own), 0600U);
  EXPECT_EQ(cluster_.run({"token", "revoke", readTokenFile(first).value().substr(0, 16)}).exitCode, 0);
  EXPECT_EQ(cluster_.run({"job", "list", "--token-file", own}).exitCode, 0);
  EXPECT_EQ(cluster_.run({"submit", "--token-file", own, cluster_.jobFile("command: [id]\n")}).exitCode, 3);
  EXPECT_EQ(cluster_.json({"token", "list", "--token-file", own}).size(), 1u);
}

// --- By uid on a machine's own cluster

class UsersOfTheMachine : public testing::Test {
 protected:
  void SetUp() override { SKIP_WITHOUT_CONTAINERS(); }
};

TEST_F(UsersOfTheMachine, EachIsLetInWithoutATokenAndTasksRunAsThemselves) {
  const SupervisedCluster cluster({"--users", "all", "--servers", "1", "--rus", "2", "--no-page"});
  for (const char* user : {"daemon", "nobody"}) {
    const ProcessResult result = cluster.runAs(user, {"run", "--", "id", "-un"});
    EXPECT_EQ(result.exitCode, 0) << result.err;
    EXPECT_EQ(result.out, std::string(user) + "\n");
  }
  const std::string yaml = cluster.jobFile("name: mine\ncommand: [id, -un]\n");
  const ProcessResult submitted = cluster.runAs("daemon", {"submit", "--wait", "--json", yaml});
  ASSERT_EQ(submitted.exitCode, 0) << submitted.err;
  const Json job = Json::parse(submitted.out);
  EXPECT_EQ(job["user"], "daemon");
  // What is another's looks as if it were not there, but to the operator.
  EXPECT_THAT(cluster.runAs("nobody", {"job", "list"}).out, Not(HasSubstr("mine")));
  EXPECT_EQ(cluster.runAs("nobody", {"job", "cancel", job["id"]}).exitCode, 1);
  EXPECT_THAT(cluster.run({"job", "list", "--user", "daemon"}).out, HasSubstr("mine"));
  // Nobody runs as somebody else.
  const ProcessResult other =
      cluster.runAs("nobody", {"submit", cluster.jobFile("command: [id]\nuser: daemon\n")});
  EXPECT_EQ(other.exitCode, 3);
  EXPECT_THAT(other.err, HasSubstr("nobody may not run jobs as `daemon`, only as nobody"));
}

TEST_F(UsersOfTheMachine, RootNeedsATokenAndTheDataIsNobodysToSee) {
  const SupervisedCluster cluster({"--users", "all", "--servers", "1", "--rus", "2", "--no-page"});
  const std::string agent = "unix:" + cluster.data() + "/users/agent-1.sock";
  const ProcessResult root = cluster.run({"job", "list", "--cluster", agent});
  EXPECT_EQ(root.exitCode, 3);
  EXPECT_THAT(root.err, HasSubstr("root is let in by a token alone"));
  EXPECT_EQ(cluster.run({"job", "list"}).exitCode, 0);
  for (const char* folder : {"/run", "/log", "/master", "/tokens"})
    EXPECT_EQ(modeOf(cluster.data() + folder), 0700U) << folder;
  EXPECT_EQ(modeOf(cluster.data() + "/users"), 0711U);
  EXPECT_EQ(modeOf(cluster.data() + "/users/agent-1.sock"), 0666U);
  // Whoever is let in so may not do what operators do.
  const ProcessResult operated = cluster.runAs("daemon", {"server", "cordon", "server-1"});
  EXPECT_EQ(operated.exitCode, 3);
  EXPECT_THAT(operated.err, HasSubstr("that takes a token with role operate"));
}

TEST_F(UsersOfTheMachine, AreLetInOnlyWhereTheClusterSaysSo) {
  const SupervisedCluster cluster({"--servers", "1", "--rus", "2", "--no-page"});
  const std::string agent = "unix:" + cluster.data() + "/run/agent-1.sock";
  EXPECT_EQ(cluster.runAs("daemon", {"job", "list", "--cluster", agent}).exitCode, 3);
  const ProcessResult root = cluster.run({"job", "list", "--cluster", agent});
  EXPECT_EQ(root.exitCode, 3);
  EXPECT_THAT(root.err, HasSubstr("this agent lets nobody in without a token"));
}

TEST_F(UsersOfTheMachine, NoTaskRunsAsRootWhereTheServersOperatorDoesNotLetIt) {
  const std::string token(32, 'r');
  ClusterPlan plan;
  plan.moreTokens = token + " rick submit root\n";
  const TraceFolder folder;
  ASSERT_TRUE(writeTokenFile(folder.at("token"), token).ok());
  const std::vector<std::string> submit = {"run", "--token-file", folder.at("token"), "--", "id", "-u"};
  plan.withoutFlags = {"--allow-root"};
  {
    const ManualCluster cluster(plan);
    const ProcessResult refused = cluster.run(submit);
    EXPECT_NE(refused.exitCode, 0);
    EXPECT_EQ(refused.out, "");
    EXPECT_THAT(refused.err, HasSubstr("whose operator lets no task run as that"));
  }
  plan.withoutFlags.clear();
  EXPECT_EQ(ManualCluster(plan).run(submit).out, "0\n") << "`up` lets root's own jobs run";
}

TEST(UsersOfAMachine, MustBeAbleToEnterTheFolder) {
  const std::string hidden = "/root/tarcil-people-test";
  const ProcessResult result =
      runProcess({TARCIL_BINARY, "up", "--users", "all", "--data", hidden, "--detach"}, {{"HOME", "/tmp"}});
  EXPECT_EQ(result.exitCode, 2);
  EXPECT_THAT(result.err, HasSubstr("other users of this machine cannot enter /root"));
}

}  // namespace tarcil::people_test
