// Secrets from end to end: who may name them, that tasks find them, and that they are nowhere else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/support/cluster.h"

namespace tarcil::secrets_test {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const std::string kOfEtl = "profile: {application: etl, caused: {llc: 1}}\n";
// Looks like nothing else that is there.
const std::string kValue = "hunter2-4f1c9b7ae05d3862-hunter2";

std::string contentOf(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Of all of the folder: where one goes while it is looked at, it begins anew.
std::vector<std::string> filesWith(const fs::path& folder, const std::string& value) {
  std::vector<std::string> files;
  std::error_code gone, ignored;
  fs::recursive_directory_iterator at(folder, gone);
  for (; !gone && at != fs::recursive_directory_iterator(); at.increment(gone)) {
    if (at->is_regular_file(ignored) && contentOf(at->path()).find(value) != std::string::npos)
      files.push_back(at->path());
  }
  return gone ? filesWith(folder, value) : files;
}

class ClusterSecrets : public testing::Test {
 protected:
  explicit ClusterSecrets(ClusterPlan plan = {}) : cluster_(std::move(plan)) {}

  void SetUp() override { SKIP_WITHOUT_CONTAINERS(); }

  std::string fileOf(const std::string& value) {
    const std::string name = "value" + std::to_string(++files_);
    folder_.write(name, value);
    return folder_.at(name);
  }
  ProcessResult put(const std::string& name, const std::string& value = kValue,
                    std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"secret", "put", name, "--file", fileOf(value)});
    return cluster_.run(more);
  }
  std::string tokenOf(const std::string& user) {
    const std::string file = folder_.at(user + ".token");
    cluster_.json({"user", "add", user, "--run-as", "nobody"});
    cluster_.json({"token", "add", "--user", user, "--ttl", "1h", "--write", file});
    return file;
  }
  // Writes what it finds as its secret where it is seen.
  std::string reading(const std::string& name, const std::string& more = "") const {
    const std::string file = name.substr(name.find('/') + 1);
    return shellJob("cat $TARCIL_SECRETS/" + file + " > " + folder_.at("seen"),
                    "secrets: [" + name + "]\n" + more);
  }
  std::string seen() const { return contentOf(folder_.at("seen")); }
  fs::path keyFile() const { return fs::path(cluster_.data()) / "master/secrets.key"; }
  void write(const std::string& keys) const { std::ofstream(keyFile()) << keys; }
  // The master says so in its log.
  void readAgain(const std::string& said) {
    cluster_.signal("master", SIGHUP);
    cluster_.until("the master has read its files again",
                   [&]() { return cluster_.logOf("master").find(said) != std::string::npos; });
  }

  const TraceFolder folder_;
  int files_ = 0;
  ManualCluster cluster_;
};

class RecordedClusterSecrets : public ClusterSecrets {
 protected:
  RecordedClusterSecrets() : ClusterSecrets({.hasPage = true}) {}
};

TEST_F(RecordedClusterSecrets, AreFoundByTheirTasksAndNowhereElse) {
  ASSERT_EQ(put("db").exitCode, 0);
  const std::string job = cluster_.submit(shellJob(
      folder_.note("runs") + "cat $TARCIL_SECRETS/db > " + folder_.at("seen") + "; " + folder_.waitForGate(),
      "secrets: [db]\n"));
  ASSERT_TRUE(folder_.waitForLines("runs", 1));
  const std::string backup = cluster_.data() + "/backup";
  ASSERT_EQ(cluster_.run({"master", "backup", backup}).exitCode, 0);
  EXPECT_THAT(filesWith(cluster_.data(), kValue), IsEmpty()) << "while it runs";
  folder_.openGate();
  EXPECT_EQ(cluster_.ended(job)["state"], "done");
  EXPECT_EQ(seen(), kValue);
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"secret", "list"},
                                             {"secret", "list", "--json"},
                                             {"job", "status", job, "--json"},
                                             {"job", "explain", job, "--json"},
                                             {"job", "list", "--json"},
                                             {"audit", "--json"},
                                             {"server", "show", "server-1", "--json"}}) {
    const ProcessResult shown = cluster_.run(words);
    EXPECT_EQ(shown.exitCode, 0) << shown.err;
    EXPECT_THAT(shown.out + shown.err, Not(HasSubstr(kValue))) << words[1];
  }
  EXPECT_THAT(filesWith(cluster_.data(), kValue), IsEmpty()) << "and afterwards";
  EXPECT_THAT(filesWith(cluster_.data(), contentOf(keyFile()).substr(0, 64)),
              ElementsAre(keyFile().string()));
  const Json audit = cluster_.json({"audit", "--action", "secret"});
  std::vector<std::string> actions;
  for (const Json& entry : audit)
    actions.push_back(entry["action"].get<std::string>() + " " + entry["outcome"].get<std::string>());
  EXPECT_THAT(actions, ElementsAre("secret.put accepted", "secret.read accepted"));
}

