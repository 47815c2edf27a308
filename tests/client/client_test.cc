#include "client/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <kj/async-io.h>

#include "rpc/connection.h"
#include "rpc/errors.h"
#include "rpc/token.h"
#include "schema/master.capnp.h"
#include "tests/support/scripted_cluster.h"
#include "tests/support/temporary_folder.h"

namespace tarcil::client_test {

class ClientTest : public testing::Test {
 protected:
  // What KJ's destructors throw would end the test program all the same.
  ~ClientTest() noexcept override = default;

  Net net() { return {io_.provider->getNetwork(), *io_.lowLevelProvider, io_.provider->getTimer()}; }
  Client clientOf(std::vector<std::string> agents, const std::string& token) {
    return Client(net(), std::move(agents), token, options_,
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

class NoAgent final : public wire::MasterGate::Server {};

TEST_F(ClientTest, SaysThatAMastersAddressIsNoAgents) {
  const TemporaryFolder folder;
  const std::string address = "unix:" + folder.path() + "/master";
  auto listener = listenAt(net().network, net().io, address).wait(io_.waitScope);
  const auto greet = [](const LetIn&) -> capnp::Capability::Client { return kj::heap<NoAgent>(); };
  auto serving = serve(net().timer, kj::mv(listener.receiver), greet).eagerlyEvaluate(nullptr);
  Client client = clientOf({address}, "");
  const auto error = ask(client);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code, ErrorCode::kDenied);
  EXPECT_THAT(error->message, testing::StartsWith(address + " is a master (or monitor), not an agent"));
  EXPECT_TRUE(said_.empty()) << "no repeat helps";
}

TEST_F(ClientTest, SaysThatWhatListensIsNotOfTarcil) {
  auto listener = listenAt(net().network, net().io, "127.0.0.1:0").wait(io_.waitScope);
  const kj::StringPtr answer = "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n";
  kj::Own<kj::AsyncIoStream> peer;
  auto serving = listener.receiver->accept()
                     .then([&peer, answer](kj::Own<kj::AsyncIoStream>&& stream) {
                       peer = kj::mv(stream);
                       return peer->write(answer.begin(), answer.size());
                     })
                     .eagerlyEvaluate(nullptr);
  Client client = clientOf({listener.address}, "");
  const auto error = ask(client);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code, ErrorCode::kDenied);
  EXPECT_THAT(error->message, testing::StartsWith("what listens at " + listener.address +
                                                  " does not speak tarcil's protocol"));
}

}  // namespace tarcil::client_test
