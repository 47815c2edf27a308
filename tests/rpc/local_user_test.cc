#include "rpc/local_user.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <kj/async-io.h>

#include <future>
#include <vector>

#include "rpc/errors.h"

namespace tarcil::local_user_test {

using testing::HasSubstr;

LetIn peerOf(uint32_t uid) {
  PeerName peer;
  peer.uid = uid;
  return LetIn([](Peer, kj::Maybe<FairCalls::User&>, kj::Promise<void>) {},
               std::make_shared<const PeerName>(peer));
}

Error refusalOf(const LetIn& letIn, kj::WaitScope& waitScope) {
  KJ_IF_MAYBE (exception, kj::runCatchingExceptions([&]() { localUser(letIn).wait(waitScope); })) {
    return fromException(*exception);
  }
  ADD_FAILURE() << "it is let in";
  return {};
}

TEST(LocalUsers, HaveTheNameThatTheMachineHas) {
  auto io = kj::setupAsyncIo();
  const std::string name = localUser(peerOf(65534)).wait(io.waitScope);
  EXPECT_EQ(name, "nobody");
}

TEST(LocalUsers, AreNeitherRootNorWithoutAName) {
  auto io = kj::setupAsyncIo();
  EXPECT_THAT(refusalOf(peerOf(0), io.waitScope).message, HasSubstr("root is let in by a token alone"));
  EXPECT_THAT(refusalOf(peerOf(4'000'000), io.waitScope).message, HasSubstr("no user of number 4000000"));
}

TEST(LocalUsers, AreWaitedForWithoutHoldingUpOthersAndNotTooManyAtOnce) {
  auto io = kj::setupAsyncIo();
  std::promise<void> directory;
  const std::shared_future<void> answers = directory.get_future().share();
  const auto hang = [answers](uint32_t) -> std::optional<std::string> {
    answers.wait();
    return "ann";
  };
  std::vector<kj::Promise<std::string>> waiting;
  for (int i = 0; i < kMaxLookups; ++i) waiting.push_back(localUser(peerOf(1'000), hang));
  EXPECT_FALSE(waiting.front().poll(io.waitScope)) << "the event loop goes on";
  EXPECT_EQ(refusalOf(peerOf(65534), io.waitScope).code, ErrorCode::kExhausted);
  // One whose caller has gone meanwhile.
  waiting.pop_back();
  directory.set_value();
  for (auto& user : waiting) EXPECT_EQ(user.wait(io.waitScope), "ann");
}

}  // namespace tarcil::local_user_test
