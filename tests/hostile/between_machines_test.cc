// Strangers, those who stand between two machines, and machines that are not what they say, over a network
// and with real processes. That each certificate is refused for its own reason is tests/rpc/security_test.cc;
// how machines join is tests/processes/joining_test.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>

#include "identity/certificates.h"
#include "rpc/identity_folder.h"
#include "tests/support/joined_cluster.h"

namespace tarcil::between_machines_test {

using testing::AnyOf;
using testing::HasSubstr;

constexpr auto kDay = std::chrono::hours(24);

WallTime now() {
  return std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
}

class BetweenMachines : public testing::Test {
 protected:
  void SetUp() override {
    SKIP_WITHOUT_VIRTUAL_NETWORK();
    cluster_ = std::make_unique<JoinedCluster>();
  }

  // tls_peer.py on one of the hosts: it ends with what starts it here, which nothing may stand between.
  std::unique_ptr<Process> peer(const std::string& host, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"/usr/bin/python3", TARCIL_TLS_PEER});
    return cluster_->program(host, arguments);
  }
  std::string saysOf(const std::string& host, const std::vector<std::string>& arguments) {
    return peer(host, arguments)->finish().out;
  }
  void startPeer(const std::string& host, const std::vector<std::string>& arguments) {
    standing_.push_back(peer(host, arguments));
    ASSERT_TRUE(standing_.back()->waitFor("listening")) << standing_.back()->finish().err;
  }
  std::string folderOf(const std::string& host) { return identityFolder(cluster_->dataOf(host)); }

  // A folder with a certificate of this authority.
  std::string certified(const std::string& folder, const Authority& by, const Identity& identity,
                        Validity validity) {
    const std::string path = cluster_->dataOf(folder);
    std::filesystem::create_directories(path);
    const std::string key = *makeKey();
    std::ofstream(path + "/key.pem") << key;
    std::ofstream(path + "/certificate.pem") << *issue(by, *makeRequest(key), identity, validity);
    return path;
  }
  Authority authority() { return **readAuthority(cluster_->dataOf("m")); }
  std::vector<std::string> agentsThatAreThere() {
    std::vector<std::string> names;
    for (const Json& agent : Json::parse(cluster_->user({"agent", "list", "--json"}).out))
      names.push_back(agent["name"]);
    return names;
  }

  std::unique_ptr<JoinedCluster> cluster_;
  std::vector<std::unique_ptr<Process>> standing_;
};

// By an end, or by a reset where part of what was sent was not read before it.
auto isTurnedAway() {
  return AnyOf(HasSubstr("ended after"), HasSubstr("refused"));
}

TEST_F(BetweenMachines, RolesSpeakTls13AndNothingBelow12) {
  cluster_->comeUp();
  const std::string master = cluster_->at("m", 7001), agent = cluster_->at("a", 7101);
  EXPECT_EQ(saysOf("x", {"connect", master, "--as", folderOf("s")}), "TLSv1.3\n");
  EXPECT_EQ(saysOf("x", {"connect", master, "--as", folderOf("s"), "--at-most", "1.2"}), "TLSv1.2\n");
  EXPECT_THAT(saysOf("x", {"connect", master, "--as", folderOf("s"), "--at-most", "1.1"}),
              HasSubstr("refused: "));
  EXPECT_EQ(saysOf("x", {"connect", agent}), "TLSv1.3\n") << "users have no certificate";
  EXPECT_THAT(saysOf("x", {"connect", agent, "--at-most", "1.1"}), HasSubstr("refused: "));
}

