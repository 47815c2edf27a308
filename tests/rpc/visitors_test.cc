// Peers that connect and do not log in.
#include "rpc/visitors.h"

#include <gtest/gtest.h>
#include <kj/async-unix.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "rpc/connection.h"
#include "schema/master.capnp.h"
#include "tests/support/scratch_folder.h"

namespace tarcil::visitors_test {

// Lets those in whose token is right, and counts what others say.
class Gate final : public wire::MonitorPort::Server {
 public:
  Gate(kj::Own<FairCalls::User> ann, LetIn letIn, size_t& calls)
      : ann_(kj::mv(ann)), letIn_(std::move(letIn)), calls_(calls) {}

 protected:
  kj::Promise<void> authenticate(AuthenticateContext context) override {
    ++calls_;
    const auto token = context.getParams().getToken();
    if (token == "right") letIn_(Peer::kUser);
    if (token == "ann") letIn_(Peer::kUser, *ann_);
    if (token == "brief") {
      auto pair = kj::newPromiseAndFulfiller<void>();
      end_ = kj::mv(pair.fulfiller);
      letIn_(Peer::kUser, nullptr, kj::mv(pair.promise));
    }
    if (token == "end") end_->fulfill();
    return kj::READY_NOW;
  }

 private:
  kj::Own<FairCalls::User> ann_;
  const LetIn letIn_;
  size_t& calls_;
  kj::Own<kj::PromiseFulfiller<void>> end_;  // of the login as "brief"
};

class VisitorsAtAServer : public testing::Test {
 protected:
  VisitorsAtAServer() {
    auto listener = listenAt(net().network, net().io, address_).wait(io_.waitScope);
    serving_ =
        serve(timer_, kj::mv(listener.receiver), [this](LetIn letIn) -> capnp::Capability::Client {
          return kj::heap<Gate>(kj::addRef(*ann_), std::move(letIn), calls_);
        }).eagerlyEvaluate([](kj::Exception&& exception) { ADD_FAILURE() << kj::str(exception).cStr(); });
  }
  ~VisitorsAtAServer() noexcept override = default;

  Net net() { return {io_.provider->getNetwork(), *io_.lowLevelProvider, io_.provider->getTimer()}; }
  kj::Own<Connection> connectHere() { return connect(net(), address_).wait(io_.waitScope); }
  kj::Promise<void> say(Connection& connection, const std::string& token) {
    auto request = connection.bootstrap().castAs<wire::MonitorPort>().authenticateRequest();
    request.setToken(token.c_str());
    return request.send().ignoreResult();
  }
  void pass(kj::Duration time) {
    io_.waitScope.poll();
    timer_.advanceTo(timer_.now() + time);
    io_.waitScope.poll();
  }

  // Without time passing but for turns.
  void settle() {
    for (int turn = 0; turn < 100; ++turn) pass(0 * kj::SECONDS);
  }
  void done(kj::Promise<void> promise) {
    settle();
    promise.wait(io_.waitScope);
  }

