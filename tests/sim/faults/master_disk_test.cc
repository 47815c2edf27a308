#include "sim/faults/master_disk.h"

#include <gtest/gtest.h>

#include <set>

namespace tarcil::sim::master_disk_test {

using namespace std::chrono_literals;
using Sizes = std::vector<size_t>;
using Requests = std::vector<RequestId>;

// A process that stops when it cannot write. What leaves it says after which record it was made.
class Process final : private MasterStorage::Owner {
 public:
  explicit Process(uint64_t seed = 1) : world_(seed, Log::kNone), disk_(world_, *this, store_) {}

  // A record, and something that is to leave after it.
  void persist() {
    disk_.persist(Put{AgentRecord{"x", ++persisted_}});
    disk_.afterSync(master::AnswerReports{persisted_, {}});
  }
  void run(Duration duration = 1min) {
    const MonotonicTime until = world_.now().steady + duration;
    while (world_.step(until)) {
    }
  }
  MasterDisk& disk() { return disk_; }
  // The number of the latest record that is on the disk.
  uint64_t onDisk() {
    const StoreContents contents = *store_.load();
    return contents.agents.empty() ? 0 : contents.agents[0].epoch;
  }
  const Sizes& batches() const { return batches_; }
  const Requests& released() const { return released_; }
  int failures() const { return failures_; }

 private:
  void stored(const std::vector<Mutation>& batch) override { batches_.push_back(batch.size()); }
  void release(const master::Action& action) override {
    released_.push_back(std::get<master::AnswerReports>(action).request);
    EXPECT_GE(onDisk(), released_.back());
  }
  void writeFailed() override {
    ++failures_;
    disk_.crash();
  }

  VirtualWorld world_;
  MemoryStore store_;
  MasterDisk disk_;
  uint64_t persisted_ = 0;
  Sizes batches_;
  Requests released_;
  int failures_ = 0;
};

TEST(MasterDisk, SyncsTogetherWhatWaits) {
  Process process;
  process.disk().beSlow(1s);
  process.persist();
  process.run(0s);  // the first is on its way
  process.persist();
  process.persist();
  EXPECT_EQ(process.batches(), Sizes{});
  process.run();
  EXPECT_EQ(process.batches(), (Sizes{1, 2}));
  EXPECT_EQ(process.released(), (Requests{1, 2, 3}));
  EXPECT_EQ(process.disk().waiting(), 0u);
}

TEST(MasterDisk, SyncsTogetherWhatComesAtTheSameTime) {
  Process process;
  process.persist();
  process.persist();
  process.run();
  EXPECT_EQ(process.batches(), Sizes{2});
}

TEST(MasterDisk, StopsTheProcessWhereItIsFull) {
  Process process;
  process.disk().setFreeBytes(0);
  process.persist();
  process.run();
  EXPECT_EQ(process.failures(), 1);
  EXPECT_EQ(process.released(), Requests{});
  process.disk().setFreeBytes(MasterDisk::kPlenty);
  process.persist();
  process.run();
  EXPECT_EQ(process.failures(), 1);
  EXPECT_EQ(process.released(), Requests{2});
}

// What is on the disk after `end`, which comes while records 1 and 2 are being synced and 3 waits: in many
// histories.
template <typename End>
std::set<uint64_t> leftBy(End end) {
  std::set<uint64_t> left;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Process process(seed);
    process.persist();
    process.persist();
    process.run(0s);
    process.persist();
    end(process.disk());
    process.run();
    EXPECT_EQ(process.released(), Requests{});
    left.insert(process.onDisk());
  }
  return left;
}

TEST(MasterDisk, KeepsABatchWholeOrNotAtAllWhereTheProcessDies) {
  EXPECT_EQ(leftBy([](MasterDisk& disk) { disk.crash(); }), (std::set<uint64_t>{0, 2}));
}

TEST(MasterDisk, KeepsABatchWholeOrNotAtAllWhereItsSyncFails) {
  EXPECT_EQ(leftBy([](MasterDisk& disk) { disk.failNextSync(); }), (std::set<uint64_t>{0, 2}));
}

}  // namespace tarcil::sim::master_disk_test
