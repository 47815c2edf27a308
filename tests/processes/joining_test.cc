// A cluster over hosts of its own that comes up with `tarcil init` and `tarcil join` alone, and who does not
// get into it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "identity/certificates.h"
#include "rpc/identity_folder.h"
#include "tests/support/etcd_cluster.h"
#include "tests/support/joined_cluster.h"

namespace tarcil::joining_test {

using testing::HasSubstr;
using testing::Not;

std::string contentOf(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Joining, ClusterOverHostsComesUpWithInitAndJoinAlone) {
  SKIP_WITHOUT_VIRTUAL_NETWORK();
  JoinedCluster cluster;
  cluster.comeUp();
  const ProcessResult run =
      cluster.user({"submit", "--wait", cluster.jobFile("command: [sleep, 0.05]\ntasks: 3\n")});
  EXPECT_EQ(run.exitCode, 0) << run.err;
  const ProcessResult listed = cluster.on("m", {"certificate", "list", "--json"});
  const Json members = Json::parse(listed.out);
  ASSERT_EQ(members.size(), 3u) << listed.out << listed.err;
  std::set<std::string> roles;
  for (const Json& member : members) {
    roles.insert(member["role"]);
    EXPECT_EQ(member["certificates"].size(), 1u) << member;
    EXPECT_EQ(member["certificates"][0]["state"], "good");
  }
  EXPECT_THAT(roles, testing::ElementsAre("agent", "master", "monitor")) << "the master from the beginning";
}

TEST(Joining, UserWithoutTheAuthorityIsToldAndSendsNoToken) {
  SKIP_WITHOUT_VIRTUAL_NETWORK();
  JoinedCluster cluster;
  cluster.init();
  cluster.joinAs("a", "agent", "a1");
  cluster.startAgent();
  const ProcessResult refused =
      cluster.on("x", {"job", "list", "--cluster", cluster.at("a", 7101), "--token-file",
                       cluster.dataOf("m") + "/tokens/operate.token"});
  EXPECT_EQ(refused.exitCode, 2);
  EXPECT_THAT(refused.err, HasSubstr("--cluster: "));
  EXPECT_THAT(refused.err, HasSubstr("--insecure"));
}

TEST(Joining, WordWorksOnceAndForItsNameAlone) {
  SKIP_WITHOUT_VIRTUAL_NETWORK();
  JoinedCluster cluster;
  cluster.init();
  const std::string word = cluster.wordFor("monitor", "s7");
  ASSERT_EQ(cluster.join("s", word).exitCode, 0);
  const ProcessResult again = cluster.join("x", word);
  EXPECT_EQ(again.exitCode, 3);
  EXPECT_THAT(again.err, HasSubstr("no such word is out: it was used"));
  EXPECT_FALSE(std::filesystem::exists(identityFolder(cluster.dataOf("x")))) << "nothing is written";
  const ProcessResult taken = cluster.on("m", {"join-token", "monitor", "--name", "s7"});
  EXPECT_EQ(taken.exitCode, 1);
  EXPECT_THAT(taken.err, HasSubstr("the name is taken"));
  const ProcessResult twice = cluster.join("s", cluster.wordFor("agent", "a1"));
  EXPECT_EQ(twice.exitCode, 2);
  EXPECT_THAT(twice.err, HasSubstr("has an identity already"));
}

// Somebody between: answers at the address of the joining port as another cluster would.
TEST(Joining, MachineTellsAnotherClusterNothing) {
  SKIP_WITHOUT_VIRTUAL_NETWORK();
  JoinedCluster cluster;
  cluster.init();
  const std::string word = cluster.wordFor("monitor", "s7");
  const ProcessResult other = cluster.on("x", {"init", "--listen", cluster.at("x", 7001)});
  ASSERT_EQ(other.exitCode, 0) << other.err;
  cluster.start("other", "x", {"serve", "master"});
  const ProcessResult refused = cluster.on("s", {"join", cluster.at("x", 7002), "--token", word});
  EXPECT_EQ(refused.exitCode, 3);
  EXPECT_THAT(refused.err, HasSubstr("its authority is another one. Nothing was told to it"));
  EXPECT_EQ(cluster.join("s", word).exitCode, 0) << "the word is still good";
}

TEST(Joining, MonitorThatClaimsAnotherServersNameIsRefused) {
  SKIP_WITHOUT_VIRTUAL_NETWORK();
  JoinedCluster cluster;
  cluster.init();
  cluster.joinAs("s", "monitor", "s8");
  const std::string file = cluster.dataOf("s") + "/servers.yaml";
  std::ofstream(file) << "servers:\n  - {name: s7, rus: 4}\n";
  const ProcessResult refused =
      cluster.on("s", {"serve", "monitor", "--listen", cluster.at("s", 7201), "--emulate", file});
  EXPECT_EQ(refused.exitCode, 3);
  EXPECT_THAT(refused.err, HasSubstr("the certificate is for monitor s8, which may not speak as 's7'"));
}

TEST(Joining, RoleFindsAnIdentityOfAnotherRoleOrName) {
  SKIP_WITHOUT_VIRTUAL_NETWORK();
  JoinedCluster cluster;
  cluster.init();
  cluster.joinAs("s", "monitor", "s7");
  const ProcessResult agent = cluster.on("s", {"serve", "agent", "--listen", cluster.at("s", 7201)});
  EXPECT_EQ(agent.exitCode, 2);
  EXPECT_THAT(agent.err, HasSubstr("is the identity of monitor s7, and this is to be a role agent"));
  const ProcessResult named =
      cluster.on("s", {"serve", "monitor", "--name", "s9", "--listen", cluster.at("s", 7201)});
  EXPECT_EQ(named.exitCode, 2);
  EXPECT_THAT(named.err, HasSubstr("--name: 's9' is not the name of the identity, which is for monitor s7"));
}

TEST(Joining, AnotherMasterGetsWhatAllHaveAndLeadsWhenTheFirstIsGone) {
  SKIP_WITHOUT_VIRTUAL_NETWORK();
  SKIP_WITHOUT_ETCD();
  JoinedCluster cluster;
  const std::string url = "http://" + cluster.at("s", 2379);
  const auto etcd =
      cluster.program("s", {"/usr/bin/etcd", "--data-dir", cluster.dataOf("s"), "--listen-client-urls", url,
                            "--advertise-client-urls", url, "--log-outputs", "stderr"});
  const std::vector<std::string> serve = {
      "serve",      "master",      "--etcd",
      url,          "--etcd-wait", "1m",
      "--etcd-new", "--masters",   cluster.at("m", 7001) + "," + cluster.at("x", 7001)};
  ASSERT_EQ(cluster.on("m", {"init", "--listen", cluster.at("m", 7001)}).exitCode, 0);
  cluster.start("m", "m", serve);
  cluster.joinAs("a", "agent", "a1");
  cluster.startAgent();
  const ProcessResult elsewhere = cluster.user({"join-token", "master", "--name", "m2"});
  EXPECT_EQ(elsewhere.exitCode, 3);
  EXPECT_THAT(elsewhere.err, HasSubstr("is made on the machine of the master that leads"));
  const std::string word = cluster.wordFor("master", "m2");
  const ProcessResult nowhere = cluster.join("x", word);
  EXPECT_EQ(nowhere.exitCode, 2);
  EXPECT_THAT(nowhere.err, HasSubstr("--listen is required for a master"));
  const ProcessResult joined =
      cluster.on("x", {"join", cluster.at("m", 7002), "--token", word, "--listen", cluster.at("x", 7001)});
  ASSERT_EQ(joined.exitCode, 0) << joined.err;
  for (const char* const file : {"/master/authority/key.pem", "/master/tokens", "/master/secrets.key"})
    EXPECT_EQ(contentOf(cluster.dataOf("x") + file), contentOf(cluster.dataOf("m") + file)) << file;
  cluster.start("x", "x", serve);

  cluster.process("m").signal(SIGKILL);
  const std::vector<std::string> invite = {"join-token", "monitor", "--name", "s8"};
  ProcessResult made;
  cluster.until("the other master leads", [&]() { return (made = cluster.on("x", invite)).exitCode == 0; });
  const ProcessResult later =
      cluster.on("s", {"join", cluster.at("x", 7002), "--token", made.out.substr(0, made.out.find('\n')),
                       "--data", cluster.dataOf("s8")});
  EXPECT_EQ(later.exitCode, 0) << later.err;
  EXPECT_EQ(contentOf(cluster.dataOf("s8") + "/identity/master"),
            cluster.at("m", 7001) + "," + cluster.at("x", 7001) + "\n");
  const ProcessResult listed = cluster.user({"certificate", "list", "--json"});
  ASSERT_EQ(listed.exitCode, 0) << listed.err;
  std::set<std::string> masters;
  for (const Json& member : Json::parse(listed.out)) {
    if (member["role"] == "master") masters.insert(member["name"]);
  }
  EXPECT_THAT(masters, testing::ElementsAre("m2", "master"));

  const std::string other = cluster.dataOf("other");
  ASSERT_EQ(cluster.on("s", {"init", "--listen", cluster.at("s", 7001), "--data", other}).exitCode, 0);
  const ProcessResult refused = cluster.on("s", {"serve", "master", "--data", other, "--etcd", url});
  EXPECT_EQ(refused.exitCode, 2);
  EXPECT_THAT(refused.err, HasSubstr("is another cluster's: its authority is"));
}

TEST(Joining, AnotherMasterIsNotInvitedWhereTheStoreIsInAFolder) {
  SKIP_WITHOUT_VIRTUAL_NETWORK();
  JoinedCluster cluster;
  cluster.init();
  const ProcessResult refused = cluster.on("m", {"join-token", "master", "--name", "m2"});
  EXPECT_EQ(refused.exitCode, 1);
  EXPECT_THAT(refused.err, HasSubstr("has one master, whose store is in a folder"));
}

TEST(Joining, RevokedMachineIsDisconnectedAndStaysOut) {
  SKIP_WITHOUT_VIRTUAL_NETWORK();
  JoinedCluster cluster;
  cluster.comeUp();
  const ProcessResult revoked = cluster.on("m", {"certificate", "revoke", "monitor", "s7"});
  ASSERT_EQ(revoked.exitCode, 0) << revoked.err;
  const ProcessResult ended = cluster.process("s").finish();
  EXPECT_EQ(ended.exitCode, 3);
  EXPECT_THAT(ended.err, HasSubstr("the certificate of monitor s7 is revoked"));
  cluster.joinAs("x", "monitor", "s7");
}

TEST(Joining, CertificateIsRenewedWithoutARestart) {
  SKIP_WITHOUT_VIRTUAL_NETWORK();
  JoinedCluster cluster({"--certificate-life", "6s"});
  cluster.comeUp();
  const auto serialsOf = [&cluster](const std::string& name) {
    std::set<std::string> serials;
    for (const Json& member : Json::parse(cluster.on("m", {"certificate", "list", "--json"}).out)) {
      if (member["name"] != name) continue;
      for (const Json& each : member["certificates"]) serials.insert(each["serial"].get<std::string>());
    }
    return serials;
  };
  std::set<std::string> seen = serialsOf("s7");
  cluster.until("the monitor has had three certificates", [&]() {
    seen.merge(serialsOf("s7"));
    return seen.size() >= 3;
  });
  const ProcessResult run = cluster.user({"submit", "--wait", cluster.jobFile("command: [sleep, 0.05]\n")});
  EXPECT_EQ(run.exitCode, 0) << run.err;
}

// As a company does that has an authority of its own, with another below it.
TEST(Joining, CertificatesOfACompanysAuthorityAreTakenAtSighup) {
  SKIP_WITHOUT_VIRTUAL_NETWORK();
  JoinedCluster cluster;
  cluster.init();
  const std::string folder = cluster.dataOf("company"), master = identityFolder(cluster.dataOf("m"));
  std::filesystem::create_directories(folder);
  const ProcessResult made =
      cluster
          .program("m", {"/bin/sh", TARCIL_SOURCE_DIR "/tests/support/company_authority.sh", folder,
                         "master/m/0000000000000011", "agent/a1/0000000000000012"})
          ->finish();
  ASSERT_EQ(made.exitCode, 0) << made.err;
  const auto install = [&](const std::string& host, const std::string& serial) {
    const std::string to = identityFolder(cluster.dataOf(host));
    std::filesystem::create_directories(to);
    for (const char* name : {"certificate.pem", "key.pem"})
      std::filesystem::copy_file(folder + "/" + serial + "/" + name, to + "/" + name,
                                 std::filesystem::copy_options::overwrite_existing);
    std::filesystem::copy_file(folder + "/root.pem", to + "/authority.pem",
                               std::filesystem::copy_options::overwrite_existing);
    std::filesystem::permissions(to + "/key.pem", std::filesystem::perms::owner_read);
  };
  install("m", "0000000000000011");
  cluster.process("m").signal(SIGHUP);
  install("a", "0000000000000012");
  cluster.start("a", "a",
                {"serve", "agent", "--name", "a1", "--master", cluster.at("m", 7001), "--listen",
                 cluster.at("a", 7101)});
  cluster.until("the agent is there", [&]() {
    const ProcessResult listed = cluster.user({"agent", "list", "--json"});
    return listed.exitCode == 0 && Json::parse(listed.out).size() == 1;
  });
}

TEST(Joining, ExpiredOrForeignIdentityIsSaidAtTheStart) {
  SKIP_WITHOUT_VIRTUAL_NETWORK();
  JoinedCluster cluster;
  const WallTime now = std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
  const auto day = std::chrono::hours(24);
  const Authority ours = *makeAuthority("one", {now - day * 10, now + day}),
                  other = *makeAuthority("two", {now - day * 10, now + day});
  const auto agentWith = [&](const Authority& by, Validity validity) {
    std::filesystem::remove_all(cluster.dataOf("a"));
    const std::string key = *makeKey();
    const std::string certificate = *issue(by, *makeRequest(key), {MemberRole::kAgent, "a1", 5}, validity);
    EXPECT_TRUE(
        writeIdentity(cluster.dataOf("a"), {ours.certificate, certificate, key}, {"10.0.0.1:1", ""}).ok());
    const ProcessResult ended = cluster.on("a", {"serve", "agent", "--listen", cluster.at("a", 7101)});
    EXPECT_EQ(ended.exitCode, 2);
    return ended.err;
  };
  EXPECT_THAT(agentWith(ours, {now - day * 2, now - day}), HasSubstr("the certificate expired at"));
  EXPECT_THAT(agentWith(ours, {now + day, now + day * 2}), HasSubstr("is the clock right?"));
  EXPECT_THAT(agentWith(other, {now - day, now + day}), HasSubstr("not signed by this authority"));
}

}  // namespace tarcil::joining_test
