// Connections between processes, over a real socket.
#include "rpc/connection.h"

#include <gtest/gtest.h>
#include <kj/vector.h>

#include "schema/master.capnp.h"
#include "tests/cli/scratch_folder.h"

namespace tarcil {
namespace {

constexpr size_t kMebibyte = 1 << 20;

// Keeps callers waiting until it is told to answer.
class Slow final : public wire::MonitorPort::Server {
 public:
  explicit Slow(size_t& arrived, kj::ForkedPromise<void>& answer) : arrived_(arrived), answer_(answer) {}

 protected:
  kj::Promise<void> authenticate(AuthenticateContext) override {
    ++arrived_;
    return answer_.addBranch();
  }

 private:
  size_t& arrived_;
  kj::ForkedPromise<void>& answer_;
};

class CallsWithoutAnswer : public testing::Test {
 protected:
  ~CallsWithoutAnswer() noexcept override = default;

  Net net() { return {io_.provider->getNetwork(), *io_.lowLevelProvider, io_.provider->getTimer()}; }

  ScratchFolder folder_;
  kj::AsyncIoContext io_ = kj::setupAsyncIo();
};

TEST_F(CallsWithoutAnswer, AreTakenUpToABoundAndTheOthersLater) {
  size_t arrived = 0;
  auto answer = kj::newPromiseAndFulfiller<void>();
  auto answered = answer.promise.fork();
  const std::string address = "unix:" + folder_.at("socket");
  auto listener = listenAt(net().network, net().io, address).wait(io_.waitScope);
  auto serving = serve(kj::mv(listener.receiver),
                       [&]() -> capnp::Capability::Client { return kj::heap<Slow>(arrived, answered); });
  auto serveEagerly = serving.eagerlyEvaluate(nullptr);
  auto connection = connect(net(), address).wait(io_.waitScope);
  auto port = connection->bootstrap().castAs<wire::MonitorPort>();

  const std::string token(kMebibyte, 'x');
  constexpr size_t kCalls = 50;
  kj::Vector<kj::Promise<void>> calls;
  for (size_t i = 0; i < kCalls; ++i) {
    auto request = port.authenticateRequest();
    request.setToken(token.c_str());
    calls.add(request.send().ignoreResult());
  }
  io_.waitScope.poll();  // until nothing is left to be done: both ends are here
  EXPECT_GE(arrived, 32u);
  EXPECT_LE(arrived, 33u) << "what waits for an answer is held in memory";
  answer.fulfiller->fulfill();
  kj::joinPromises(calls.releaseAsArray()).wait(io_.waitScope);
  EXPECT_EQ(arrived, kCalls);
}

}  // namespace
}  // namespace tarcil
