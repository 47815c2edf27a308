#include "latebinding/pool.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <deque>
#include <memory>
#include <set>

#include "core/base/rng.h"
#include "latebinding/pool_lease.h"

namespace tarcil::late::pool_test {

using std::chrono::milliseconds;
using std::chrono::seconds;

// A pool of a server of 16 units with a master that grants whatever is free.
class PoolTest : public ::testing::Test {
 protected:
  explicit PoolTest(const PoolOptions& options = {}) : pool_(options, 1) {}

  // What follows of this demand, the master answering at once.
  void demand(uint32_t busy, uint64_t queued = 0) {
    while (const auto report = pool_.update({busy, queued}, now_)) {
      const auto answer = handle(lease_, *report, free());
      if (answer) pool_.handle(*answer, now_);
      if (lease_.held.size() < report->wanted) return;
    }
  }
  RuSet free() const {
    RuSet free = RuSet::all(units_);
    for (RuIndex ru : lease_.held.first(units_)) free.erase(ru);
    return free;
  }

  uint32_t units_ = 16;
  Pool pool_;
  PoolLease lease_;
  MonotonicTime now_{seconds(100)};
};

TEST_F(PoolTest, GrowsAtOnceInBlocks) {
  demand(0, 5);  // of two reservations one will be a task
  EXPECT_EQ(pool_.slots(), 4u);
  demand(4, 3);
  EXPECT_EQ(pool_.slots(), 6u);
}

TEST_F(PoolTest, ShrinksToTheMostOfAWhile) {
  demand(0, 16);
  EXPECT_EQ(pool_.slots(), 8u);
  demand(3);
  now_ += seconds(4);
  demand(1);
  EXPECT_EQ(pool_.slots(), 8u);
  now_ += seconds(6);  // 10 s after it fell
  demand(1);
  EXPECT_EQ(pool_.slots(), 4u);  // 3 were needed 4 s later
  now_ += seconds(4);
  demand(1);
  EXPECT_EQ(pool_.slots(), 2u);
}

TEST_F(PoolTest, ReturnsNothingThatIsInUse) {
  demand(0, 8);
  for (int i = 0; i < 4; ++i) pool_.take();
  pool_.release(1);
  now_ += seconds(20);
  demand(3);
  now_ += seconds(20);
  pool_.handle(PoolLimit{1, 0});
  demand(3);
  EXPECT_EQ(pool_.slots(), 0u);
  EXPECT_EQ(pool_.held().first(16), (std::vector<RuIndex>{0, 2, 3}));
  EXPECT_EQ(lease_.held, pool_.held());
}

TEST_F(PoolTest, KeepsUnitsForSlotsThatAskStill) {
  demand(0, 8);
  pool_.handle(PoolLimit{1, 0});
  demand(3);
  EXPECT_EQ(pool_.held().size(), 3u);
  EXPECT_EQ(pool_.take(), 0u);
}

TEST_F(PoolTest, ReportsOnceThoughItWantsNothing) {
  EXPECT_TRUE(pool_.update({0, 0}, now_));
  pool_.handle(PoolAnswer{1, 1, {}}, now_);
  EXPECT_FALSE(pool_.update({0, 0}, now_));
}

TEST_F(PoolTest, DrainsToTheMastersLimitAsTasksEnd) {
  demand(0, 8);
  for (int i = 0; i < 4; ++i) pool_.take();
  pool_.handle(PoolLimit{1, 2});
  demand(4, 50);
  EXPECT_EQ(pool_.slots(), 2u);
  EXPECT_EQ(lease_.held.size(), 4u);
  pool_.release(3);
  demand(3, 50);
  EXPECT_EQ(lease_.held.size(), 3u);
  pool_.release(0);
  demand(2, 50);
  EXPECT_EQ(lease_.held.first(16), (std::vector<RuIndex>{1, 2}));
  pool_.handle(PoolLimit{1, 16});  // of the same revision: late
  demand(2, 50);
  EXPECT_EQ(pool_.slots(), 2u);
  pool_.handle(PoolLimit{2, 16});
  demand(2, 50);
  EXPECT_EQ(pool_.slots(), 16u);
}

TEST_F(PoolTest, AsksAgainAfterAPauseWhereItWasNotGrantedInFull) {
  units_ = 2;
  demand(0, 8);
  EXPECT_EQ(pool_.slots(), 2u);
  EXPECT_FALSE(pool_.update({2, 8}, now_));
  EXPECT_EQ(pool_.nextWake(), now_ + PoolOptions{}.growPause);
  EXPECT_TRUE(pool_.update({2, 8}, pool_.nextWake()));
}

TEST_F(PoolTest, RepeatsAReportUntilItIsAnswered) {
  const auto report = pool_.update({0, 8}, now_);
  ASSERT_TRUE(report);
  EXPECT_FALSE(pool_.update({0, 8}, now_ + milliseconds(1)));
  EXPECT_EQ(pool_.update({0, 16}, now_ + PoolOptions{}.repeat), report);
}

TEST(PoolLease, AnswersARepeatedReportAsTheFirstTime) {
  PoolLease lease;
  const PoolReport report{.incarnation = 1, .sequence = 1, .wanted = 2};
  const auto first = handle(lease, report, RuSet::all(4));
  EXPECT_EQ(handle(lease, report, RuSet::all(4)), first);
  EXPECT_EQ(lease.held.size(), 2u);
}

TEST(PoolLease, BeginsAnewWithTheMonitor) {
  PoolLease lease;
  handle(lease, {.incarnation = 1, .sequence = 5, .wanted = 4}, RuSet::all(4));
  const auto answer = handle(lease, {.incarnation = 2, .sequence = 1, .wanted = 0}, RuSet());
  ASSERT_TRUE(answer);
  EXPECT_EQ(lease.held.size(), 0u);
  EXPECT_FALSE(handle(lease, {.incarnation = 1, .sequence = 6, .wanted = 4}, RuSet::all(4)));
}

// A monitor and a master that gives units to committed jobs too, with messages lost, repeated and overtaking
// each other, and a monitor that starts anew.
class Leasing {
 public:
  explicit Leasing(uint64_t seed) : rng_(seed), pool_(std::make_unique<Pool>(options(), 1)) {}

