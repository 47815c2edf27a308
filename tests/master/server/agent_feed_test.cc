// What the master's feed tells one agent, on an event loop and a clock that the test moves.
#include "master/server/agent_feed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <kj/async-io.h>
#include <kj/debug.h>
#include <kj/timer.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "rpc/errors.h"
#include "tests/support/builders.h"
#include "tests/support/manual_clock.h"

namespace tarcil::agent_feed_test {

using namespace std::chrono_literals;
using testing::ElementsAre;

struct Message {
  std::vector<ServerId> servers;
  size_t withFacts = 0;
  uint64_t words = 0;
  size_t jobs = 0;
  size_t platforms = 0;
  std::map<std::string, uint32_t> shares;
  bool settings = false;
  bool complete = false;
  bool superseded = false;
  kj::Maybe<StateChecksum> checksum;
};

// An agent that answers when the test says so.
class PlayedAgent final : public wire::AgentFeed::Server {
 public:
  struct Taken {
    std::vector<Message> messages;
    std::deque<kj::Own<kj::PromiseFulfiller<bool>>> unanswered;
  };
  explicit PlayedAgent(Taken& taken) : taken_(taken) {}

  kj::Promise<void> update(UpdateContext context) override {
    const auto params = context.getParams();
    Message& message = taken_.messages.emplace_back();
    for (auto server : params.getServers()) {
      message.servers.push_back(server.getId());
      message.withFacts += server.hasFacts() ? 1 : 0;
    }
    message.words = params.totalSize().wordCount;
    message.jobs = params.getAssignments().size();
    message.platforms = params.getPlatforms().size();
    for (auto shares : params.getShares()) message.shares[shares.getUser().cStr()] = shares.getShares();
    message.settings = params.hasSettings();
    message.complete = params.getSnapshotComplete();
    message.superseded = params.getSuperseded();
    if (params.hasChecksum()) {
      message.checksum = StateChecksum{params.getChecksum().getSum(), params.getChecksum().getFacts()};
    }
    auto answer = kj::newPromiseAndFulfiller<bool>();
    taken_.unanswered.push_back(kj::mv(answer.fulfiller));
    return answer.promise.then([context](bool differs) mutable { context.getResults().setDiffers(differs); });
  }

 private:
  Taken& taken_;
};

class FeedTest : public testing::Test {
 protected:
  explicit FeedTest(size_t servers = 3) : published_(serversOf(servers), {}, {{"p", fullShare()}}) {}
  ~FeedTest() noexcept override = default;

  static std::vector<ServerUpdate> serversOf(size_t count) {
    std::vector<ServerUpdate> servers;
    for (ServerId id = 0; id < count; ++id) {
      servers.push_back(aServer("server-" + std::to_string(id)).update(id));
    }
    return servers;
  }

  // Sends nothing yet.
  void begin() {
    feed_ = std::make_unique<AgentFeedSender>("agent-1", kj::heap<PlayedAgent>(agent_),
                                              FeedSurroundings{published_, timer_, clock_, rng_, metrics_},
                                              [this](const Error& error) { failed_.push_back(error); });
  }
  void start() {
    begin();
    scope_.poll();
  }

  void change(ServerId id) {
    ServerUpdate update = published_.server(id);
    ++update.status.version;
    published_.take({id, std::nullopt, update.status});
    feed_->serverChanged(id, false);
    scope_.poll();
  }

  // The agent answers the message under way.
  void answer(bool differs = false) {
    ASSERT_FALSE(agent_.unanswered.empty());
    auto oldest = kj::mv(agent_.unanswered.front());
    agent_.unanswered.pop_front();
    oldest->fulfill(kj::mv(differs));
    scope_.poll();
  }
  void answerAll() {
    while (!agent_.unanswered.empty()) answer();
  }

  void pass(Duration time) {
    clock_.pass(time);
    timer_.advanceTo(timer_.now() + time.count() * kj::MICROSECONDS);
    scope_.poll();
  }

  std::vector<Message>& messages() { return agent_.messages; }

