// The agent holds its copy of the shared state against the master's checksum.
#include <gtest/gtest.h>

#include <functional>

#include "tests/agent/agent_harness.h"

namespace tarcil::comparing_test {

struct TwoServers : AgentHarness {
  TwoServers() : AgentHarness({aServer("a"), aServer("b").extra("gpus", 2)}) { attach(); }

  // What the master says of server 0 with this done to it: as if it had been changed on the way, or
  // in memory.
  template <typename Change>
  void corrupt(Change change) {
    master.occupyElsewhere(0, {}, 1);
    ServerUpdate update = master.update(0);
    change(update.status);
    handle(agent::ServersUpdated{{update}});
  }
};

TEST(Comparing, FindsACopyThatFollowedTheFeedEqual) {
  TwoServers h;
  h.tellChecksum();
  h.master.occupyElsewhere(1, causing({{Resource::kLlc, 30}}), 2);
  h.tellServer(1);
  h.tellChecksum();
  EXPECT_EQ(h.agent.load().comparisons, 2u);
  EXPECT_EQ(h.snapshotsAsked, 0u);
}

TEST(Comparing, FindsEachKindOfCorruption) {
  const std::vector<std::function<void(ServerStatus&)>> changes = {
      [](ServerStatus& status) { status.free.insert(0); },
      [](ServerStatus& status) { ++status.sum[3]; },
      [](ServerStatus& status) { status.bound[3] = 40; },
      [](ServerStatus& status) { ++status.background[0]; },
      [](ServerStatus& status) { status.cordoned = true; },
      [](ServerStatus& status) { status.freeExtras["gpus"].insert(0); },
  };
  for (size_t i = 0; i < changes.size(); ++i) {
    TwoServers h;
    h.corrupt(changes[i]);
    h.tellChecksum();
    EXPECT_EQ(h.snapshotsAsked, 1u) << i;
  }
}

TEST(Comparing, FindsNewsThatNeverCame) {
  TwoServers h;
  h.master.occupyElsewhere(0, {}, 1);
  h.tellChecksum();
  EXPECT_EQ(h.snapshotsAsked, 1u);
}

TEST(Comparing, TakesTheStateAnewThoughItsVersionsAreOld) {
  TwoServers h;
  h.corrupt([](ServerStatus& status) { status.free = {}; });
  EXPECT_EQ(h.agent.load().freeUnits, 4u);
  h.tellChecksum();
  h.feedSnapshot();
  EXPECT_EQ(h.agent.load().freeUnits, 7u);
  h.tellChecksum();
  EXPECT_EQ(h.agent.load().comparisons, 2u);
  EXPECT_EQ(h.agent.load().mismatches, 1u);
}

// As if the news that it has two had been lost, and what was heard of it since had brought no facts.
struct WrongFacts : TwoServers {
  WrongFacts() {
    ServerUpdate update = master.update(1);
    update.facts->extras["gpus"] = 1;
    handle(agent::ServersUpdated{{update}});
  }
};

TEST(Comparing, FindsFactsThatNeverCame) {
  WrongFacts h;
  h.tellChecksum();
  EXPECT_EQ(h.snapshotsAsked, 1u);
  h.feedSnapshot();
  h.tellChecksum();
  EXPECT_EQ(h.snapshotsAsked, 1u);
}

TEST(Comparing, LeavesFactsOutWhereTheMasterSaysNothingOfThem) {
  WrongFacts h;
  StateChecksum told = h.master.checksum();
  told.facts = 0;
  h.handle(agent::ChecksumTold{told});
  EXPECT_EQ(h.agent.load().comparisons, 1u);
  EXPECT_EQ(h.snapshotsAsked, 0u);
}

TEST(Comparing, DecidesNothingUntilTheStateHasComeAnewAndLosesNothing) {
  TwoServers h;
  h.submit(aJob(1), jobId(1));
  h.corrupt([](ServerStatus& status) { status.free = {}; });
  h.tellChecksum();
  const auto request = h.submit(aJob(2), jobId(2));
  EXPECT_EQ(h.commitsSent, 1u);
  h.feedSnapshot();
  EXPECT_EQ(h.commitsSent, 2u);
  EXPECT_LE(h.agent.load().freeUnits, 5u);  // what both claim counts as taken on the new copy
  h.takeCommits();
  EXPECT_EQ(h.answerText(request), "");
  h.tellServers();
  h.tellChecksum();
  EXPECT_EQ(h.snapshotsAsked, 1u);
}

TEST(Comparing, LeavesOutWhatItsClaimsInFlightLayOver) {
  TwoServers h;
  h.submit(aJob(3));
  ASSERT_EQ(h.commits.size(), 1u);
  h.tellChecksum();
  EXPECT_EQ(h.agent.load().comparisons, 1u);
  EXPECT_EQ(h.snapshotsAsked, 0u);
}

// The checksum was formed before the commit was taken, and the answer came before it.
TEST(Comparing, WaitsForTheFeedToCatchUpWithAnswers) {
  TwoServers h;
  h.submit(aJob(3));
  const StateChecksum before = h.master.checksum();
  h.takeCommits();
  h.handle(agent::ChecksumTold{before});
  EXPECT_EQ(h.agent.load().comparisons, 0u);
  h.tellServers();
  h.tellChecksum();
  EXPECT_EQ(h.agent.load().comparisons, 1u);
  EXPECT_EQ(h.snapshotsAsked, 0u);
}

TEST(Comparing, NeedsAWholeCopy) {
  AgentHarness h({aServer("a")});
  h.attachOnly();
  h.handle(agent::ChecksumTold{{.statuses = 1, .facts = 0}});
  EXPECT_EQ(h.snapshotsAsked, 0u);
}

}  // namespace tarcil::comparing_test
