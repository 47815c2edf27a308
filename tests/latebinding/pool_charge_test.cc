#include "latebinding/pool_charge.h"

#include <gtest/gtest.h>

namespace tarcil::late::pool_charge_test {

using std::chrono::milliseconds;
using std::chrono::seconds;

PressureSum llc(int32_t value) {
  PressureSum sum{};
  sum[static_cast<size_t>(Resource::kLlc)] = value;
  return sum;
}

// With the default options: one second to smooth, one between messages, from three points on.
class PoolChargeTest : public ::testing::Test {
 protected:
  // Tasks that cause this run from now on, for so long.
  void run(int32_t caused, Duration time) {
    note(charge_.update(llc(caused), now_));
    const MonotonicTime end = now_ + time;
    while (charge_.nextWake() <= end) {
      now_ = charge_.nextWake();
      note(charge_.update(llc(caused), now_));
    }
    now_ = end;
  }
  int32_t told() const { return charge_.told()[static_cast<size_t>(Resource::kLlc)]; }

  PoolCharge charge_{ChargeOptions{}};
  MonotonicTime now_{seconds(100)};
  uint32_t messages_ = 0;

 private:
  void note(const std::optional<PressureSum>& message) {
    if (!message) return;
    ++messages_;
    EXPECT_EQ(*message, charge_.told());
  }
};

TEST_F(PoolChargeTest, TellsWhatTasksCause) {
  run(80, seconds(10));
  EXPECT_EQ(told(), 80);
  EXPECT_LE(messages_, 7u);
  EXPECT_EQ(charge_.nextWake(), MonotonicTime::max()) << "nothing changes any more";
}

TEST_F(PoolChargeTest, SmoothsTasksThatComeAndGo) {
  for (int i = 0; i < 50; ++i) {
    run(80, milliseconds(50));
    run(0, milliseconds(50));
  }
  EXPECT_NEAR(told(), 40, 4);
  EXPECT_LE(messages_, 5u);
}

TEST_F(PoolChargeTest, SaysNothingOfAShortBurst) {
  run(30, milliseconds(50));
  run(0, seconds(10));
  EXPECT_EQ(messages_, 0u);
  EXPECT_EQ(charge_.nextWake(), MonotonicTime::max());
}

TEST_F(PoolChargeTest, SaysNothingOfSmallChangesThatDoNotLast) {
  run(80, seconds(10));
  messages_ = 0;
  for (int i = 0; i < 50; ++i) {
    run(82, milliseconds(100));
    run(80, milliseconds(100));
  }
  EXPECT_EQ(messages_, 0u);
}

TEST_F(PoolChargeTest, IsRightInTheEnd) {
  run(80, seconds(10));
  run(1, seconds(20));
  EXPECT_EQ(told(), 1);
  run(0, seconds(20));
  EXPECT_EQ(told(), 0);
  EXPECT_EQ(charge_.nextWake(), MonotonicTime::max());
}

}  // namespace tarcil::late::pool_charge_test
