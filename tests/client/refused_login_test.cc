// An agent that lets nobody in, as where its master is out of reach, behind something that passes on its
// answers in two pieces: whatever calls and connections are in the middle of, they end well.
#include <gtest/gtest.h>
#include <kj/async-io.h>
#include <kj/vector.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "client/client.h"
#include "client/late/late_client.h"
#include "env/clock.h"
#include "rpc/address.h"
#include "rpc/errors.h"
#include "tests/rpc/forwarded_connection.h"

namespace tarcil::refused_login_test {

class RefusingGate final : public wire::AgentGate::Server {
 protected:
  kj::Promise<void> login(LoginContext) override {
    return toException({ErrorCode::kUnavailable, "the master is out of reach"});
  }
};

// What follows the first piece.
enum class Then { kTheRest, kTheEnd, kTheClientGoes };
constexpr Then kThens[] = {Then::kTheRest, Then::kTheEnd, Then::kTheClientGoes};

// No time passes while a client is there.
class ARefusedLogin : public ClockedTest {
 protected:
  ARefusedLogin() {
    const auto greet = [](const LetIn&) -> capnp::Capability::Client { return kj::heap<RefusingGate>(); };
    serving_ = serve(timer_, listenAs("agent"), greet).eagerlyEvaluate(nullptr);
  }
  ~ARefusedLogin() noexcept override = default;

  // Of the client that connects now. Whether its answers are that long.
  bool isCutAfter(uint64_t bytes, Then then, const std::function<void()>& dropClient) {
    auto here = between_->accept().wait(io_.waitScope);
    auto there = connectTo(net().network, net().io, addressOf("agent")).wait(io_.waitScope);
    auto toAgent = here->pumpTo(*there).ignoreResult().eagerlyEvaluate(nullptr);
    auto toClient = there->pumpTo(*here, bytes);
    const bool isCut = toClient.poll(io_.waitScope) && toClient.wait(io_.waitScope) == bytes;
    kj::Promise<void> rest = kj::READY_NOW;
    if (then == Then::kTheRest) rest = there->pumpTo(*here).ignoreResult().eagerlyEvaluate(nullptr);
    if (then == Then::kTheEnd) {
      toAgent = nullptr;
      here = nullptr;
    }
    if (then == Then::kTheClientGoes) dropClient();
    io_.waitScope.poll();
    return isCut;
  }

  // The server pauses after some connections (rpc/connection.cc).
  void pause() {
    timer_.advanceTo(timer_.now() + 1 * kj::MILLISECONDS);
    io_.waitScope.poll();
  }

  Net net() { return {io_.provider->getNetwork(), *io_.lowLevelProvider, timer_}; }
  std::vector<std::string> agents() const { return {addressOf("between")}; }

 private:
  std::string addressOf(const std::string& name) const { return "unix:" + folder_.at(name); }
  kj::Own<kj::ConnectionReceiver> listenAs(const std::string& name) {
    return listenAt(net().network, net().io, addressOf(name)).wait(io_.waitScope).receiver;
  }

  ScratchFolder folder_;
  kj::Promise<void> serving_ = nullptr;
  kj::Own<kj::ConnectionReceiver> between_ = listenAs("between");
};

TEST_F(ARefusedLogin, EndsEveryCallWhereverItsAnswersAreCut) {
  ClientOptions options;
  options.firstPatience = options.patience = 0 * kj::SECONDS;
  const auto ask = [](Client& client) {
    return client.ask([](Session& session) { return session.user.agentsRequest().send(); })
        .then([](auto&&) { return ErrorCode::kInternal; },
              [](kj::Exception&& exception) { return fromException(exception).code; })
        .eagerlyEvaluate(nullptr);
  };
  for (const size_t calls : {1, 2}) {
    for (const Then then : kThens) {
      bool isCut = true;
      for (uint64_t bytes = 0; isCut; ++bytes) {
        auto client = std::make_unique<Client>(net(), agents(), "", options, [](const std::string&) {});
        kj::Vector<kj::Promise<ErrorCode>> asked;
        for (size_t i = 0; i < calls; ++i) asked.add(ask(*client));
        isCut = isCutAfter(bytes, then, [&]() {
          asked.clear();
          client = nullptr;
        });
        for (auto& call : asked) {
          ASSERT_TRUE(call.poll(io_.waitScope)) << "cut after " << bytes << " bytes";
          EXPECT_EQ(call.wait(io_.waitScope), ErrorCode::kUnavailable);
        }
        pause();
      }
    }
  }
}

class Failures final : public LateClientListener {
 public:
  void taskOver(const LateClientResult&) override {}
  void agentFailed(const std::string&, const std::vector<late::ClientTask>&, const std::string&) override {
    ++count;
  }
  void denied(const Error&) override {}

  int count = 0;
};

TEST_F(ARefusedLogin, EndsALateBindingSessionWhereverItsAnswersAreCut) {
  for (const Then then : kThens) {
    bool isCut = true;
    for (uint64_t bytes = 0; isCut; ++bytes) {
      Failures failures;
      auto client =
          std::make_unique<LateClient>(net(), systemClock(), agents(), "", late::ClientOptions{}, failures);
      isCut = isCutAfter(bytes, then, [&]() { client = nullptr; });
      if (client != nullptr) {
        EXPECT_EQ(failures.count, 1) << "cut after " << bytes << " bytes";
      }
      client = nullptr;
      pause();
    }
  }
}

}  // namespace tarcil::refused_login_test
