#include "latebinding/client_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tarcil::late::client_session_test {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class ClientSessionTest : public ::testing::Test {
 protected:
  explicit ClientSessionTest(uint32_t agents = 3) : client_(ClientOptions{}, agents) {
    client_.start(now_, said_);
  }

  void connected() {
    client_.connected(client_.session(), now_, said_);
    said_.connects.clear();
  }
  // The agent is silent until the client has had enough.
  void silence() {
    while (said_.failed.empty()) {
      now_ = client_.nextWake();
      client_.advance(now_, said_);
    }
  }
  static std::vector<TaskIndex> namesOf(const AgentFailed& failed) {
    std::vector<TaskIndex> names;
    for (const ClientTask& task : failed.inFlight) names.push_back(task.task);
    return names;
  }

  MonotonicTime now_{milliseconds(5'000)};
  ClientSession client_;
  ClientActions said_;
};

TEST_F(ClientSessionTest, SubmitsWhatCameBeforeItWasConnected) {
  client_.submit(1, 2, OnFailure::kRelaunch, said_);
  EXPECT_THAT(said_.submits, IsEmpty());
  connected();
  ASSERT_THAT(said_.submits, SizeIs(1));
  EXPECT_THAT(said_.submits[0].tasks, ElementsAre(0, 1));
}

TEST_F(ClientSessionTest, BeatsEvery30MsAndStaysWhereItIsAnswered) {
  connected();
  said_.heartbeats.clear();
  for (int i = 0; i < 20; ++i) {
    now_ = client_.nextWake();
    client_.advance(now_, said_);
    client_.heard(client_.session(), now_ + milliseconds(1));
  }
  EXPECT_THAT(said_.heartbeats, SizeIs(20));
  EXPECT_EQ(now_, MonotonicTime(milliseconds(5'600)));
  EXPECT_THAT(said_.failed, IsEmpty());
}

TEST_F(ClientSessionTest, TakesAnAgentForDeadAfter90MsAndGoesToTheNext) {
  connected();
  const MonotonicTime last = now_;
  silence();
  EXPECT_EQ(now_ - last, milliseconds(90));
  ASSERT_THAT(said_.connects, SizeIs(1));
  EXPECT_EQ(said_.connects[0].agent, 1u);
}

TEST_F(ClientSessionTest, NamesTheTasksInFlightAndRelaunchesThem) {
  connected();
  client_.submit(7, 3, OnFailure::kRelaunch, said_);
  client_.taskOver(client_.session(), {{7, 1}, Outcome::kDone, 0}, said_);
  silence();
  EXPECT_THAT(namesOf(said_.failed[0]), ElementsAre(0, 2));
  EXPECT_THAT(said_.over, SizeIs(1));
  said_.submits.clear();
  connected();
  ASSERT_THAT(said_.submits, SizeIs(1));
  EXPECT_THAT(said_.submits[0].tasks, ElementsAre(0, 2));
}

TEST_F(ClientSessionTest, LosesTheTasksInFlightWhereTheyRunAtMostOnce) {
  connected();
  client_.submit(7, 2, OnFailure::kAtMostOnce, said_);
  silence();
  ASSERT_THAT(said_.over, SizeIs(2));
  EXPECT_EQ(said_.over[0].outcome, Outcome::kLost);
  EXPECT_EQ(client_.jobs(), 0u);
  said_.submits.clear();
  connected();
  EXPECT_THAT(said_.submits, IsEmpty());
}

// It cannot have run: no agent was ever sent it.
TEST_F(ClientSessionTest, JobThatNoAgentGotIsNotLost) {
  client_.submit(7, 1, OnFailure::kAtMostOnce, said_);
  silence();
  EXPECT_THAT(said_.failed[0].inFlight, IsEmpty());
  EXPECT_THAT(said_.over, IsEmpty());
  connected();
  EXPECT_THAT(said_.submits, SizeIs(1));
}

TEST_F(ClientSessionTest, IgnoresWhatComesFromAnEarlierSession) {
  connected();
  client_.submit(7, 1, OnFailure::kRelaunch, said_);
  const SessionNumber earlier = client_.session();
  silence();
  client_.taskOver(earlier, {{7, 0}, Outcome::kDone, 0}, said_);
  EXPECT_THAT(said_.over, IsEmpty());
  client_.disconnected(earlier, now_, said_);
  EXPECT_THAT(said_.failed, SizeIs(1));
}

TEST_F(ClientSessionTest, TellsOfEachTaskOnce) {
  connected();
  client_.submit(7, 2, OnFailure::kRelaunch, said_);
  for (int i = 0; i < 2; ++i) client_.taskOver(client_.session(), {{7, 0}, Outcome::kDone, 0}, said_);
  EXPECT_THAT(said_.over, SizeIs(1));
  EXPECT_EQ(client_.jobs(), 1u);
}

TEST_F(ClientSessionTest, PausesAfterEveryAgentHasFailedInTurn) {
  for (int i = 0; i < 3; ++i) client_.disconnected(client_.session(), now_, said_);
  EXPECT_EQ(client_.nextWake(), now_ + ClientOptions{}.roundPause);
  said_.connects.clear();
  now_ = client_.nextWake();
  client_.advance(now_, said_);
  ASSERT_THAT(said_.connects, SizeIs(1));
  EXPECT_EQ(said_.connects[0].agent, 0u);
}

}  // namespace tarcil::late::client_session_test
