#include "monitor/logic/failed_launches.h"

#include <gtest/gtest.h>

namespace tarcil::failed_launches_test {

TEST(FailedLaunches, AreLoggedAtOnceAndThenTogether) {
  monitor::FailedLaunches launches;
  const MonotonicTime start{std::chrono::hours(1)};
  EXPECT_EQ(launches.note(start), 1u);
  EXPECT_EQ(launches.note(start), std::nullopt);
  EXPECT_EQ(launches.note(start + monitor::FailedLaunches::kPause - Duration(1)), std::nullopt);
  EXPECT_EQ(launches.note(start + monitor::FailedLaunches::kPause), 3u);
}

}  // namespace tarcil::failed_launches_test
