#include "classifier/kernels/pacer.h"

#include <gtest/gtest.h>

namespace tarcil::pacer_test {

using namespace std::chrono_literals;

// How much of `work` at a time gets done in `time`, when each piece takes `each` and rests are kept.
double doneIn(std::chrono::nanoseconds time, std::optional<double> perSecond, double work,
              std::chrono::nanoseconds each) {
  Pacer pacer;
  PacerTime now{};
  pacer.start(perSecond, now);
  double done = 0;
  while (now.time_since_epoch() < time) {
    now += each;
    done += work;
    now += pacer.did(work, now);
  }
  return done;
}

TEST(Pacer, KeepsTheRateWhateverAPieceTakes) {
  EXPECT_NEAR(doneIn(10s, 1000, 1, 10us), 10'000, 20);
  EXPECT_NEAR(doneIn(10s, 1000, 1, 900us), 10'000, 20);
  EXPECT_NEAR(doneIn(10s, 1000, 50, 1ms), 10'000, 60);
}

TEST(Pacer, WithoutARateNeverRests) {
  EXPECT_EQ(doneIn(1s, std::nullopt, 1, 1ms), 1000);
}

TEST(Pacer, AtRateZeroDoesNextToNothing) {
  EXPECT_LE(doneIn(1s, 0, 1, 1ms), 1s / Pacer::kMaxDebt + 1);
}

TEST(Pacer, DoesNotBurstAfterItWasHeldUp) {
  Pacer pacer;
  PacerTime now{};
  pacer.start(1000, now);
  now += 10s;  // nothing was done meanwhile
  int withoutRest = 0;
  while (pacer.did(1, now).count() == 0) ++withoutRest;
  EXPECT_LE(withoutRest, Pacer::kMaxDebt / 1ms);
}

}  // namespace tarcil::pacer_test
