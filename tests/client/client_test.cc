#include "client/client.h"

#include <gtest/gtest.h>
#include <kj/async-io.h>

#include "rpc/errors.h"
#include "rpc/token.h"
#include "tests/support/scripted_cluster.h"

namespace tarcil::client_test {

class ClientTest : public testing::Test {
 protected:
  // What KJ's destructors throw would end the test program all the same.
  ~ClientTest() noexcept override = default;

  Client clientOf(std::vector<std::string> agents, const std::string& token) {
    return Client({io_.provider->getNetwork(), *io_.lowLevelProvider, io_.provider->getTimer()},
                  std::move(agents), token, options_,
                  [this](const std::string& message) { said_.push_back(message); });
  }

  // The error that asking for the agents ends in; nothing where it is answered.
  std::optional<Error> ask(Client& client) {
    std::optional<Error> error;
    KJ_IF_MAYBE (exception, kj::runCatchingExceptions([this, &client]() {
                   client.ask([](Session& session) { return session.user.agentsRequest().send(); })
                       .wait(io_.waitScope);
                 })) {
      error = fromException(*exception);
    }
    return error;
  }

  kj::AsyncIoContext io_ = kj::setupAsyncIo();
  ClientOptions options_;
  std::vector<std::string> said_;
};

TEST_F(ClientTest, PassesOverAgentsThatNobodyListensAt) {
  const ScriptedCluster cluster({});
  auto agents = cluster.addresses();
  agents.insert(agents.begin(), {"unix:/nonexistent/a", "127.0.0.1:1"});
  Client client = clientOf(agents, *readTokenFile(cluster.tokenFile()));
  EXPECT_EQ(ask(client), std::nullopt);
  EXPECT_EQ(said_.size(), 1u);
  EXPECT_TRUE(client.hasLoggedIn());
}

TEST_F(ClientTest, GivesUpWhenPatienceIsAtItsEnd) {
  options_.firstPatience = 1 * kj::MILLISECONDS;
  Client client = clientOf({"unix:/nonexistent/a"}, "");
  const auto error = ask(client);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code, ErrorCode::kUnavailable);
  EXPECT_EQ(said_.size(), 1u);
  EXPECT_FALSE(client.hasLoggedIn());
}

TEST_F(ClientTest, PassesOverAnAgentThatDoesNotAnswerTheLogin) {
  ClusterScript script;
  script.hangingAgents = 1;
  const ScriptedCluster cluster(script, 2);
  options_.loginTimeout = 50 * kj::MILLISECONDS;
  Client client = clientOf(cluster.addresses(), *readTokenFile(cluster.tokenFile()));
  EXPECT_EQ(ask(client), std::nullopt);
  ASSERT_EQ(said_.size(), 1u);
  EXPECT_NE(said_[0].find("did not let us in in time"), std::string::npos) << said_[0];
}

TEST_F(ClientTest, GivesUpWhereNobodyAnswersTheLogin) {
  ClusterScript script;
  script.hangingAgents = 1;
  const ScriptedCluster cluster(script);
  options_.loginTimeout = 5 * kj::MILLISECONDS;
  options_.firstPatience = 20 * kj::MILLISECONDS;
  Client client = clientOf(cluster.addresses(), *readTokenFile(cluster.tokenFile()));
  const auto error = ask(client);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code, ErrorCode::kUnavailable);
  EXPECT_FALSE(client.hasLoggedIn());
}

TEST_F(ClientTest, AsksNoOtherAgentWhenItIsDenied) {
  const ScriptedCluster cluster({}, 2);
  Client client = clientOf(cluster.addresses(), "wrong");
  const auto error = ask(client);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code, ErrorCode::kDenied);
  EXPECT_TRUE(said_.empty());
}

}  // namespace tarcil::client_test
