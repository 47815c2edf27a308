// SIGHUP: no role ends by it, and the master reads its tokens again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>

#include "rpc/token.h"
#include "tests/support/cluster.h"

namespace tarcil::hangup_test {

using testing::HasSubstr;

void expectStillThere(const ManualCluster& cluster) {
  for (const char* name : {"master", "agent-1", "emulated"}) {
    EXPECT_EQ(::kill(cluster.pid(name), 0), 0) << name;
  }
}

class Hangup : public testing::Test {
 protected:
  void hangUp(const std::string& name, const std::string& said) {
    cluster_.signal(name, SIGHUP);
    cluster_.until(name + " says: " + said,
                   [&]() { return cluster_.logOf(name).find(said) != std::string::npos; });
  }
  void append(const std::string& line) const {
    std::ofstream(cluster_.data() + "/master/tokens", std::ios::app) << line << "\n";
  }
  // The exit code of a command with this token.
  int list(const std::string& token) const {
    const std::string file = folder_.at("token-" + token.substr(0, 4));
    EXPECT_TRUE(writeTokenFile(file, token).ok());
    return cluster_.run({"job", "list", "--token-file", file}).exitCode;
  }

  const TraceFolder folder_;
  ManualCluster cluster_{{.emulate = emulatedServer(folder_)}};
};

TEST_F(Hangup, TokensAreReadAgainAndABrokenFileChangesNothing) {
  const std::string first(32, 'a'), second(32, 'b');
  EXPECT_EQ(list(first), 3);
  append(first + " ann submit nobody");
  hangUp("master", "SIGHUP: the tokens in " + cluster_.data() + "/master/tokens are read again");
  EXPECT_EQ(list(first), 0);
  append(second + " bob king");
  hangUp("master", "SIGHUP: the tokens stay as they were: " + cluster_.data() + "/master/tokens:");
  EXPECT_THAT(cluster_.logOf("master"), HasSubstr("role: 'king' is none"));
  EXPECT_EQ(list(second), 3);
  EXPECT_EQ(list(first), 0);
}

TEST_F(Hangup, AgentsAskAgainAboutATokenThatTheyHaveLetIn) {
  const std::string token(32, 'a'), file = cluster_.data() + "/master/tokens";
  std::string before;
  std::getline(std::ifstream(file), before, '\0');
  append(token + " ann submit nobody");
  hangUp("master", "are read again");
  EXPECT_EQ(list(token), 0);
  std::ofstream(file, std::ios::trunc) << before;
  cluster_.signal("master", SIGHUP);
  const auto timesRead = [this]() {
    size_t count = 0;
    const std::string log = cluster_.logOf("master"), mark = "are read again";
    for (size_t at = log.find(mark); at != std::string::npos; at = log.find(mark, at + 1)) ++count;
    return count;
  };
  cluster_.until("the master has read the tokens twice", [&]() { return timesRead() == 2; });
  hangUp("agent-1", "SIGHUP: the master is asked about each token anew");
  EXPECT_EQ(list(token), 3);
  hangUp("emulated", "SIGHUP: the master is asked about each token anew");
  expectStillThere(cluster_);
}

TEST(HangupOfUp, IsPassedOnToEveryRole) {
  const TraceFolder folder;
  SupervisedCluster cluster({"--emulate", emulatedServer(folder)});
  const std::string record = cluster.data() + "/run/supervisor";
  pid_t supervisor = 0;
  ASSERT_TRUE(std::ifstream(record) >> supervisor);
  ::kill(supervisor, SIGHUP);
  cluster.until("the roles have heard of it", [&]() {
    for (const char* name : {"master", "agent-1"}) {
      std::string text;
      std::getline(std::ifstream(cluster.data() + "/log/" + name + ".log"), text, '\0');
      if (text.find("SIGHUP") == std::string::npos) return false;
    }
    return true;
  });
  EXPECT_EQ(cluster.run({"job", "list"}).exitCode, 0);
  EXPECT_THAT(cluster.log(), testing::Not(HasSubstr("killed by signal")));
}

}  // namespace tarcil::hangup_test
