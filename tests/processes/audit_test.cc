// The audit log of a running cluster: what is in it, that it is found where it was changed, and that a master
// that is killed anywhere loses and doubles nothing of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>

#include "tests/support/cluster.h"

namespace tarcil::audit_test {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

std::vector<std::string> linesOf(const std::string& path) {
  std::vector<std::string> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

void write(const std::string& path, const std::vector<std::string>& lines) {
  std::ofstream file(path);
  for (const std::string& line : lines) file << line << '\n';
}

// "user action object outcome" of each entry.
std::vector<std::string> textsOf(const Json& entries) {
  std::vector<std::string> texts;
  for (const Json& entry : entries) {
    texts.push_back(entry.value("user", "") + " " + entry["action"].get<std::string>() + " " +
                    entry.value("object", "") + " " + entry["outcome"].get<std::string>());
  }
  return texts;
}

class AuditLog : public testing::Test {
 protected:
  explicit AuditLog(ClusterPlan plan = {}) : cluster_(withServers(std::move(plan))) {}

  ClusterPlan withServers(ClusterPlan plan) const {
    plan.emulate = emulatedServer(folder_);
    return plan;
  }
  std::string folder() const { return cluster_.data() + "/master/audit"; }
  std::string file(int number = 1) const { return folder() + "/0000000" + std::to_string(number) + ".jsonl"; }
  std::string yaml() { return cluster_.jobFile("command: [sleep, \"1\"]\nenv: {PASSWORD: hunter2}\n"); }
  uint64_t submit(const std::vector<std::string>& more = {}) {
    std::vector<std::string> words{"submit", yaml()};
    words.insert(words.end(), more.begin(), more.end());
    return cluster_.json(words)["number"];
  }
  std::string tokenOf(const std::string& user) {
    const std::string file = folder_.at(user + ".token");
    cluster_.json({"user", "add", user});
    cluster_.json({"token", "add", "--user", user, "--ttl", "1h", "--write", file});
    return file;
  }
  Json entries(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words{"audit"};
    words.insert(words.end(), more.begin(), more.end());
    return cluster_.json(words);
  }
  // In the files, as soon as everything is there.
  void settle() const { entries(); }
  void expectWhole() const {
    const ProcessResult verified = cluster_.run({"audit", "--verify"});
    EXPECT_EQ(verified.exitCode, 0) << verified.out << verified.err;
    const ProcessResult offline = cluster_.run({"audit", "--verify", folder()});
    EXPECT_EQ(offline.exitCode, 0) << offline.out << offline.err;
  }
  void expectBroken(const std::string& part) const {
    for (const auto& words :
         {std::vector<std::string>{"audit", "--verify"}, {"audit", "--verify", folder()}}) {
      const ProcessResult verified = cluster_.run(words);
      EXPECT_EQ(verified.exitCode, 1) << verified.out << verified.err;
      EXPECT_THAT(verified.err, HasSubstr(part));
    }
  }

  const TraceFolder folder_;
  ManualCluster cluster_;
};

TEST_F(AuditLog, SaysWhoDidWhatAndWhoMayNot) {
  const std::string ann = tokenOf("ann");
  const std::string job = "job " + std::to_string(submit({"--token-file", ann}));
  cluster_.json({"job", "cancel", job.substr(4)});
  EXPECT_EQ(cluster_.run({"user", "add", "bob", "--token-file", ann}).exitCode, 3);
  EXPECT_EQ(cluster_.run({"audit", "--token-file", ann}).exitCode, 3);
  folder_.write("none.token", std::string(64, 'a'));
  std::filesystem::permissions(folder_.at("none.token"), std::filesystem::perms::owner_read);
  EXPECT_EQ(cluster_.run({"job", "list", "--token-file", folder_.at("none.token")}).exitCode, 3);
  // Of the same second as the other one.
  const auto saysAll = [](const std::vector<std::string>& texts) {
    return std::find(texts.begin(), texts.end(), "ann refused read the audit log Denied") != texts.end();
  };
  cluster_.until("what was only counted is written", [&]() { return saysAll(textsOf(entries())); });
  const Json all = entries();
  EXPECT_THAT(textsOf(all), Contains("ann job.submit " + job + " accepted"));
  EXPECT_THAT(textsOf(all), Contains(HasSubstr(" job.cancel " + job + " accepted")));
  EXPECT_THAT(textsOf(all), Contains("ann refused change users Denied"));
  EXPECT_THAT(textsOf(all), Contains(" login  Denied"));
  EXPECT_THAT(textsOf(all), Contains(HasSubstr(" user.add user ann accepted")));
  for (const Json& entry : all) {
    if (entry["action"] == "refused") {
      EXPECT_THAT(entry["known_by"].get<std::string>(), HasSubstr("token "));
    }
    if (entry["action"] == "job.submit") {
      EXPECT_EQ(entry["agent"], "agent-1");
    }
  }
  expectWhole();
}

TEST_F(AuditLog, HasNoSecret) {
  const std::string ann = tokenOf("ann");
  submit({"--token-file", ann});
  settle();
  const std::string token = linesOf(ann).at(0);
  for (const std::string& line : linesOf(file())) {
    EXPECT_THAT(line, Not(HasSubstr("hunter2")));
    EXPECT_THAT(line, Not(HasSubstr(token.substr(token.find('.') + 1))));
  }
}

TEST_F(AuditLog, IsFiltered) {
  const std::string ann = tokenOf("ann");
  submit({"--token-file", ann});
  submit();
  EXPECT_THAT(entries({"--user", "ann"}), SizeIs(1));
  EXPECT_THAT(entries({"--action", "job"}), SizeIs(2));
  EXPECT_THAT(entries({"--action", "job.sub"}), IsEmpty());
  EXPECT_THAT(entries({"--since", "1h", "--action", "job.submit"}), SizeIs(2));
  EXPECT_THAT(entries({"--until", "1h"}), IsEmpty());
  const ProcessResult text = cluster_.run({"audit", "--user", "ann"});
  EXPECT_THAT(text.out, HasSubstr("job.submit"));
  EXPECT_THAT(text.out, HasSubstr("accepted"));
}

TEST_F(AuditLog, OfAFloodOfRefusalsStaysSmall) {
  const std::string ann = tokenOf("ann");
  cluster_.json({"user", "set", "ann", "--role", "read"});
  for (int i = 0; i < 30; ++i) cluster_.run({"submit", yaml(), "--token-file", ann});
  uint64_t told = 0, lines = 0;
  for (const Json& entry : entries({"--user", "ann"})) {
    told += entry.value("count", uint64_t{1});
    ++lines;
  }
  EXPECT_LE(lines, told);
  expectWhole();
}

TEST_F(AuditLog, ThatWasChangedIsFoundWhereItWas) {
  for (int i = 0; i < 5; ++i) submit();
  settle();
  expectWhole();
  const std::vector<std::string> written = linesOf(file());
  ASSERT_GT(written.size(), 5u);

  std::vector<std::string> lines = written;
  lines[2] = std::regex_replace(lines[2], std::regex("\"outcome\":\"[a-z]+\""), "\"outcome\":\"Denied\"");
  write(file(), lines);
  expectBroken("00000001.jsonl:3: was changed");

  lines = written;
  lines.erase(lines.begin() + 2);
  write(file(), lines);
  expectBroken("00000001.jsonl:3: entry 3 is missing");

  lines = written;
  std::swap(lines[2], lines[3]);
  write(file(), lines);
  expectBroken("00000001.jsonl:3: entry 3 is missing");

  lines = written;
  lines.pop_back();
  write(file(), lines);
  expectBroken("entry " + std::to_string(written.size()) + " is missing");

  lines = written;
  lines.erase(lines.begin());
  write(file(), lines);
  expectBroken("00000001.jsonl:1: entry 1 is missing");

  write(file(), written);
  expectWhole();
}

// What a master that is killed at any moment leaves is whole, and has an entry for each change.
TEST_F(AuditLog, OfAMasterThatIsKilledLosesAndDoublesNothing) {
  std::set<std::string> jobs;
  for (int i = 0; i < 5; ++i) {
    jobs.insert("job " + std::to_string(submit()));
    cluster_.kill("master");
    cluster_.start("master");
    expectWhole();
  }
  std::multiset<std::string> told;
  for (const Json& entry : entries({"--action", "job.submit"})) told.insert(entry["object"]);
  EXPECT_EQ(told, std::multiset<std::string>(jobs.begin(), jobs.end()));
}

TEST_F(AuditLog, SaysThatItWasSetBackByARestore) {
  submit();
  const std::string backup = folder_.at("backup");
  cluster_.json({"master", "backup", backup});
  const Json before = entries();
  submit();
  settle();
  cluster_.kill("master");
  const ProcessResult restored = cluster_.run(
      {"master", "restore", backup, "--store", cluster_.data() + "/master/store", "--at-next-start"});
  ASSERT_EQ(restored.exitCode, 0) << restored.err;
  cluster_.start("master");
  const ProcessResult verified = cluster_.run({"audit", "--verify"});
  EXPECT_EQ(verified.exitCode, 0) << verified.out << verified.err;
  EXPECT_THAT(verified.err, HasSubstr("the master's store is a backup of then"));
}

TEST_F(AuditLog, RefusesBadInputAndSaysWhatToWrite) {
  const auto refuses = [this](std::vector<std::string> words, const std::string& part) {
    words.insert(words.begin(), "audit");
    const ProcessResult result = cluster_.run(words);
    EXPECT_EQ(result.exitCode, 2) << result.out << result.err;
    EXPECT_THAT(result.err, HasSubstr(part));
  };
  refuses({"--since", "someday"}, "--since: ");
  refuses({"--verify", "--user", "ann"}, "--verify: ");
  refuses({"/tmp"}, "FOLDER: goes with --verify");
  refuses({"--verify", folder_.at("nowhere")}, "nowhere: cannot be read");
  refuses({"--verify", cluster_.data()}, "has no file of an audit log");
  refuses({"--verify", "--head", "12"}, "--head: ");
  folder_.write("other", "");
  std::filesystem::create_directories(folder_.at("odd"));
  std::ofstream(folder_.at("odd") + "/00000001.jsonl") << std::string(1 << 20, 'x');
  const ProcessResult odd = cluster_.run({"audit", "--verify", folder_.at("odd")});
  EXPECT_EQ(odd.exitCode, 1);
  EXPECT_THAT(odd.err, HasSubstr("00000001.jsonl:1: was changed"));
}

class RotatedAuditLog : public AuditLog {
 protected:
  RotatedAuditLog() : AuditLog({.masterFlags = {"--audit-file-size", "1KiB", "--keep-audit-files", "3"}}) {}
};

TEST_F(RotatedAuditLog, KeepsSoManyFilesAndSaysWhatWentBefore) {
  for (int i = 0; i < 20; ++i) {
    submit();
    settle();
  }
  cluster_.until("old files are erased", [this]() {
    submit();
    settle();
    return !std::filesystem::exists(file(1));
  });
  expectWhole();
  EXPECT_THAT(entries({"--action", "audit.rotate"}), Not(IsEmpty()));
}

// Where a master dies on the way of an entry from the store to the files, and out of both.
const char* const kFailpoints[] = {"audit.before_append", "audit.appended:2",   "audit.synced:2",
                                   "audit.in_files:2",    "audit.before_erase", "master.before_sync:4",
                                   "master.synced:4"};

class AuditFailpoint : public testing::TestWithParam<const char*> {};

TEST_P(AuditFailpoint, LosesAndDoublesNothing) {
  const TraceFolder folder;
  ManualCluster cluster({.emulate = emulatedServer(folder),
                         .failing = "master",
                         .failpoint = GetParam(),
                         .masterFlags = {"--audit-file-size", "500B", "--keep-audit-files", "2"}});
  std::set<std::string> submitted;
  cluster.until("the master has died", [&]() {
    const Json job = cluster.json({"submit", cluster.jobFile("command: [sleep, \"1\"]\n")});
    submitted.insert("job " + std::to_string(job["number"].get<uint64_t>()));
    cluster.run({"audit", "--since", "1h"});
    return cluster.hasFailed();
  });
  cluster.until("there is a master again", [&]() { return cluster.run({"audit"}).exitCode == 0; });
  const ProcessResult verified = cluster.run({"audit", "--verify"});
  EXPECT_EQ(verified.exitCode, 0) << verified.out << verified.err;
  std::multiset<std::string> told;
  for (const Json& entry : cluster.json({"audit", "--action", "job.submit"})) told.insert(entry["object"]);
  // Rotation has erased the first ones; what is there is there once.
  for (const std::string& job : told) {
    EXPECT_EQ(told.count(job), 1u) << job;
    EXPECT_TRUE(submitted.contains(job)) << job;
  }
}

INSTANTIATE_TEST_SUITE_P(Named, AuditFailpoint, testing::ValuesIn(kFailpoints), [](const auto& info) {
  return std::regex_replace(std::string(info.param), std::regex("[.:]"), "_");
});

}  // namespace tarcil::audit_test
