// Streams over Unix sockets that ask the kernel for writability only while they need it.
#include "rpc/quiet_sockets.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <kj/debug.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "rpc/address.h"
#include "tests/support/scratch_folder.h"

namespace tarcil::quiet_sockets_test {

constexpr kj::uint kFlags = kj::LowLevelAsyncIoProvider::TAKE_OWNERSHIP |
                            kj::LowLevelAsyncIoProvider::ALREADY_CLOEXEC |
                            kj::LowLevelAsyncIoProvider::ALREADY_NONBLOCK;
constexpr uint32_t kEpollOut = 4;

// What this process's epoll sets ask for of a descriptor, as the kernel tells.
uint32_t eventsOf(int fd) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fdinfo")) {
    std::ifstream in(entry.path());
    for (std::string line; std::getline(in, line);) {
      std::stringstream words(line);
      std::string word;
      int target = -1;
      uint32_t events = 0;
      if (words >> word && word == "tfd:" && words >> target >> word >> std::hex >> events && target == fd)
        return events;
    }
  }
  return 0;
}

struct QuietSocketsTest : testing::Test {
  QuietSocketsTest() {
    int fds[2];
    KJ_SYSCALL(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds));
    one = sockets.wrapSocketFd(fds[0], kFlags);
    other = sockets.wrapSocketFd(fds[1], kFlags);
  }

  ~QuietSocketsTest() noexcept override {}

  kj::AsyncIoContext io = kj::setupAsyncIo();
  QuietSockets sockets{*io.lowLevelProvider, io.unixEventPort};
  kj::Own<kj::AsyncIoStream> one, other;
};

TEST_F(QuietSocketsTest, AskForReadabilityOnly) {
  const uint32_t events = eventsOf(KJ_ASSERT_NONNULL(one->getFd()));
  EXPECT_NE(events, 0u);
  EXPECT_EQ(events & kEpollOut, 0u);
}

TEST_F(QuietSocketsTest, CarryMoreThanASocketTakesAtOnce) {
  auto sent = kj::heapArray<kj::byte>(4 << 20);
  for (size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<kj::byte>(i * i >> 8);
  auto writing = one->write(sent.begin(), sent.size()).eagerlyEvaluate(nullptr);
  EXPECT_FALSE(writing.poll(io.waitScope)) << "nobody has read";
  auto got = kj::heapArray<kj::byte>(sent.size());
  EXPECT_EQ(other->tryRead(got.begin(), got.size(), got.size()).wait(io.waitScope), got.size());
  writing.wait(io.waitScope);
  EXPECT_TRUE(got == sent);
}

TEST_F(QuietSocketsTest, CarryPiecesInTheirOrder) {
  const kj::ArrayPtr<const kj::byte> pieces[] = {kj::StringPtr("one ").asBytes(),
                                                 kj::StringPtr("two").asBytes()};
  one->write(kj::arrayPtr(pieces, 2)).wait(io.waitScope);
  char text[8] = {};
  EXPECT_EQ(other->tryRead(text, 7, 7).wait(io.waitScope), 7u);
  EXPECT_STREQ(text, "one two");
}

TEST_F(QuietSocketsTest, CarryPiecesThatAreThereInOneReading) {
  std::vector<kj::ArrayPtr<const kj::byte>> pieces(40, kj::StringPtr("abc").asBytes());
  pieces[7] = nullptr;
  one->write(kj::arrayPtr(pieces.data(), 2)).wait(io.waitScope);
  char text[200] = {};
  ASSERT_EQ(::read(KJ_ASSERT_NONNULL(other->getFd()), text, sizeof text), 6);
  one->write(kj::arrayPtr(pieces.data(), pieces.size())).wait(io.waitScope);
  EXPECT_EQ(other->tryRead(text, 117, sizeof text).wait(io.waitScope), 117u);
  EXPECT_STREQ(text + 111, "abcabc");
}

TEST_F(QuietSocketsTest, CarryPiecesOfWhichASocketTakesAPart) {
  auto large = kj::heapArray<kj::byte>(1 << 20);
  for (size_t i = 0; i < large.size(); ++i) large[i] = static_cast<kj::byte>(i * i >> 8);
  const std::vector<kj::ArrayPtr<const kj::byte>> pieces(3, large.asPtr());
  auto writing = one->write(kj::arrayPtr(pieces.data(), pieces.size())).eagerlyEvaluate(nullptr);
  EXPECT_FALSE(writing.poll(io.waitScope)) << "nobody has read";
  auto got = kj::heapArray<kj::byte>(3 * large.size());
  EXPECT_EQ(other->tryRead(got.begin(), got.size(), got.size()).wait(io.waitScope), got.size());
  writing.wait(io.waitScope);
  for (size_t i = 0; i < 3; ++i)
    EXPECT_TRUE(got.slice(i * large.size(), (i + 1) * large.size()) == large.asPtr());
}

TEST_F(QuietSocketsTest, WaitForAsMuchAsIsWantedOrTheEnd) {
  char text[8] = {};
  auto reading = other->tryRead(text, 4, 8).eagerlyEvaluate(nullptr);
  one->write("ab", 2).wait(io.waitScope);
  EXPECT_FALSE(reading.poll(io.waitScope));
  one->write("cd", 2).wait(io.waitScope);
  EXPECT_EQ(reading.wait(io.waitScope), 4u);
  auto last = other->tryRead(text, 4, 8).eagerlyEvaluate(nullptr);
  one->write("e", 1).wait(io.waitScope);
  one->shutdownWrite();
  EXPECT_EQ(last.wait(io.waitScope), 1u) << "and no more will come";
  EXPECT_EQ(other->tryRead(text, 1, 8).wait(io.waitScope), 0u);
}

TEST_F(QuietSocketsTest, SayThatThePeerHasGone) {
  auto gone = one->whenWriteDisconnected();
  EXPECT_FALSE(gone.poll(io.waitScope));
  other = nullptr;
  gone.wait(io.waitScope);
  KJ_IF_MAYBE (exception, kj::runCatchingExceptions([this]() { one->write("x", 1).wait(io.waitScope); })) {
    EXPECT_EQ(exception->getType(), kj::Exception::Type::DISCONNECTED);
  } else {
    ADD_FAILURE() << "it wrote to nobody";
  }
}

TEST_F(QuietSocketsTest, AreMadeAtBothEndsOfAConnection) {
  ScratchFolder folder;
  const std::string address = "unix:" + folder.at("socket");
  Listener listener = listenAt(io.provider->getNetwork(), sockets, address).wait(io.waitScope);
  auto accepting = listener.receiver->accept().eagerlyEvaluate(nullptr);
  auto client = connectTo(io.provider->getNetwork(), sockets, address).wait(io.waitScope);
  auto server = accepting.wait(io.waitScope);
  for (const auto* stream : {client.get(), server.get()})
    EXPECT_EQ(eventsOf(KJ_ASSERT_NONNULL(stream->getFd())) & kEpollOut, 0u);
  client->write("hello", 5).wait(io.waitScope);
  char text[6] = {};
  EXPECT_EQ(server->tryRead(text, 5, 5).wait(io.waitScope), 5u);
}

}  // namespace tarcil::quiet_sockets_test
