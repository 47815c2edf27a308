// Streams of events to those who read, slowly or not at all.
#include "gateway/server/streams.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rpc/errors.h"

namespace tarcil::gateway::streams_test {

using testing::HasSubstr;

const Caller kAlice{"alice", Role::kSubmit, {}};

struct Streams : testing::Test {
  ~Streams() noexcept override {}

  kj::AsyncIoContext io = kj::setupAsyncIo();
  kj::TimerImpl timer{kj::origin<kj::TimePoint>()};
  kj::OneWayPipe pipe = io.provider->newOneWayPipe();
  StreamBounds bounds;
  EventRing ring{1};
  WaitList<int> news;
  bool isLetIn = true;

  EventStream stream() {
    return EventStream(timer, bounds, ring, news, kj::mv(pipe.out), ring.end(),
                       [this]() -> kj::Maybe<const Caller&> {
                         if (!isLetIn) return nullptr;
                         return kAlice;
                       });
  }
  void pass(kj::Duration time) {
    timer.advanceTo(timer.now() + time);
    io.waitScope.poll();
  }
  std::string read() {
    char buffer[4096];
    auto got = pipe.in->tryRead(buffer, 1, sizeof buffer);
    if (!got.poll(io.waitScope)) return "";
    return {buffer, got.wait(io.waitScope)};
  }
};

TEST_F(Streams, TellWhatComes) {
  EventStream events = stream();
  auto running = events.run().eagerlyEvaluate(nullptr);
  io.waitScope.poll();
  ring.add({"queue", "{}"});
  news.happened(kNews);
  EXPECT_THAT(read(), HasSubstr("event: queue\ndata: {}\n\n"));
}

TEST_F(Streams, SayThatTheyAreThereWhereNothingComes) {
  EventStream events = stream();
  auto running = events.run().eagerlyEvaluate(nullptr);
  io.waitScope.poll();
  pass(bounds.heartbeat - 1 * kj::MILLISECONDS);
  EXPECT_EQ(read(), "");
  pass(1 * kj::MILLISECONDS);
  EXPECT_EQ(read(), ": alive\n\n");
}

TEST_F(Streams, EndWhereTheReaderIsLetInNoMore) {
  EventStream events = stream();
  auto running = events.run();
  EXPECT_FALSE(running.poll(io.waitScope));
  isLetIn = false;
  ring.add({"queue", "{}"});
  news.happened(kNews);
  EXPECT_TRUE(running.poll(io.waitScope));
  EXPECT_NO_THROW(running.wait(io.waitScope));
}

TEST_F(Streams, EndWhereNobodyReads) {
  EventStream events = stream();
  auto running = events.run();
  // More than a pipe holds.
  for (int i = 0; i < 100; ++i) ring.add({"queue", std::string(10'000, 'x')});
  news.happened(kNews);
  for (int i = 0; i < 100 && !running.poll(io.waitScope); ++i) pass(bounds.write / 10);
  ASSERT_TRUE(running.poll(io.waitScope));
  const auto failure = kj::runCatchingExceptions([&]() { running.wait(io.waitScope); });
  KJ_IF_MAYBE (exception, failure) {
    EXPECT_EQ(fromException(*exception).code, ErrorCode::kUnavailable);
  } else {
    ADD_FAILURE() << "it goes on";
  }
}

TEST(StreamPlaces, AreSoManyInAllAndOfAUser) {
  StreamPlaces places({.inAll = 3, .ofUser = 2});
  const auto isRefused = [&places](const std::string& user) {
    return kj::runCatchingExceptions([&]() { places.take(user); }) != nullptr;
  };
  auto one = places.take("alice"), two = places.take("alice");
  EXPECT_TRUE(isRefused("alice"));
  auto three = places.take("bob");
  EXPECT_TRUE(isRefused("carol"));
  EXPECT_EQ(places.count(), 3u);
  one = nullptr;
  EXPECT_FALSE(isRefused("alice"));
  two = nullptr;
  three = nullptr;
  EXPECT_EQ(places.count(), 0u);
}

}  // namespace tarcil::gateway::streams_test
