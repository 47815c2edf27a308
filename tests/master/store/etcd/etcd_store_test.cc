// What the store in etcd promises beyond every store: one leader, and what it says where it cannot be used.
#include "master/store/etcd/etcd_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "etcd/memory_etcd.h"
#include "master/store/etcd/etcd_reading.h"
#include "schema/store.capnp.h"
#include "tests/support/temporary_folder.h"

namespace tarcil::etcd_store_test {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Fate = etcd::MemoryEtcd::Fate;

const Mutation kAgent = Put{AgentRecord{"a", 1}};

class EtcdStoreTest : public testing::Test {
 protected:
  Result<std::unique_ptr<EtcdStore>> tryOpen(bool mayBegin = true, const std::string& prefix = "/tarcil/") {
    EtcdStoreOptions options{.prefix = prefix, .mayBegin = mayBegin, .foldPause = 1h};
    options.leadership.lease = lease_;
    return EtcdStore::open(etcd_, options, systemClock(), rng_);
  }
  std::unique_ptr<EtcdStore> open() {
    auto store = tryOpen();
    if (!store) throw std::runtime_error(store.error().message);
    return std::move(*store);
  }
  static Status write(Store& store, const Mutation& mutation) { return store.write(std::vector{mutation}); }
  std::vector<std::string> keys() const {
    std::vector<std::string> keys;
    for (const auto& [key, value] : etcd_.now()) keys.push_back(key);
    return keys;
  }

  etcd::MemoryEtcd etcd_;
  Rng rng_{1};
  Duration lease_ = 1h;  // so that none ends by itself
};

TEST_F(EtcdStoreTest, OfALeaderThatWasDeposedTakesNothing) {
  const auto old = open();
  ASSERT_TRUE(write(*old, kAgent).ok());
  etcd_.endLeases();  // it does not know yet
  const auto next = open();
  EXPECT_GT(next->leadership().term(), old->leadership().term());
  EXPECT_TRUE(old->mayTell().ok()) << "by its own clock";
  const Status refused = write(*old, Put{AgentRecord{"b", 1}});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kConflict);
  EXPECT_FALSE(old->mayTell().ok()) << "now it knows";
  EXPECT_FALSE(old->fold().ok());
  ASSERT_TRUE(write(*next, Put{AgentRecord{"c", 1}}).ok());
  EXPECT_THAT(next->load()->agents, ElementsAre(AgentRecord{"a", 1}, AgentRecord{"c", 1}));
}

TEST_F(EtcdStoreTest, OfALeaderThatWasDeposedFoldsNothing) {
  const auto old = open();
  ASSERT_TRUE(write(*old, kAgent).ok());
  etcd_.endLeases();
  const auto next = open();
  ASSERT_TRUE(write(*next, Put{AgentRecord{"a", 2}}).ok());
  ASSERT_TRUE(next->fold().ok());
  const auto before = etcd_.now();
  EXPECT_FALSE(old->fold().ok());
  EXPECT_EQ(etcd_.now(), before);
}

TEST_F(EtcdStoreTest, TellsNothingAfterItsLeaseByItsOwnClock) {
  lease_ = 1s;
  const auto store = open();
  std::promise<Error> lost;
  store->leadership().onLost([&lost](const Error& error) { lost.set_value(error); });
  EXPECT_TRUE(store->mayTell().ok());
  etcd_.setReachable(false);
  EXPECT_THAT(lost.get_future().get().message, HasSubstr("could not be renewed in time"));
  EXPECT_FALSE(store->mayTell().ok());
  EXPECT_FALSE(write(*store, kAgent).ok());
}

TEST_F(EtcdStoreTest, LooksUpWhatBecameOfABatchThatWasNotAnswered) {
  const auto store = open();
  int asked = 0;
  etcd_.setFate(
      [&asked](const etcd::Transaction&) { return ++asked == 1 ? Fate::kAnswerLost : Fate::kAnswered; });
  ASSERT_TRUE(write(*store, kAgent).ok());
  EXPECT_EQ(asked, 2) << "the repeat found it";
  etcd_.setFate(
      [&asked](const etcd::Transaction&) { return ++asked == 3 ? Fate::kQuestionLost : Fate::kAnswered; });
  ASSERT_TRUE(write(*store, Put{AgentRecord{"b", 1}}).ok());
  EXPECT_THAT(store->load()->agents, ElementsAre(AgentRecord{"a", 1}, AgentRecord{"b", 1}));
}

TEST_F(EtcdStoreTest, StopsWhereSomebodyElseWroteIntoItsJournal) {
  const auto store = open();
  etcd_.put(EtcdKeys("/tarcil/").batch(1), "something");
  const Status written = write(*store, kAgent);
  ASSERT_FALSE(written.ok());
  EXPECT_THAT(written.error().message, HasSubstr("was changed by somebody else"));
}