  void step() {
    now_ += milliseconds(rng_.below(400));
    switch (rng_.below(9)) {
      case 0:
        queued_ = rng_.below(30);
        break;
      case 1:
        begin();
        break;
      case 2:
        end();
        break;
      case 3:
        commit();
        break;
      case 4:
        if (!committed_.empty()) committed_.erase(committed_.begin());
        break;
      case 5:
        limits_.push_back({++revision_, static_cast<uint32_t>(rng_.below(kUnits + 1))});
        break;
      case 6:
        if (rng_.below(10) == 0) restart();
        break;
      default:
        break;
    }
    if (const auto report = pool_->update({static_cast<uint32_t>(running_.size()), queued_}, now_))
      reports_.push_back(*report);
    deliver(reports_, [this](const PoolReport& report) {
      if (const auto answer = handle(lease_, report, free())) answers_.push_back(*answer);
    });
    deliver(answers_, [this](const PoolAnswer& answer) { pool_->handle(answer, now_); });
    deliver(limits_, [this](const PoolLimit& limit) { pool_->handle(limit); });
    check();
  }

  // Nothing is lost any more.
  void settle() {
    queued_ = 0;
    running_.clear();
    committed_.clear();
    limits_ = {{++revision_, kUnits}};
    calm_ = true;
    for (RuIndex ru : std::exchange(used_, {})) pool_->release(ru);
    for (int i = 0; i < 300; ++i) {
      now_ += milliseconds(100);
      if (const auto report = pool_->update({0, 0}, now_)) reports_.push_back(*report);
      deliver(reports_, [this](const PoolReport& report) {
        if (const auto answer = handle(lease_, report, free())) answers_.push_back(*answer);
      });
      deliver(answers_, [this](const PoolAnswer& answer) { pool_->handle(answer, now_); });
      deliver(limits_, [this](const PoolLimit& limit) { pool_->handle(limit); });
      check();
    }
    RC_ASSERT(lease_.held.size() == 0u);
    RC_ASSERT(pool_->held().size() == 0u);
  }

 private:
  static constexpr uint32_t kUnits = 8;
  static PoolOptions options() { return {.block = 2, .shrinkAfter = seconds(2)}; }

  RuSet free() const {
    RuSet free = RuSet::all(kUnits);
    for (RuIndex ru : lease_.held.first(kUnits)) free.erase(ru);
    for (RuIndex ru : committed_) free.erase(ru);
    return free;
  }
  void begin() {
    if (running_.size() >= pool_->slots()) return;
    running_.push_back(pool_->take());
    used_.insert(running_.back());
  }
  void end() {
    if (running_.empty()) return;
    const size_t which = rng_.below(running_.size());
    pool_->release(running_[which]);
    used_.erase(running_[which]);
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(which));
  }
  void commit() {
    for (RuIndex ru : free().first(1)) committed_.insert(ru);
  }
  void restart() {
    running_.clear();
    used_.clear();
    pool_ = std::make_unique<Pool>(options(), ++incarnation_);
  }
  template <typename Message, typename Handle>
  void deliver(std::deque<Message>& messages, const Handle& handle) {
    for (size_t count = messages.size(); count > 0; --count) {
      // Any of them, so that they overtake each other.
      const size_t which = calm_ ? 0 : rng_.below(messages.size());
      const Message message = messages[which];
      const uint64_t fate = calm_ ? 3 : rng_.below(6);
      if (fate == 0) continue;                                                               // late
      if (fate != 1) messages.erase(messages.begin() + static_cast<std::ptrdiff_t>(which));  // 1: repeated
      if (fate != 2) handle(message);                                                        // 2: lost
    }
  }
  void check() const {
    for (RuIndex ru : pool_->held().first(kUnits)) RC_ASSERT(lease_.held.contains(ru) || ofEarlier());
    for (RuIndex ru : used_) {
      RC_ASSERT(pool_->held().contains(ru));
      RC_ASSERT(!committed_.contains(ru));
    }
    for (RuIndex ru : committed_) RC_ASSERT(!lease_.held.contains(ru));
  }
  bool ofEarlier() const { return lease_.incarnation != incarnation_; }

  Rng rng_;
  std::unique_ptr<Pool> pool_;
  PoolLease lease_;
  MonotonicTime now_{};
  uint64_t incarnation_ = 1, revision_ = 0, queued_ = 0;
  bool calm_ = false;
  std::vector<RuIndex> running_;
  std::set<RuIndex> used_, committed_;
  std::deque<PoolReport> reports_;
  std::deque<PoolAnswer> answers_;
  std::deque<PoolLimit> limits_;
};

RC_GTEST_PROP(PoolProperty, NoUnitHasTwoOwnersAndNoneIsForgotten, ()) {
  Leasing leasing(*rc::gen::arbitrary<uint64_t>());
  for (int i = 0; i < 300; ++i) leasing.step();
  leasing.settle();
}

}  // namespace tarcil::late::pool_test
