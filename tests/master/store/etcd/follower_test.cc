// A standby holds what the leader has written, and says so where it cannot tell.
#include "master/store/etcd/follower.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "etcd/memory_etcd.h"
#include "master/store/codec/store_codec.h"
#include "master/store/etcd/etcd_store.h"

namespace tarcil::follower_test {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

Put agent(const std::string& name, uint64_t epoch = 1) {
  return Put{AgentRecord{name, epoch}};
}

class FollowerTest : public testing::Test {
 protected:
  FollowerTest() { leader_ = open(); }

  std::unique_ptr<EtcdStore> open() {
    EtcdStoreOptions options{.mayBegin = true, .foldPause = 1h};
    options.leadership.lease = 1h;
    auto store = EtcdStore::open(etcd_, options, systemClock(), rng_);
    if (!store) throw std::runtime_error(store.error().message);
    return std::move(*store);
  }
  void write(const Mutation& mutation) { ASSERT_TRUE(leader_->write(std::vector{mutation}).ok()); }
  EtcdState state() { return *readState(etcd_, keys_, systemClock(), 1s); }
  // Until it holds everything that has been written.
  void followToTheEnd(Follower& follower) {
    do {
      ASSERT_TRUE(follower.follow(state().revision).ok());
    } while (!follower.hasState() || follower.batch() != state().tail);
  }
  // Of the agents.
  std::vector<std::string> held(Follower& follower) {
    std::vector<std::string> names;
    const auto records = follower.takeRecords(state());
    if (!records) return {"none"};
    for (const auto& [key, value] : *records) {
      const Record record = decodeRecord(key, value);
      if (const auto* one = std::get_if<AgentRecord>(&record))
        names.push_back(one->name + " " + std::to_string(one->epoch));
    }
    return names;
  }

  etcd::MemoryEtcd etcd_;
  Rng rng_{1};
  const EtcdKeys keys_{"/tarcil/"};
  std::unique_ptr<EtcdStore> leader_;
};

TEST_F(FollowerTest, HoldsWhatWasThereAndWhatCameSince) {
  write(agent("a"));
  ASSERT_TRUE(leader_->fold().ok());
  write(agent("b"));
  Follower follower(etcd_, keys_, systemClock());
  followToTheEnd(follower);
  write(agent("a", 2));
  write(agent("c"));
  followToTheEnd(follower);
  EXPECT_GT(follower.completeAt(), MonotonicTime());
  EXPECT_THAT(held(follower), ElementsAre("a 2", "b 1", "c 1"));
}

TEST_F(FollowerTest, HasWhatTheLeaderWroteLastFromTheJournalThatItLeft) {
  Follower follower(etcd_, keys_, systemClock());
  followToTheEnd(follower);
  write(agent("a"));
  write(agent("b"));
  EXPECT_THAT(held(follower), ElementsAre("a 1", "b 1"));
}

TEST_F(FollowerTest, TakesABatchInParts) {
  Follower follower(etcd_, keys_, systemClock());
  followToTheEnd(follower);
  std::vector<Mutation> many;
  for (int i = 0; i < 40'000; ++i) many.push_back(agent(std::string(40, 'x') + std::to_string(i)));
  ASSERT_TRUE(leader_->write(many).ok());
  followToTheEnd(follower);
  EXPECT_EQ(held(follower).size(), many.size());
}

TEST_F(FollowerTest, HoldsNeitherDecisionsNorInputFiles) {
  write(Put{DecisionRecord{}});
  Follower follower(etcd_, keys_, systemClock());
  followToTheEnd(follower);
  write(Put{DecisionRecord{}});
  followToTheEnd(follower);
  EXPECT_EQ(follower.records(), 0u);
}

TEST_F(FollowerTest, ThatFellBehindWhatWasCompactedReadsAnew) {
  write(agent("a"));
  Follower follower(etcd_, keys_, systemClock());
  followToTheEnd(follower);
  write(agent("b"));
  write(agent("c"));
  ASSERT_TRUE(leader_->fold().ok());
  ASSERT_TRUE(etcd_.compact(state().revision, 1s).ok());
  followToTheEnd(follower);
  EXPECT_THAT(held(follower), ElementsAre("a 1", "b 1", "c 1"));
}

TEST_F(FollowerTest, IsNotBelievedWhereWhatItLacksHasBeenFolded) {
  write(agent("a"));
  Follower follower(etcd_, keys_, systemClock());
  followToTheEnd(follower);
  write(agent("b"));
  ASSERT_TRUE(leader_->fold().ok());
  EXPECT_THAT(held(follower), ElementsAre("none"));
}

TEST_F(FollowerTest, IsNotBelievedWhereEtcdWasSetBack) {
  write(agent("a"));
  Follower follower(etcd_, keys_, systemClock());
  followToTheEnd(follower);
  EtcdState earlier = state();
  --earlier.tail;
  EXPECT_FALSE(follower.takeRecords(earlier).has_value());
}

TEST_F(FollowerTest, FindsWhatSomebodyElseChanged) {
  write(agent("a"));
  ASSERT_TRUE(leader_->fold().ok());
  Follower follower(etcd_, keys_, systemClock());
  followToTheEnd(follower);
  EXPECT_TRUE(follower.compareSome().ok());
  etcd_.put(keys_.record(agentKey("a")), "not what it was");
  const Status compared = follower.compareSome();
  ASSERT_FALSE(compared.ok());
  EXPECT_THAT(compared.error().message, HasSubstr("differs from what is in etcd"));
  EXPECT_FALSE(follower.hasState());
}

// As a master does that waits: it has the state when it leads, and reads none of it.
TEST_F(FollowerTest, OfAStandbyGivesItTheState) {
  write(agent("a"));
  EtcdStoreOptions options{.followsWhileWaiting = true, .foldPause = 1h};
  options.leadership.lease = 1h;
  bool wasToldOfTheLeader = false;
  const auto next = EtcdStore::open(
      etcd_, options, systemClock(), rng_,
      {.leads =
           [&](const Leader& leader) { wasToldOfTheLeader = leader.term == leader_->leadership().term(); },
       .follows =
           [&](const Following& following) {
             if (!following.hasState) return;
             write(agent("b"));
             etcd_.put(keys_.record(agentKey("z")), "is not read, or it would say that it is no record");
             etcd_.endLeases();
           }});
  ASSERT_TRUE(next.ok()) << next.error().message;
  EXPECT_TRUE(wasToldOfTheLeader);
  const auto contents = (*next)->load();
  ASSERT_TRUE(contents.ok()) << contents.error().message;
  EXPECT_THAT(contents->agents, ElementsAre(AgentRecord{"a", 1}, AgentRecord{"b", 1}));
}

}  // namespace tarcil::follower_test