TEST_F(ClusterSecrets, ThatAreNotThereOrNotGrantedAreNamedAndNothingIsStarted) {
  const std::string ann = tokenOf("ann"), bob = tokenOf("bob");
  ASSERT_EQ(put("db", kValue, {"--token-file", ann}).exitCode, 0);
  const auto submit = [&](const std::string& name, const std::string& more = "") {
    return cluster_.run({"submit", "--wait", "--token-file", bob, cluster_.jobFile(reading(name, more))});
  };
  for (const auto& [name, said] : {std::pair("db", "there is no secret 'bob/db'"),
                                   std::pair("ann/db", "'ann/db' is not there, or not granted to bob"),
                                   std::pair("eve/db", "'eve/db' is not there, or not granted to bob")}) {
    const ProcessResult refused = submit(name);
    EXPECT_EQ(refused.exitCode, 1) << refused.err;
    EXPECT_THAT(refused.err, HasSubstr(said));
    const ProcessResult planned =
        cluster_.run({"plan", "--token-file", bob, cluster_.jobFile(reading(name))});
    EXPECT_EQ(planned.exitCode, 1) << planned.err;
    EXPECT_THAT(planned.err, HasSubstr(said));
  }
  EXPECT_TRUE(cluster_.json({"job", "list"}).empty());
  EXPECT_EQ(cluster_.run({"secret", "grant", "ann/db", "--user", "bob", "--token-file", bob}).exitCode, 3);
  EXPECT_EQ(
      cluster_.run({"secret", "grant", "db", "--user", "bob", "--application", "etl", "--token-file", ann})
          .exitCode,
      0);
  EXPECT_EQ(submit("ann/db").exitCode, 1);
  EXPECT_EQ(submit("ann/db", kOfEtl).exitCode, 0);
  EXPECT_EQ(seen(), kValue);
  EXPECT_EQ(cluster_.json({"secret", "list", "--token-file", bob}).size(), 1u);
  EXPECT_EQ(cluster_.run({"secret", "revoke", "ann/db", "--user", "bob", "--application", "etl"}).exitCode, 0)
      << "by an operator";
  EXPECT_TRUE(cluster_.json({"secret", "list", "--token-file", bob}).empty());
  EXPECT_EQ(submit("ann/db", kOfEtl).exitCode, 1);
}

TEST_F(ClusterSecrets, AreGivenToACommandThatRuns) {
  ASSERT_EQ(put("db").exitCode, 0);
  const ProcessResult shown =
      cluster_.run({"run", "--secret", "db", "--", "sh", "-c", "cat $TARCIL_SECRETS/db"});
  EXPECT_EQ(shown.exitCode, 0) << shown.err;
  EXPECT_EQ(shown.out, kValue);
}

TEST_F(ClusterSecrets, ThatAreDeletedBeforeTheTaskStartsEndItAsNeverStarted) {
  ASSERT_EQ(put("db").exitCode, 0);
  const std::string job = cluster_.submit(reading("db", "hold: true\n"));
  ASSERT_EQ(cluster_.run({"secret", "delete", "db"}).exitCode, 0);
  ASSERT_EQ(cluster_.run({"job", "release", job}).exitCode, 0);
  const Json status = cluster_.ended(job);
  EXPECT_EQ(status["state"], "failed");
  EXPECT_THAT(status["tasks"][0]["problem"].get<std::string>(),
              HasSubstr("its secrets could not be had: there is no secret"));
  EXPECT_FALSE(fs::exists(folder_.at("seen")));
  EXPECT_EQ(cluster_.run({"secret", "delete", "db"}).exitCode, 1) << "there is none";
  cluster_.expectAllUnitsFree();
}

TEST_F(ClusterSecrets, StayWithATaskWhoseMonitorIsKilled) {
  ASSERT_EQ(put("db").exitCode, 0);
  const std::string job = cluster_.submit(
      shellJob(folder_.note("runs") + folder_.waitForGate() + "cat /run/secrets/db > " + folder_.at("seen"),
               "secrets: [db]\n"));
  ASSERT_TRUE(folder_.waitForLines("runs", 1));
  cluster_.kill("server-1");
  EXPECT_THAT(filesWith(cluster_.data(), kValue), IsEmpty());
  cluster_.start("server-1");
  folder_.openGate();
  EXPECT_EQ(cluster_.ended(job)["state"], "done");
  EXPECT_EQ(seen(), kValue);
}

