// Which master a link goes to, of several that are only played: real sockets, nothing behind them.
#include "rpc/later_leader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <kj/async-io.h>

#include <array>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "rpc/errors.h"
#include "schema/master.capnp.h"
#include "tests/support/temporary_folder.h"

namespace tarcil::later_leader_test {

// Its event loop runs, whatever it answers.
struct PlayedMaster {
  enum class Login : uint8_t { kRefused, kLetIn, kHangs };
  Login login = Login::kRefused;
  bool knowsLaterLeader = true;  // else it is of a version that does not know the call
  uint64_t term = 1;             // of its answers to login
  std::vector<uint64_t> asked;   // laterLeader, with these terms
  kj::Vector<kj::Own<kj::PromiseFulfiller<uint64_t>>> listeners;

  void tell(uint64_t laterTerm) {
    for (auto& listener : listeners) listener->fulfill(kj::cp(laterTerm));
    listeners.clear();
  }
};

class PlayedGate final : public wire::MasterGate::Server {
 public:
  explicit PlayedGate(PlayedMaster& master) : master_(master) {}

  kj::Promise<void> login(LoginContext context) override {
    if (master_.login == PlayedMaster::Login::kHangs) return kj::NEVER_DONE;
    if (master_.login == PlayedMaster::Login::kRefused)
      return toException({ErrorCode::kUnavailable, "not_leader: it stands by"});
    context.getResults().setTerm(master_.term);
    return kj::READY_NOW;
  }

  kj::Promise<void> standing(StandingContext) override { return kj::READY_NOW; }

  kj::Promise<void> laterLeader(LaterLeaderContext context) override {
    if (!master_.knowsLaterLeader) return wire::MasterGate::Server::laterLeader(context);
    EXPECT_STREQ(context.getParams().getToken().cStr(), "token");
    master_.asked.push_back(context.getParams().getTerm());
    auto answer = kj::newPromiseAndFulfiller<uint64_t>();
    master_.listeners.add(kj::mv(answer.fulfiller));
    return answer.promise.then([context](uint64_t term) mutable { context.getResults().setTerm(term); });
  }

 private:
  PlayedMaster& master_;
};

class LaterLeader : public testing::Test {
 protected:
  LaterLeader() {
    for (size_t i = 0; i < masters_.size(); ++i) serve(i);
  }
  ~LaterLeader() noexcept override = default;

  void serve(size_t number) {
    Listener listener =
        listenAt(net_.network, net_.io, "unix:" + folder_.path() + "/" + std::to_string(number))
            .wait(io_.waitScope);
    addresses_.push_back(listener.address);
    serving_.add(tarcil::serve(net_.timer, kj::mv(listener.receiver),
                               [this, number](const LetIn& letIn) -> capnp::Capability::Client {
                                 letIn(Peer::kRole);
                                 return kj::heap<PlayedGate>(masters_[number]);
                               })
                     .eagerlyEvaluate(nullptr));
  }

  void link() {
    link_ = keepLinked(
                net_, addresses_, Rng(1),
                [this](capnp::Capability::Client peer, const std::string& address) {
                  tried_.push_back(address);
                  auto login = peer.castAs<wire::MasterGate>().loginRequest().send();
                  return login.then([this, address](auto&& answer) {
                    requireOk(highest_.take(answer.getTerm(), address));
                    linkedTo_ = address;
                    return Attached{};
                  });
                },
                [this](const Error&, const std::string&) { linkedTo_.clear(); }, {},
                laterLeader(net_, "token", highest_))
                .eagerlyEvaluate(nullptr);
  }

  // Of all that happens.
  void waitUntil(const std::function<bool()>& holds) {
    while (!holds()) net_.timer.afterDelay(1 * kj::MILLISECONDS).wait(io_.waitScope);
  }
  void waitForLinkTo(size_t number) {
    waitUntil([this, number]() { return linkedTo_ == addresses_[number]; });
  }
  void waitForListenerAt(size_t number) {
    waitUntil([this, number]() { return !masters_[number].listeners.empty(); });
  }

  // What its master has answered before has arrived, and what follows from it is done.
  void roundTrip(size_t number) {
    auto connection = connect(net_, addresses_[number]).wait(io_.waitScope);
    auto standing = connection->bootstrap().castAs<wire::MasterGate>().standingRequest().send();
    standing.wait(io_.waitScope);
  }

  kj::AsyncIoContext io_ = kj::setupAsyncIo();
  const Net net_{io_.provider->getNetwork(), *io_.lowLevelProvider, io_.provider->getTimer()};
  TemporaryFolder folder_;
  std::array<PlayedMaster, 3> masters_;
  std::vector<std::string> addresses_;
  kj::Vector<kj::Promise<void>> serving_;
  HighestTerm highest_;
  std::string linkedTo_;
  std::vector<std::string> tried_;
  kj::Promise<void> link_ = nullptr;
};

TEST_F(LaterLeader, EndsTheLinkToOneThatIsAliveAndDoesNotLeadAnyMore) {
  masters_[0].login = PlayedMaster::Login::kLetIn;
  link();
  waitForLinkTo(0);
  waitForListenerAt(1);
  EXPECT_THAT(masters_[1].asked, testing::ElementsAre(1));
  masters_[2].login = PlayedMaster::Login::kLetIn;
  masters_[2].term = 2;
  masters_[1].tell(2);
  waitForLinkTo(2);
  EXPECT_EQ(highest_.term(), 2u);
}

TEST_F(LaterLeader, DoesNotEndTheLinkWhereItIsNoLaterOne) {
  masters_[0].login = PlayedMaster::Login::kLetIn;
  masters_[0].term = 7;
  link();
  waitForLinkTo(0);
  waitForListenerAt(1);
  masters_[1].tell(7);
  for (int i = 0; i < 3; ++i) roundTrip(1);
  EXPECT_EQ(linkedTo_, addresses_[0]);
  EXPECT_EQ(tried_.size(), 1u);
}

// A process that is stopped still takes connections.
TEST_F(LaterLeader, IsTriedThoughAnotherOneDoesNotAnswer) {
  masters_[1].login = PlayedMaster::Login::kHangs;
  link();
  waitForListenerAt(0);
  waitUntil([this]() { return tried_.size() == 2; });
  masters_[0].login = PlayedMaster::Login::kLetIn;
  masters_[0].term = 3;
  masters_[0].tell(3);
  waitForLinkTo(0);
  EXPECT_THAT(tried_, testing::ElementsAre(addresses_[0], addresses_[1], addresses_[2], addresses_[0]))
      << "the one that did not answer comes last";
}

TEST_F(LaterLeader, IsFoundWithoutAWordOfThoseThatDoNotKnowTheCall) {
  for (PlayedMaster& master : masters_) master.knowsLaterLeader = false;
  link();
  waitUntil([this]() { return tried_.size() >= 3; });
  masters_[2].login = PlayedMaster::Login::kLetIn;
  waitForLinkTo(2);
}

}  // namespace tarcil::later_leader_test