TEST_F(EtcdStoreTest, FoldsTheJournalIntoRecordsAndKeepsOneBatchOfIt) {
  const auto store = open();
  for (uint64_t i = 1; i <= 300; ++i) ASSERT_TRUE(write(*store, Put{AgentRecord{"a", i}}).ok());
  ASSERT_TRUE(store->fold().ok());
  const EtcdKeys at("/tarcil/");
  EXPECT_THAT(keys(), ElementsAre(at.folded(), at.format(), at.batch(300), at.leader(), at.record("aa")));
  EXPECT_THAT(store->load()->agents, ElementsAre(AgentRecord{"a", 300}));
}

// Wherever a leader dies while it folds, the next one finds everything.
TEST_F(EtcdStoreTest, CanBeLeftAnywhereInFolding) {
  for (int last = 0; last < 12; ++last) {
    auto store = open();
    const auto epoch = static_cast<uint64_t>(last) + 1;
    std::vector<Mutation> batch;
    for (int i = 0; i < 1'000; ++i) batch.push_back(Put{AgentRecord{"a" + std::to_string(1'000 + i), epoch}});
    ASSERT_TRUE(store->write(batch).ok());
    int left = last;
    etcd_.setFate(
        [&left](const etcd::Transaction&) { return left-- > 0 ? Fate::kAnswered : Fate::kNoSpace; });
    const bool isFolded = store->fold().ok();
    EXPECT_EQ(isFolded, last >= 8) << last << " steps";
    etcd_.setFate({});
    store.reset();
    const auto agents = open()->load()->agents;
    ASSERT_EQ(agents.size(), 1'000u);
    for (const AgentRecord& agent : agents) ASSERT_EQ(agent.epoch, epoch) << last << " steps";
  }
}

TEST_F(EtcdStoreTest, LetsTheNextOneLeadAtOnceWhereItEndsByItself) {
  auto first = open();
  ASSERT_TRUE(write(*first, kAgent).ok());
  std::unique_ptr<EtcdStore> second;
  std::thread waiting([&]() { second = open(); });
  first.reset();
  waiting.join();
  EXPECT_THAT(second->load()->agents, ElementsAre(AgentRecord{"a", 1}));
}

TEST_F(EtcdStoreTest, IsNotBegunUnasked) {
  const auto store = tryOpen(false);
  ASSERT_FALSE(store.ok());
  EXPECT_EQ(store.error().code, ErrorCode::kInvalid);
  EXPECT_THAT(store.error().message,
              HasSubstr("there is no store in etcd under /tarcil/: is the prefix right?"));
  EXPECT_THAT(keys(), IsEmpty()) << "nothing is written";
}

TEST_F(EtcdStoreTest, IsNotBegunAmongOtherKeys) {
  etcd_.put("/tarcil/other", "1");
  const auto store = tryOpen();
  ASSERT_FALSE(store.ok());
  EXPECT_THAT(store.error().message, HasSubstr("no whole store"));
  EXPECT_THAT(keys(), ElementsAre("/tarcil/other"));
}

TEST_F(EtcdStoreTest, OfANewerFormatIsRefused) {
  open().reset();
  etcd_.put("/tarcil/format", std::to_string(static_cast<uint32_t>(wire::FORMAT_VERSION) + 1));
  const auto before = etcd_.now();
  const auto store = tryOpen();
  ASSERT_FALSE(store.ok());
  EXPECT_EQ(store.error().code, ErrorCode::kInvalid);
  EXPECT_THAT(store.error().message, HasSubstr("newer version of tarcil"));
  EXPECT_EQ(etcd_.now(), before);
}

TEST_F(EtcdStoreTest, OfAnotherPrefixIsAnother) {
  const auto one = open();
  ASSERT_TRUE(write(*one, kAgent).ok());
  const auto other = tryOpen(true, "/other/");
  ASSERT_TRUE(other.ok()) << other.error().message;
  EXPECT_THAT((*other)->load()->agents, IsEmpty());
}

TEST_F(EtcdStoreTest, SaysThatEtcdHasNoSpace) {
  const auto store = open();
  etcd_.setFate([](const etcd::Transaction&) { return Fate::kNoSpace; });
  const Status written = write(*store, kAgent);
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.error().code, ErrorCode::kExhausted);
}