TEST_F(ClusterSecrets, GetANewKeyAndAreReadableMeanwhile) {
  ASSERT_EQ(put("db").exitCode, 0);
  const std::string before = contentOf(keyFile()), next(64, 'b');
  write(next + "\n" + before);
  readAgain("secrets are sealed with the key");
  cluster_.until("another key seals", [&]() {
    put("other", "x");
    const Json all = cluster_.json({"secret", "list"});
    return all[0]["key"] != all[1]["key"];
  });
  EXPECT_EQ(cluster_.json({"secret", "rekey"})["sealed"], 1);
  EXPECT_EQ(cluster_.json({"secret", "rekey"})["sealed"], 0) << "all are";
  write(next + "\n");
  cluster_.kill("master");
  cluster_.start("master");
  EXPECT_EQ(cluster_.ended(cluster_.submit(reading("db")))["state"], "done");
  EXPECT_EQ(seen(), kValue);
}

TEST_F(ClusterSecrets, AreNotReadByAMasterWithoutTheirKeyWhichSaysSo) {
  ASSERT_EQ(put("db").exitCode, 0);
  const std::string key = contentOf(keyFile());
  cluster_.kill("master");
  fs::remove(keyFile());
  cluster_.start("master");
  EXPECT_THAT(cluster_.logOf("master"), HasSubstr("1 secret is sealed with the key"));
  const ProcessResult refused = put("tls");
  EXPECT_EQ(refused.exitCode, 1);
  EXPECT_THAT(refused.err, HasSubstr("this master has no key for secrets; start it with --secrets-key"));
  const Json status = cluster_.ended(cluster_.submit(reading("db")));
  EXPECT_EQ(status["state"], "failed");
  EXPECT_THAT(status["tasks"][0]["problem"].get<std::string>(),
              HasSubstr("this master has no key for secrets"));
  cluster_.kill("master");
  write(std::string(64, 'c'));
  fs::permissions(keyFile(), fs::perms::owner_read | fs::perms::owner_write);
  cluster_.start("master");
  const Json other = cluster_.ended(cluster_.submit(reading("db")));
  EXPECT_THAT(other["tasks"][0]["problem"].get<std::string>(), HasSubstr("which this master does not have"));
  cluster_.kill("master");
  write(key);
  cluster_.start("master");
  EXPECT_EQ(cluster_.ended(cluster_.submit(reading("db")))["state"], "done");
  cluster_.expectAllUnitsFree();
}

TEST_F(ClusterSecrets, ThatAreWrongAreSaidAndChangeNothing) {
  const auto expectBad = [&](const ProcessResult& result, const std::string& said) {
    EXPECT_EQ(result.exitCode, 2) << result.out << result.err;
    EXPECT_THAT(result.err, HasSubstr(said));
    EXPECT_THAT(result.err, Not(HasSubstr(kValue)));
  };
  expectBad(put("../db"), "NAME: '../db' names no secret");
  expectBad(put("db", ""), "is empty");
  expectBad(put("db", std::string(65'537, 'x')), "has more than 64KiB");
  expectBad(cluster_.run({"secret", "put", "db", "--file", folder_.at("none")}), "cannot be read");
  expectBad(cluster_.run({"secret", "put", "db", kValue}), "a value is no argument");
  ASSERT_EQ(put("db").exitCode, 0);
  expectBad(cluster_.run({"secret", "grant", "db"}), "say whose jobs are meant");
  expectBad(cluster_.run({"secret", "grant", "db", "--user", "a b"}), "'a b' is no name");
  expectBad(cluster_.run({"submit", cluster_.jobFile("command: [x]\nsecrets: [a, ann/a]\n")}), "secrets");
  expectBad(cluster_.run({"submit", cluster_.jobFile("command: [x]\nsecrets: [\"a b\"]\n")}), "secrets");
  expectBad(cluster_.run({"submit", cluster_.jobFile("command: [x]\npolicy: late-binding\nsecrets: [db]\n")}),
            "a late-bound job gets none");
  const Json all = cluster_.json({"secret", "list"});
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0]["version"], 1);
  EXPECT_TRUE(all[0]["grants"].empty());
}

TEST_F(ClusterSecrets, OfAKeyFileThatOthersMayReadAreNotServed) {
  cluster_.kill("master");
  fs::permissions(keyFile(), fs::perms::group_read, fs::perm_options::add);
  const ProcessResult refused = cluster_.run({"serve", "master"});
  EXPECT_EQ(refused.exitCode, 2);
  EXPECT_THAT(refused.err, HasSubstr("--secrets-key: "));
  EXPECT_THAT(refused.err, HasSubstr("chmod 600"));
  write("short\n");
  fs::permissions(keyFile(), fs::perms::owner_read | fs::perms::owner_write);
  const ProcessResult bad = cluster_.run({"serve", "master"});
  EXPECT_EQ(bad.exitCode, 2);
  EXPECT_THAT(bad.err, HasSubstr("secrets.key:1: is no key"));
  EXPECT_THAT(bad.err, Not(HasSubstr("short")));
}

}  // namespace tarcil::secrets_test
