// Connections between processes, over a real socket.
#include "rpc/connection.h"

#include <gtest/gtest.h>
#include <kj/debug.h>
#include <kj/io.h>
#include <kj/timer.h>
#include <kj/vector.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>

#include "rpc/coalescing_stream.h"
#include "rpc/errors.h"
#include "schema/master.capnp.h"
#include "tests/rpc/forwarded_connection.h"
#include "tests/support/scratch_folder.h"

namespace tarcil::connection_test {

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
  auto serving = serve(net().timer, kj::mv(listener.receiver), [&](LetIn letIn) -> capnp::Capability::Client {
    letIn(Peer::kUser);
    return kj::heap<Slow>(arrived, answered);
  });
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

// Answers at once, and at length.
class Talkative final : public wire::MonitorPort::Server {
 public:
  explicit Talkative(size_t& answered) : answered_(answered) {}

 protected:
  kj::Promise<void> authenticate(AuthenticateContext context) override {
    ++answered_;
    context.getResults().initCaller().initUser(kAnswer);
    return kj::READY_NOW;
  }

 public:
  static constexpr size_t kAnswer = 100'000;

 private:
  size_t& answered_;
};

class AnswersThatAreNotTaken : public ForwardedConnection {};

TEST_F(AnswersThatAreNotTaken, KeepTheServerFromReadingOn) {
  size_t answered = 0;
  serveAs(Peer::kUser, kj::heap<Talkative>(answered));
  stopAnswers();
  const size_t before = answered;
  constexpr size_t kCalls = 500;
  kj::Vector<kj::Promise<void>> calls;
  for (size_t i = 0; i < kCalls; ++i) calls.add(port_.authenticateRequest().send().ignoreResult());
  io_.waitScope.poll();
  EXPECT_GT(answered, before);
  EXPECT_LE(answered - before, 3 * kMaxUnread / Talkative::kAnswer)
      << "a few are read ahead of their answers";
  forwardAnswers();
  kj::joinPromises(calls.releaseAsArray()).wait(io_.waitScope);
  EXPECT_EQ(answered - before, kCalls);
}

// A port of this machine that neither takes connections nor refuses them, as a host behind a cut: its queue
// is full.
class SilentPort final {
 public:
  SilentPort() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    KJ_SYSCALL(::bind(listener_, reinterpret_cast<sockaddr*>(&address), size));
    KJ_SYSCALL(::listen(listener_, 0));
    KJ_SYSCALL(::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size));
    port_ = ntohs(address.sin_port);
    for (const kj::AutoCloseFd& fd : waiting_) {
      const int result = ::connect(fd, reinterpret_cast<sockaddr*>(&address), size);
      KJ_ASSERT(result == 0 || errno == EINPROGRESS);
    }
  }

  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

 private:
  static kj::AutoCloseFd socket() {
    return kj::AutoCloseFd(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  }

  const kj::AutoCloseFd listener_ = socket();
  const kj::AutoCloseFd waiting_[3] = {socket(), socket(), socket()};
  int port_ = 0;
};

TEST(Connecting, GivesUpOnAHostThatSaysNothing) {
  kj::AsyncIoContext io = kj::setupAsyncIo();
  kj::TimerImpl timer(kj::origin<kj::TimePoint>());
  const SilentPort silent;
  auto connecting = connect({io.provider->getNetwork(), *io.lowLevelProvider, timer}, silent.address())
                        .then([](auto&&) { return ErrorCode::kInternal; },
                              [](kj::Exception&& exception) { return fromException(exception).code; });
  timer.advanceTo(kj::origin<kj::TimePoint>() + 4 * kj::SECONDS);
  EXPECT_FALSE(connecting.poll(io.waitScope));
  timer.advanceTo(kj::origin<kj::TimePoint>() + 5 * kj::SECONDS);
  ASSERT_TRUE(connecting.poll(io.waitScope));
  EXPECT_EQ(connecting.wait(io.waitScope), ErrorCode::kUnavailable);
}

}  // namespace tarcil::connection_test