  ScratchFolder folder_;
  const std::string address_ = "unix:" + folder_.at("socket");
  kj::AsyncIoContext io_ = kj::setupAsyncIo();
  kj::TimerImpl timer_{kj::origin<kj::TimePoint>()};
  size_t calls_ = 0;
  kj::Own<FairCalls> fair_ =
      kj::refcounted<FairCalls>(io_.provider->getTimer(), threadTime,
                                UserBounds{.connections = 2, .waitingCalls = 10, .waitingBytes = 1'000});
  kj::Own<FairCalls::User> ann_ = fair_->user("ann");
  kj::Promise<void> serving_ = nullptr;
};

TEST_F(VisitorsAtAServer, AreDisconnectedWhereTheyTakeTooLong) {
  auto stranger = connectHere(), friendly = connectHere();
  done(say(*stranger, "wrong"));
  done(say(*friendly, "right"));
  auto strangerGone = stranger->onDisconnect(), friendlyGone = friendly->onDisconnect();
  pass(kLoginTime - 1 * kj::MILLISECONDS);
  EXPECT_FALSE(strangerGone.poll(io_.waitScope));
  pass(1 * kj::MILLISECONDS);
  EXPECT_TRUE(strangerGone.poll(io_.waitScope));
  pass(100 * kLoginTime);
  EXPECT_FALSE(friendlyGone.poll(io_.waitScope));
  done(say(*friendly, "anything"));
}

TEST_F(VisitorsAtAServer, AreReadNoFurtherThanABoundUntilTheyAreLetIn) {
  auto connection = connectHere();
  const std::string large(kMaxVisitorBytes / 4, 'x');
  kj::Vector<kj::Promise<void>> calls;
  for (int i = 0; i < 20; ++i) calls.add(say(*connection, large));
  settle();
  EXPECT_GT(calls_, 0u);
  EXPECT_LE(calls_, 4u) << "more would not fit";

  auto early = connectHere();
  calls.add(say(*early, "right"));
  for (int i = 0; i < 20; ++i) calls.add(say(*early, large));
  const size_t before = calls_;
  settle();
  EXPECT_EQ(calls_, before + 21) << "what came before the answer to the login is read after it";
}

TEST_F(VisitorsAtAServer, WhoAreInAreDisconnectedWhenOneOfTheirLoginsEnds) {
  auto connection = connectHere(), other = connectHere();
  done(say(*other, "right"));
  done(say(*connection, "right"));
  done(say(*connection, "brief"));
  done(say(*connection, "right"));
  auto gone = connection->onDisconnect(), otherGone = other->onDisconnect();
  settle();
  EXPECT_FALSE(gone.poll(io_.waitScope));
  auto last = say(*connection, "end");
  settle();
  EXPECT_TRUE(gone.poll(io_.waitScope));
  EXPECT_FALSE(otherGone.poll(io_.waitScope));
}

TEST_F(VisitorsAtAServer, LogInSoOftenOverOneConnection) {
  auto connection = connectHere();
  for (size_t i = 0; i < kMaxLogins; ++i) done(say(*connection, "right"));
  EXPECT_THROW(done(say(*connection, "right")), kj::Exception);
}

TEST_F(VisitorsAtAServer, AreHeardAFewAtOnce) {
  std::vector<kj::Own<Connection>> connections;
  for (size_t i = 0; i < 5 * kVisitorsAtOnce; ++i) connections.push_back(connectHere());
  for (size_t i = 0; i < connections.size(); ++i)
    pass(1 * kj::MILLISECONDS);  // they are accepted little by little
  settle();
  kj::Vector<kj::Promise<void>> said;
  for (auto& connection : connections) said.add(say(*connection, "wrong"));
  io_.waitScope.poll();
  EXPECT_EQ(calls_, kVisitorsAtOnce) << "whoever is in comes before the others";
  pass(0 * kj::SECONDS);
  EXPECT_EQ(calls_, 2 * kVisitorsAtOnce);
  for (auto& each : said) done(kj::mv(each));
  EXPECT_EQ(calls_, 5 * kVisitorsAtOnce);
}

TEST_F(VisitorsAtAServer, AreNotLetInWhereTheirUserHasTooManyConnections) {
  auto first = connectHere(), second = connectHere(), third = connectHere();
  done(say(*first, "ann"));
  done(say(*first, "ann"));  // again, which counts once
  done(say(*second, "ann"));
  EXPECT_THROW(done(say(*third, "ann")), kj::Exception);
  first = nullptr;
  io_.waitScope.poll();
  done(say(*third, "ann"));
}

TEST_F(VisitorsAtAServer, WhoAreInAreReadNoFurtherThanTheirShare) {
  auto connection = connectHere();
  done(say(*connection, "ann"));
  // Submissions that do not go on.
  kj::Vector<kj::Own<FairCalls::Seat>> held;
  for (size_t i = 0; i < UserBounds{}.seats[0].number; ++i)
    held.add(ann_->seat(SeatKind::kSubmission, 1).wait(io_.waitScope));
  kj::Vector<kj::Promise<kj::Own<FairCalls::Seat>>> waiting;
  for (int i = 0; i < 10; ++i) waiting.add(ann_->seat(SeatKind::kSubmission, 1));
  const size_t before = calls_;
  auto said = say(*connection, "right");
  EXPECT_FALSE(said.poll(io_.waitScope));
  EXPECT_EQ(calls_, before);
  held.clear();
  for (auto& each : waiting) each.wait(io_.waitScope);
  done(kj::mv(said));
}

// UBSan opens a pipe to look at an object, and takes it for a broken one where it cannot.
#ifndef TARCIL_SANITIZED
TEST_F(VisitorsAtAServer, AreTurnedAwayWhereThereAreNoDescriptorsAndOthersComeLater) {
  std::vector<int> strangers;
  for (int i = 0; i < 50; ++i) {
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    folder_.at("socket").copy(to.sun_path, sizeof to.sun_path - 1);
    const int stranger = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ASSERT_EQ(::connect(stranger, reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
    strangers.push_back(stranger);
  }
  rlimit usual{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &usual), 0);
  rlimit tight = usual;
  tight.rlim_cur = static_cast<rlim_t>(strangers.back()) + 10;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &tight), 0);
  // A stranger each two pauses.
  for (size_t i = 0; i < 4 * strangers.size(); ++i) pass(10 * kj::MILLISECONDS);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &usual), 0);
  size_t gone = 0;
  for (const int stranger : strangers) {
    char byte = 0;
    if (::recv(stranger, &byte, 1, MSG_DONTWAIT) == 0) ++gone;
    ::close(stranger);
  }
  EXPECT_GE(gone, 30u);
  auto calling = connect(net(), address_);
  pass(20 * kj::MILLISECONDS);
  auto connection = calling.wait(io_.waitScope);
  auto said = say(*connection, "right");
  pass(20 * kj::MILLISECONDS);
  said.wait(io_.waitScope);
}
#endif

TEST(Visitors, ThatCameFirstGoWhenThereAreTooMany) {
  auto io = kj::setupAsyncIo();
  kj::TimerImpl timer(kj::origin<kj::TimePoint>());
  Visitors visitors(timer);
  std::vector<Visitors::Admission> admitted;
  kj::Vector<kj::Own<kj::AsyncIoStream>> others;
  const auto come = [&]() {
    auto pipe = kj::newTwoWayPipe();
    others.add(kj::mv(pipe.ends[1]));
    admitted.push_back(visitors.admit(kj::mv(pipe.ends[0]), ""));
  };
  for (size_t i = 0; i < kMaxVisitors; ++i) come();
  admitted[0].letIn(Peer::kUser);
  come();
  EXPECT_EQ(visitors.count(), kMaxVisitors);
  EXPECT_FALSE(admitted[1].tooLate.poll(io.waitScope));
  come();
  EXPECT_EQ(visitors.count(), kMaxVisitors);
  EXPECT_FALSE(admitted[0].tooLate.poll(io.waitScope)) << "it has logged in";
  EXPECT_TRUE(admitted[1].tooLate.poll(io.waitScope));
}

}  // namespace tarcil::visitors_test