TEST_F(BetweenMachines, AStrangerGetsInNowhere) {
  cluster_->comeUp();
  const Authority other = *makeAuthority("other", {now() - kDay, now() + kDay});
  const std::string garbage = cluster_->dataOf("garbage");
  std::ofstream(garbage) << std::string(4'096, '\x16');
  for (const std::string& address : {cluster_->at("m", 7001), cluster_->at("s", 7201)}) {
    EXPECT_THAT(saysOf("x", {"connect", address}), AnyOf(HasSubstr("refused: "), HasSubstr("ended it")))
        << address << " asks for a certificate";
    const std::string foreign =
        certified("foreign", other, {MemberRole::kMonitor, "s7", 7}, {now() - kDay, now() + kDay});
    EXPECT_THAT(saysOf("x", {"connect", address, "--as", foreign}),
                AnyOf(HasSubstr("refused: "), HasSubstr("ended it")))
        << address;
    EXPECT_THAT(saysOf("x", {"send", address, garbage}), isTurnedAway()) << address;
  }
  const ProcessResult run =
      cluster_->user({"submit", "--wait", cluster_->jobFile("command: [sleep, 0.05]\n")});
  EXPECT_EQ(run.exitCode, 0) << run.err << "the cluster serves on";
}

// A user who was led to somebody else's machine.
TEST_F(BetweenMachines, EachCertificateThatIsNotGoodHasItsOwnMessage) {
  cluster_->init();
  cluster_->joinAs("a", "agent", "a1");
  const Identity agent{MemberRole::kAgent, "a1", 5};
  const Authority ours = authority(), other = *makeAuthority("other", {now() - kDay * 10, now() + kDay});
  const Validity good{now() - kDay, now() + kDay};
  struct Case {
    std::string folder, message;
  };
  const Case kCases[] = {
      {certified("expired", ours, agent, {now() - kDay * 2, now() - kDay}),
       "the peer's certificate has expired"},
      {certified("early", ours, agent, {now() + kDay, now() + kDay * 2}),
       "the peer's certificate is not valid yet"},
      {certified("foreign", other, agent, good), "of another cluster's authority"},
      {certified("monitor", ours, {MemberRole::kMonitor, "s7", 6}, good), "is for another role"},
  };
  int port = 7300;
  for (const Case& each : kCases) {
    const std::string address = cluster_->at("x", ++port);
    startPeer("x", {"listen", address, "--as", each.folder});
    const ProcessResult refused = cluster_->on("a", {"job", "list", "--cluster", address, "--token-file",
                                                     cluster_->dataOf("m") + "/tokens/operate.token"});
    EXPECT_EQ(refused.exitCode, 3) << each.message;
    EXPECT_THAT(refused.err, HasSubstr(each.message));
  }
  // Signed by itself.
  const std::string alone = cluster_->dataOf("alone");
  std::filesystem::create_directories(alone);
  std::ofstream(alone + "/key.pem") << other.key;
  std::ofstream(alone + "/certificate.pem") << other.certificate;
  startPeer("x", {"listen", cluster_->at("x", 7400), "--as", alone});
  EXPECT_THAT(cluster_
                  ->on("a", {"job", "list", "--cluster", cluster_->at("x", 7400), "--token-file",
                             cluster_->dataOf("m") + "/tokens/operate.token"})
                  .err,
              HasSubstr("is signed by itself"));
}

// What somebody who stands between has of a session is of no use to them, changed or as it was.
TEST_F(BetweenMachines, ASessionIsNeitherChangedNorReplayed) {
  cluster_->comeUp();
  const std::string recorded = cluster_->dataOf("recorded"), between = cluster_->at("x", 7500);
  const std::vector<std::string> list = {"job",
                                         "list",
                                         "--json",
                                         "--cluster",
                                         between,
                                         "--token-file",
                                         cluster_->dataOf("m") + "/tokens/operate.token"};
  startPeer("x", {"relay", between, cluster_->at("a", 7101), "--record", recorded});
  ASSERT_EQ(cluster_->on("a", list).out, "[]\n") << "whoever passes everything on is not noticed";
  ASSERT_GT(std::filesystem::file_size(recorded), 0u);
  std::ifstream file(recorded, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  std::ifstream tokenFile(cluster_->dataOf("m") + "/tokens/operate.token");
  std::string token;
  std::getline(tokenFile, token);
  EXPECT_EQ(bytes.find(token), std::string::npos) << "the token is not to be read on the way";
  EXPECT_THAT(saysOf("x", {"send", cluster_->at("a", 7101), recorded}), isTurnedAway())
      << "what was said once opens no session again";

  const std::string changing = cluster_->at("x", 7501);
  startPeer("x", {"relay", changing, cluster_->at("a", 7101), "--spoil", "3"});
  std::vector<std::string> changed = list;
  changed[4] = changing;
  EXPECT_EQ(cluster_->on("a", changed).exitCode, 3) << "what was changed on the way is not taken";
}

TEST_F(BetweenMachines, ReplayedJoiningGivesNoSecondCertificate) {
  cluster_->init();
  const std::string recorded = cluster_->dataOf("recorded");
  const std::string word = cluster_->wordFor("monitor", "s7");
  // The greeting of the joining port is in clear, and its answer is the first record.
  startPeer("x", {"relay", cluster_->at("x", 7502), cluster_->at("m", 7002), "--record", recorded});
  ASSERT_EQ(cluster_->on("s", {"join", cluster_->at("x", 7502), "--token", word}).exitCode, 0);
  EXPECT_THAT(saysOf("x", {"send", cluster_->at("m", 7002), recorded}), isTurnedAway());
  const Json members = Json::parse(cluster_->on("m", {"certificate", "list", "--json"}).out);
  for (const Json& member : members) {
    EXPECT_EQ(member["certificates"].size(), 1u) << member;
  }
}

// Machines that have a certificate and claim more than it says.
TEST_F(BetweenMachines, NoMachineSpeaksAsAnother) {
  cluster_->comeUp();
  // With what a monitor has, taken to another machine.
  std::filesystem::create_directories(cluster_->dataOf("x"));
  std::filesystem::copy(folderOf("s"), folderOf("x"), std::filesystem::copy_options::recursive);
  const ProcessResult monitor =
      cluster_->on("x", {"serve", "agent", "--name", "a1", "--listen", cluster_->at("x", 7101)});
  EXPECT_EQ(monitor.exitCode, 2);
  EXPECT_THAT(monitor.err, HasSubstr("is the identity of monitor s7"));
  const std::string file = cluster_->dataOf("x") + "/servers.yaml";
  std::ofstream(file) << "servers:\n  - {name: other, rus: 64}\n";
  const ProcessResult other =
      cluster_->on("x", {"serve", "monitor", "--listen", cluster_->at("x", 7201), "--emulate", file});
  EXPECT_EQ(other.exitCode, 3);
  EXPECT_THAT(other.err, HasSubstr("the certificate is for monitor s7, which may not speak as 'other'"));
  EXPECT_THAT(agentsThatAreThere(), testing::ElementsAre("a1"));
}

}  // namespace tarcil::between_machines_test