TEST_F(EtcdStoreTest, OfAnotherClusterIsLeftAlone) {
  const auto openAs = [this](const std::string& authority) {
    EtcdStoreOptions options{.prefix = "/tarcil/", .authority = authority, .mayBegin = true, .foldPause = 1h};
    Rng rng(1);
    return EtcdStore::open(etcd_, options, systemClock(), rng);
  };
  ASSERT_TRUE(openAs("").ok());
  ASSERT_TRUE(openAs("aa").ok()) << "a cluster that is given an authority later";
  const int64_t before = etcd_.get({.key = "/tarcil/format"}, 1s)->revision;
  for (const char* const other : {"bb", ""}) {
    const auto refused = openAs(other);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::kInvalid);
    EXPECT_THAT(refused.error().message, HasSubstr("is another cluster's: its authority is aa"));
  }
  EXPECT_EQ(etcd_.get({.key = "/tarcil/format"}, 1s)->revision, before) << "nothing is written";
  EXPECT_TRUE(openAs("aa").ok());
}

// Before every second answer of many records something else happens.
class BusyEtcd final : public etcd::MemoryEtcd {
 public:
  std::function<void()> happens;

  Result<etcd::Found> get(const etcd::Range& range, Duration atMost) override {
    auto found = MemoryEtcd::get(range, atMost);
    if (!found || !found->more || std::exchange(isHappening_, true)) return found;
    happens();
    isHappening_ = false;
    return found;
  }

 private:
  bool isHappening_ = false;
};

// A first and a last record are always changed together, and many batches and records lie between them.
class EtcdStoreReading : public testing::Test {
 protected:
  void SetUp() override {
    EtcdStoreOptions options{.prefix = "/tarcil/", .mayBegin = true, .foldPause = 1h};
    options.leadership.lease = 1h;
    auto store = EtcdStore::open(etcd_, options, systemClock(), rng_);
    ASSERT_TRUE(store.ok()) << store.error().message;
    store_ = std::move(*store);
    std::vector<Mutation> batch;
    for (int i = 100; i < 200; ++i) batch.push_back(Put{AgentRecord{"m" + std::to_string(i), 1}});
    ASSERT_TRUE(store_->write(batch).ok());
    for (int i = 0; i < 50; ++i) change();
  }
  void change() {
    ++epoch_;
    ASSERT_TRUE(
        store_->write(std::vector<Mutation>{Put{AgentRecord{"a", epoch_}}, Put{AgentRecord{"z", epoch_}}})
            .ok());
  }
  Result<StoreReading> read() { return readWholeEtcdStore(etcd_, "/tarcil/", systemClock()); }
  static void expectOneMoment(const Result<StoreReading>& reading) {
    ASSERT_TRUE(reading.ok()) << reading.error().message;
    const auto& agents = reading->store.contents.agents;
    ASSERT_EQ(agents.size(), 102u);
    EXPECT_EQ(agents.front().epoch, agents.back().epoch);
  }

  BusyEtcd etcd_;
  Rng rng_{1};
  std::unique_ptr<EtcdStore> store_;
  uint64_t epoch_ = 1;
};

TEST_F(EtcdStoreReading, IsOfOneMomentThoughItIsWrittenAndFoldedMeanwhile) {
  etcd_.happens = [&]() {
    change();
    ASSERT_TRUE(store_->fold().ok());
  };
  expectOneMoment(read());  // of the journal
  expectOneMoment(read());  // of what has been folded
  const TemporaryFolder folder;
  ASSERT_TRUE(store_->backup(folder.path() + "/backup").ok());
  expectOneMoment(readWholeStore(folder.path() + "/backup"));
}

TEST_F(EtcdStoreReading, BeginsAgainWhereEtcdForgetsTheMoment) {
  int times = 0;
  etcd_.happens = [&]() {
    if (times++ >= 2) return;
    change();
    ASSERT_TRUE(etcd_.compact(etcd_.get({.key = "/tarcil/leader"}, 1s)->revision, 1s).ok());
  };
  expectOneMoment(read());
  EXPECT_GT(times, 2);
  times = -1'000'000;
  const auto never = read();
  ASSERT_FALSE(never.ok());
  EXPECT_EQ(never.error().code, ErrorCode::kConflict);
  EXPECT_THAT(never.error().message, HasSubstr("forgets each moment before it is read"));
}

TEST_F(EtcdStoreTest, WithAGapInItsJournalIsDamaged) {
  {
    const auto store = open();
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(write(*store, kAgent).ok());
  }
  const EtcdKeys at("/tarcil/");
  ASSERT_TRUE(etcd_.commit({{}, {{.what = etcd::Operation::What::kErase, .key = at.batch(2)}}, {}}, 1s).ok());
  const auto store = tryOpen();
  ASSERT_FALSE(store.ok());
  EXPECT_THAT(store.error().message, HasSubstr("a gap in its journal"));
}

}  // namespace tarcil::etcd_store_test
