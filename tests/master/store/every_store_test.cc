// What every store promises: what was written is there, as it would be in memory, also for the next one that
// opens it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "etcd/memory_etcd.h"
#include "master/store/codec/store_codec.h"
#include "master/store/etcd/etcd_store.h"
#include "master/store/memory_store.h"
#include "master/store/rocks/rocks_store.h"
#include "tests/support/etcd_cluster.h"
#include "tests/support/temporary_folder.h"

namespace tarcil::every_store_test {

using testing::IsEmpty;

// A store that can be closed and opened again.
struct Place {
  std::function<std::unique_ptr<Store>()> open;
  std::shared_ptr<void> keeps;  // what it lies in
};

Place inRocks() {
  const auto folder = std::make_shared<TemporaryFolder>();
  return {[folder]() { return std::move(*openRocksStore(folder->path() + "/store")); }, folder};
}

std::unique_ptr<Store> openIn(etcd::Client& client) {
  Rng rng(1);
  // Folded often, so that all ways are gone.
  const EtcdStoreOptions options{
      .mayBegin = true, .foldBytes = 4 << 10, .foldPause = std::chrono::milliseconds(5)};
  auto store = EtcdStore::open(client, options, systemClock(), rng);
  if (!store) throw std::runtime_error(store.error().message);
  return std::move(*store);
}

Place inMemoryEtcd() {
  const auto etcd = std::make_shared<etcd::MemoryEtcd>();
  // Each fourth transaction loses its question, and each fourth its answer.
  const auto count = std::make_shared<uint64_t>(0);
  etcd->setFate([count](const etcd::Transaction&) {
    using Fate = etcd::MemoryEtcd::Fate;
    switch (++*count % 4) {
      case 1:
        return Fate::kQuestionLost;
      case 3:
        return Fate::kAnswerLost;
      default:
        return Fate::kAnswered;
    }
  });
  return {[etcd]() { return openIn(*etcd); }, etcd};
}

Place inRealEtcd() {
  struct Real {
    EtcdCluster cluster;
    std::unique_ptr<etcd::Client> client = cluster.client();
  };
  const auto real = std::make_shared<Real>();
  return {[real]() { return openIn(*real->client); }, real};
}

JobId jobId(uint64_t number) {
  JobId id;
  id.bytes.fill(0);
  id.bytes[15] = static_cast<uint8_t>(number);
  return id;
}

std::shared_ptr<const FilePiece> aPiece(Rng& rng) {
  return std::make_shared<const FilePiece>(
      FilePiece{{.path = "a", .mode = 0644, .content = std::string(rng.below(3'000), 'x')}});
}

Mutation anyMutation(Rng& rng) {
  const JobId job = jobId(rng.below(4));
  const auto number = static_cast<uint32_t>(rng.below(4));
  switch (rng.below(14)) {
    case 0:
      return Put{ClusterRecord{"c", 1 + rng.below(9), 1}};
    case 1: {
      JobRecord record;
      record.id = job;
      record.user = "user-" + std::to_string(rng.below(100));
      return Put{record};
    }
    case 2: {
      JobProgress progress;
      progress.id = job;
      progress.owner = "agent-" + std::to_string(rng.below(100));
      return Put{progress};
    }
    case 3: {
      TaskRecord task;
      task.job = job;
      task.index = number;
      task.attempt = static_cast<uint32_t>(rng.below(100));
      return Put{task};
    }
    case 4: {
      DecisionRecord decision;
      decision.job = job;
      decision.number = number;
      decision.explanation.drawn = static_cast<uint32_t>(rng.below(100));
      return Put{decision};
    }
    case 5:
      return Put{FilesRecord{job, aPiece(rng), number}};
    case 6:
      return EraseFiles{job};
    case 7:
      return EraseJob{job};
    case 8:
      return Put{AgentRecord{"agent-" + std::to_string(number), rng.below(100)}};
    case 9:
      return EraseAgent{"agent-" + std::to_string(number)};
    case 10: {
      AnswerRecord answer{"agent", 1, {}};
      answer.answer.sequence = number;
      return Put{answer};
    }
    case 11: {
      SecretRecord secret{.owner = "ann", .name = "secret-" + std::to_string(number)};
      secret.value.bytes = std::string(rng.below(3'000), 's');
      return Put{secret};
    }
    case 12:
      return EraseSecret{"ann", "secret-" + std::to_string(number)};
    default:
      return EraseAnswer{"agent", 1, number};
  }
}

// Everything that the store says it holds, as bytes.
std::vector<std::string> bytesOf(Store& store) {
  std::vector<std::string> bytes;
  const auto add = [&bytes](const auto& records) {
    for (const auto& record : records) bytes.push_back(keyOf(record) + encodeRecord(record));
  };
  const auto contents = store.load();
  if (!contents) throw std::runtime_error(contents.error().message);
  if (contents->cluster) add(std::vector{*contents->cluster});
  add(contents->agents);
  add(contents->answers);
  add(contents->jobs);
  add(contents->progress);
  add(contents->tasks);
  add(contents->secrets);
  for (uint64_t number = 0; number < 4; ++number) {
    const auto decisions = store.decisions(jobId(number));
    if (!decisions) throw std::runtime_error(decisions.error().message);
    add(*decisions);
    for (uint32_t piece = 0; piece < 4; ++piece) {
      const auto files = store.filePiece(jobId(number), piece);
      if (!files) throw std::runtime_error(files.error().message);
      if (files->empty()) continue;
      bytes.push_back(std::to_string(number) + "/" + std::to_string(piece) + files->at(0).content);
    }
  }
  return bytes;
}

using MakePlace = Place (*)();
class EveryStore : public testing::TestWithParam<std::pair<const char*, MakePlace>> {
 protected:
  void SetUp() override {
    if (GetParam().second == &inRealEtcd) SKIP_WITHOUT_ETCD();
  }
};

TEST_P(EveryStore, HoldsWhatWasWrittenAlsoForTheNextOne) {
  const Place place = GetParam().second();
  MemoryStore expected;
  Rng rng(7);
  for (int start = 0; start < 4; ++start) {
    const auto store = place.open();
    ASSERT_EQ(bytesOf(*store), bytesOf(expected)) << "start " << start;
    for (int i = 0; i < 60; ++i) {
      std::vector<Mutation> batch;
      for (uint64_t left = rng.below(6) + 1; left > 0; --left) batch.push_back(anyMutation(rng));
      const Status written = store->write(batch);
      ASSERT_TRUE(written.ok()) << written.error().message;
      ASSERT_TRUE(expected.write(batch).ok());
      if (i % 10 == 0) {
        ASSERT_EQ(bytesOf(*store), bytesOf(expected)) << "start " << start << ", batch " << i;
      }
    }
    ASSERT_EQ(bytesOf(*store), bytesOf(expected)) << "start " << start;
  }
}

TEST_P(EveryStore, TakesABatchOfManyMebibytesAndManyRecordsAsAWhole) {
  const Place place = GetParam().second();
  std::vector<Mutation> batch;
  for (uint32_t i = 0; i < 4; ++i) {
    const auto piece = FilePiece{
        {.path = "a", .mode = 0644, .content = std::string((1 << 20) - 200, static_cast<char>('a' + i))}};
    batch.push_back(Put{FilesRecord{jobId(1), std::make_shared<const FilePiece>(piece), i}});
  }
  for (uint64_t i = 0; i < 1'000; ++i) batch.push_back(Put{AgentRecord{"agent-" + std::to_string(i), i}});
  {
    const auto store = place.open();
    const Status written = store->write(batch);
    ASSERT_TRUE(written.ok()) << written.error().message;
    EXPECT_EQ(store->filePiece(jobId(1), 3)->at(0).content.back(), 'd');
  }
  const auto next = place.open();
  EXPECT_EQ(next->load()->agents.size(), 1'000u);
  for (uint32_t i = 0; i < 4; ++i) {
    EXPECT_EQ(next->filePiece(jobId(1), i)->at(0).content,
              std::string((1 << 20) - 200, static_cast<char>('a' + i)));
  }
}

TEST_P(EveryStore, IsBackedUpAsAStoreInAFolder) {
  const Place place = GetParam().second();
  const TemporaryFolder folder;
  MemoryStore expected;
  const auto store = place.open();
  Rng rng(3);
  for (int i = 0; i < 40; ++i) {
    const std::vector<Mutation> batch{anyMutation(rng)};
    ASSERT_TRUE(store->write(batch).ok());
    ASSERT_TRUE(expected.write(batch).ok());
  }
  const Status copied = store->backup(folder.path() + "/copy");
  ASSERT_TRUE(copied.ok()) << copied.error().message;
  EXPECT_THAT(readWholeStore(folder.path() + "/copy")->unreadable, IsEmpty());
  EXPECT_EQ(bytesOf(*std::move(*openRocksStore(folder.path() + "/copy"))), bytesOf(expected));
  EXPECT_FALSE(store->backup(folder.path() + "/copy").ok()) << "there is one already";
}

TEST_P(EveryStore, SaysHowMuchSpaceThereIs) {
  const Place place = GetParam().second();
  const auto space = place.open()->space();
  ASSERT_TRUE(space.ok()) << space.error().message;
  EXPECT_GT(space->free, uint64_t{1} << 20);
}

INSTANTIATE_TEST_SUITE_P(Of, EveryStore,
                         testing::Values(std::pair("Rocks", &inRocks), std::pair("MemoryEtcd", &inMemoryEtcd),
                                         std::pair("RealEtcd", &inRealEtcd)),
                         [](const auto& place) { return place.param.first; });

}  // namespace tarcil::every_store_test
