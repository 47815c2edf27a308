#include "core/decide/utilisation.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <utility>
#include <vector>

namespace tarcil::utilisation_test {

TEST(Utilisation, NobodyWaitedSoAllIsSpare) {
  Utilisation utilisation;
  EXPECT_EQ(utilisation.spare(), 1);
  for (int i = 0; i < 10; ++i) utilisation.arrival(90, false);
  EXPECT_EQ(utilisation.spare(), 1);
}

TEST(Utilisation, IsTheMeanLoadByWhatIsInUseWhereJobsWait) {
  Utilisation utilisation;
  for (int i = 0; i < 500; ++i) {
    utilisation.arrival(60, false);
    utilisation.arrival(100, true);
  }
  EXPECT_NEAR(utilisation.spare(), 0.2, 1e-9);
}

TEST(Utilisation, FewArrivalsDoNotTellThatNothingIsSpare) {
  Utilisation utilisation;
  utilisation.arrival(100, true);
  EXPECT_DOUBLE_EQ(utilisation.spare(), 0.5);
  for (int i = 0; i < 98; ++i) utilisation.arrival(100, true);
  EXPECT_DOUBLE_EQ(utilisation.spare(), 0.01);
}

TEST(Utilisation, ForgetsWhatWasLongAgo) {
  Utilisation utilisation;
  for (int i = 0; i < 5'000; ++i) utilisation.arrival(100, true);
  EXPECT_LT(utilisation.spare(), 0.001);
  for (int i = 0; i < 20'000; ++i) utilisation.arrival(10, false);
  utilisation.arrival(100, true);
  EXPECT_GT(utilisation.spare(), 0.4);
}

// Also where fewer units are in use while jobs wait than else: for jobs of several units, say.
RC_GTEST_PROP(Utilisation, IsAShare, ()) {
  Utilisation utilisation;
  for (const auto& [units, waits] : *rc::gen::arbitrary<std::vector<std::pair<uint16_t, bool>>>()) {
    utilisation.arrival(units, waits);
    RC_ASSERT(utilisation.spare() > 0);
    RC_ASSERT(utilisation.spare() <= 1);
  }
}

}  // namespace tarcil::utilisation_test
