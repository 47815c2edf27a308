#include "master/server/output_gate.h"

#include <gtest/gtest.h>
#include <kj/async-io.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "env/loop_step.h"
#include "master/store/store.h"

namespace tarcil::output_gate_test {

// Each write waits until the test says how it ends.
class SlowStore final : public Store {
 public:
  Result<StoreContents> load() override { return StoreContents{}; }
  Status write(std::span<const Mutation>) override {
    std::unique_lock lock(mutex_);
    ended_.wait(lock, [this]() { return outcome_.has_value(); });
    Status status = *outcome_;
    outcome_.reset();
    if (throws_) throw std::runtime_error(status.error().message);
    return status;
  }
  Result<FilePiece> filePiece(const JobId&, uint32_t) override { return FilePiece(); }
  Result<std::vector<DecisionRecord>> decisions(const JobId&) override {
    return std::vector<DecisionRecord>();
  }
  Status backup(const std::string&) override { return {}; }
  Result<StoreSpace> space() override { return StoreSpace{}; }
  Status mayTell() const override {
    if (!isDeposed_) return {};
    return Error{ErrorCode::kConflict, "deposed"};
  }
  void depose() { isDeposed_ = true; }

  void endWrite(Status status = {}) {
    const std::lock_guard lock(mutex_);
    outcome_ = std::move(status);
    ended_.notify_one();
  }
  void failWriteByThrowing(const std::string& why) {
    throws_ = true;
    endWrite(Error{ErrorCode::kInternal, why});
  }

 private:
  std::atomic<bool> throws_ = false, isDeposed_ = false;
  std::mutex mutex_;
  std::condition_variable ended_;
  std::optional<Status> outcome_;
};

class OutputGateTest : public testing::Test {
 protected:
  OutputGateTest()
      : io_(kj::setupAsyncIo()),
        gate_(
            io_.provider->getTimer(), store_, systemClock(),
            [this](const Error& error) { note(error.message); },
            [this](const WrittenBatch& batch) { batches_.push_back(batch); }) {}
  // The writer must not wait for a test that is over.
  ~OutputGateTest() noexcept override { store_.endWrite(); }

  void persist() { gate_.persist(Put{ClusterRecord{}}); }
  void note(const std::string& text) {
    said_.push_back(text);
    if (auto waiting = kj::mv(waiting_); waiting.get() != nullptr) waiting->fulfill();
  }
  void say(const std::string& text) {
    gate_.afterSync([this, text]() { note(text); });
  }
  // Runs what can run now.
  void offer() {
    kj::evalLast([]() {}).wait(io_.waitScope);
  }
  // Runs until something is said.
  void untilSaid() {
    auto paf = kj::newPromiseAndFulfiller<void>();
    waiting_ = kj::mv(paf.fulfiller);
    paf.promise.wait(io_.waitScope);
  }

  using Said = std::vector<std::string>;

  kj::AsyncIoContext io_;
  SlowStore store_;
  Said said_;
  std::vector<WrittenBatch> batches_;
  kj::Own<kj::PromiseFulfiller<void>> waiting_;
  OutputGate gate_;
};

TEST_F(OutputGateTest, LetsOutAtOnceWhatFollowsNoChange) {
  say("a");
  EXPECT_EQ(said_, Said{"a"});
}

TEST_F(OutputGateTest, HoldsBackWhatFollowsAChangeUntilItIsSynced) {
  persist();
  say("a");
  offer();
  ASSERT_EQ(said_, Said{});
  store_.endWrite();
  untilSaid();
  EXPECT_EQ(said_, Said{"a"});
}

TEST_F(OutputGateTest, HoldsBackWhatComesWhileABatchIsWritten) {
  persist();
  offer();
  say("a");
  ASSERT_EQ(said_, Said{});
  store_.endWrite();
  untilSaid();
  EXPECT_EQ(said_, Said{"a"});
}

TEST_F(OutputGateTest, LetsNothingOutWhereTheStoreMayNotBeToldOf) {
  persist();
  say("a");
  offer();
  store_.depose();  // while the batch is written, and though it will be
  store_.endWrite();
  untilSaid();
  EXPECT_EQ(said_, Said{"deposed"}) << "and the process stops";
  say("b");
  EXPECT_EQ(said_, Said{"deposed"});
}

TEST_F(OutputGateTest, LetsNothingOutAtOnceWhereTheStoreMayNotBeToldOf) {
  store_.depose();
  say("a");
  EXPECT_EQ(said_, Said{"deposed"});
}

TEST_F(OutputGateTest, KeepsTheOrderAcrossBatches) {
  persist();
  say("a");
  offer();
  persist();
  say("b");
  store_.endWrite();
  untilSaid();
  EXPECT_EQ(said_, Said{"a"});
  store_.endWrite();
  untilSaid();
  EXPECT_EQ(said_, (Said{"a", "b"}));
}

TEST_F(OutputGateTest, TellsOfEachBatchBeforeItsOutputsLeave) {
  persist();
  persist();
  gate_.afterSync([this]() { note(std::to_string(batches_.size())); });
  offer();
  persist();
  EXPECT_EQ(batches_.size(), 0u);
  store_.endWrite();
  untilSaid();
  EXPECT_EQ(said_, Said{"1"});
  EXPECT_EQ(batches_[0].records, 2u);
  EXPECT_GE(batches_[0].held, batches_[0].sync);
}

// Each of the outputs takes longer than those of one step may together.
TEST_F(OutputGateTest, LetsOthersGoBetweenManyOutputsAndKeepsTheirOrder) {
  persist();
  for (const char* text : {"a", "b", "c"}) {
    gate_.afterSync([this, text]() {
      for (const Duration begin = threadTime(); threadTime() - begin < std::chrono::milliseconds(2);) {
      }
      note(text);
    });
  }
  offer();
  store_.endWrite();
  untilSaid();
  EXPECT_EQ(said_, Said{"a"}) << "one step";
  say("last");
  EXPECT_EQ(said_, Said{"a"}) << "nothing overtakes them";
  while (said_.size() < 4) untilSaid();
  EXPECT_EQ(said_, (Said{"a", "b", "c", "last"}));
}

TEST_F(OutputGateTest, LetsNothingOutAfterAFailedWrite) {
  persist();
  say("a");
  offer();
  store_.endWrite(Error{ErrorCode::kInternal, "disk full"});
  untilSaid();
  say("b");
  offer();
  EXPECT_EQ(said_, Said{"disk full"});
}

TEST_F(OutputGateTest, SaysWhatAWriteThrows) {
  persist();
  say("a");
  offer();
  store_.failWriteByThrowing("no memory");
  untilSaid();
  ASSERT_EQ(said_.size(), 1u);
  EXPECT_NE(said_[0].find("no memory"), std::string::npos) << said_[0];
}

}  // namespace tarcil::output_gate_test