  kj::EventLoop loop_;
  kj::WaitScope scope_{loop_};
  kj::TimerImpl timer_{kj::origin<kj::TimePoint>()};
  ManualClock clock_;
  Rng rng_{1};
  MasterMetrics metrics_;
  PublishedState published_;
  PlayedAgent::Taken agent_;
  std::unique_ptr<AgentFeedSender> feed_;
  std::vector<Error> failed_;
};

class LargeFeedTest : public FeedTest {
 protected:
  LargeFeedTest() : FeedTest(10'000) {}
};

TEST_F(LargeFeedTest, SendsASnapshotInMessagesOfBoundedSize) {
  start();
  answerAll();
  std::set<ServerId> sent;
  size_t withFacts = 0;
  for (const Message& message : messages()) {
    EXPECT_LE(message.words * 8, 2u << 20);
    EXPECT_EQ(message.complete, &message == &messages().back());
    sent.insert(message.servers.begin(), message.servers.end());
    withFacts += message.withFacts;
  }
  EXPECT_EQ(sent.size(), published_.servers());
  EXPECT_EQ(withFacts, published_.servers());
  EXPECT_TRUE(messages().front().settings);
  EXPECT_EQ(messages().front().platforms, 1u);
}

TEST_F(FeedTest, SaysSoWhereTheAgentDoesNotTakeAMessage) {
  start();
  agent_.unanswered.front()->reject(toException(invalid("what is this?")));
  scope_.poll();
  ASSERT_EQ(failed_.size(), 1u);
  EXPECT_EQ(failed_[0].message, "what is this?");
  change(0);
  EXPECT_EQ(agent_.messages.size(), 1u) << "it would miss what was in the first";
}

TEST_F(FeedTest, LeavesALostConnectionToItsEnd) {
  start();
  agent_.unanswered.front()->reject(KJ_EXCEPTION(DISCONNECTED, "gone"));
  scope_.poll();
  EXPECT_TRUE(failed_.empty());
}

TEST_F(FeedTest, SendsServersWithLongAttributesInSmallerMessages) {
  for (ServerId id = 0; id < 500; ++id) {
    ServerBuilder server = aServer("server-" + std::to_string(id)).attribute("a", std::string(10'000, 'x'));
    published_.take(server.rus(4096).update(id));
  }
  published_.take(aServer("huge").attribute("a", std::string(3 << 20, 'x')).update(500));
  start();
  answerAll();
  size_t sent = 0;
  for (const Message& message : messages()) {
    EXPECT_TRUE(message.words * 8 < 3 << 19 || message.servers.size() == 1);
    sent += message.servers.size();
  }
  EXPECT_EQ(sent, 501u);
  EXPECT_LT(messages().size(), 10u);
}

TEST_F(FeedTest, SendsLargeJobsInSeveralMessages) {
  begin();
  for (uint8_t i = 0; i < 10; ++i) {
    JobAssignment assignment;
    assignment.job.id.bytes[0] = i;
    assignment.job.spec.env["DATA"] = std::string(300'000, 'x');
    feed_->assign(std::move(assignment));
  }
  scope_.poll();
  answerAll();
  size_t jobs = 0;
  for (const Message& message : messages()) {
    EXPECT_LE(message.words * 8, 3u << 19);
    EXPECT_EQ(message.complete, &message == &messages().back()) << "the snapshot is whole with the last job";
    jobs += message.jobs;
  }
  EXPECT_EQ(jobs, 10u);
  EXPECT_LE(messages().size(), 5u);
}

TEST_F(FeedTest, OwesASlowAgentNoMoreThanOneStateOfEachServer) {
  start();
  for (int i = 0; i < 1000; ++i) change(static_cast<ServerId>(i % 3));
  EXPECT_EQ(messages().size(), 1u);
  EXPECT_EQ(feed_->pending(), 3u);
  answerAll();
  ASSERT_EQ(messages().size(), 2u);
  EXPECT_THAT(messages()[1].servers, ElementsAre(0, 1, 2));
}

TEST_F(FeedTest, TellsOnceThatAnotherSpeaksForTheAgent) {
  start();
  feed_->supersede();
  answerAll();
  change(0);
  answerAll();
  ASSERT_EQ(messages().size(), 3u);
  EXPECT_FALSE(messages()[0].superseded);
  EXPECT_TRUE(messages()[1].superseded);
  EXPECT_FALSE(messages()[2].superseded);
}

TEST_F(FeedTest, IsBehindAsLongAsTheOldestChangeIsNotConfirmed) {
  start();
  pass(2s);
  EXPECT_EQ(feed_->behind(clock_.now().steady), 2s);
  answerAll();
  EXPECT_EQ(feed_->behind(clock_.now().steady), 0s);
  change(0);
  pass(1s);
  change(1);
  pass(1s);
  EXPECT_EQ(feed_->behind(clock_.now().steady), 2s);
  answer();
  EXPECT_EQ(feed_->behind(clock_.now().steady), 1s);
}

TEST_F(FeedTest, SendsAChecksumEveryFiveToTenSeconds) {
  start();
  answerAll();
  std::vector<Duration> pauses;
  Duration last{}, time{};
  while (pauses.size() < 50) {
    pass(10ms);
    time += 10ms;
    if (agent_.unanswered.empty()) continue;
    answerAll();
    pauses.push_back(time - last);
    last = time;
  }
  for (size_t i = 1; i < messages().size(); ++i) {
    EXPECT_TRUE(KJ_ASSERT_NONNULL(messages()[i].checksum) == published_.checksum());
  }
  const auto [least, most] = std::ranges::minmax(pauses);
  EXPECT_GE(least, 5s);
  EXPECT_LE(most, 10s + 10ms);
  EXPECT_GT(most - least, 3s);  // by chance, not in step
}

TEST_F(LargeFeedTest, SendsAChecksumOnlyWithTheLastOfWhatThereIs) {
  start();
  pass(10s);
  answerAll();
  for (const Message& message : messages()) {
    EXPECT_EQ(message.checksum != nullptr, message.complete);
  }
}

TEST_F(FeedTest, SendsEverythingAnewToAnAgentWhoseCopyDiffers) {
  start();
  answerAll();
  pass(10s);
  ASSERT_EQ(messages().size(), 2u);
  answer(true);
  ASSERT_EQ(messages().size(), 3u);
  EXPECT_THAT(messages()[2].servers, ElementsAre(0, 1, 2));
  EXPECT_EQ(messages()[2].withFacts, 3u);
  EXPECT_EQ(messages()[2].platforms, 1u);
  EXPECT_TRUE(messages()[2].settings);
  EXPECT_TRUE(messages()[2].complete);
  answer();
  EXPECT_TRUE(agent_.unanswered.empty());
}

TEST_F(FeedTest, SendsSharesOfUsersWhereTheyAreSet) {
  using testing::IsEmpty;
  using testing::Pair;
  published_.take(master::PublishShares{"alice", 3});
  start();
  EXPECT_THAT(messages().back().shares, ElementsAre(Pair("alice", 3u)));
  answerAll();
  published_.take(master::PublishShares{"bob", 2});
  feed_->sharesChanged("bob");
  scope_.poll();
  EXPECT_THAT(messages().back().shares, ElementsAre(Pair("bob", 2u)));
  answerAll();
  change(1);
  EXPECT_THAT(messages().back().shares, IsEmpty());
}

}  // namespace tarcil::agent_feed_test
