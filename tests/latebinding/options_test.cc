#include "latebinding/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tarcil::late::latebinding_options_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(LateOptions, DefaultsAreFine) {
  EXPECT_THAT(problems(SchedulerOptions{}), IsEmpty());
  EXPECT_THAT(problems(QueueOptions{}), IsEmpty());
  EXPECT_THAT(problems(PoolOptions{}), IsEmpty());
  EXPECT_THAT(problems(ClientOptions{}), IsEmpty());
}

TEST(LateOptions, NameEveryFieldThatIsWrong) {
  EXPECT_THAT(problems(SchedulerOptions{.probeRatio = 0.5, .mostRatio = 1.0}),
              ElementsAre("probeRatio: 0.5; write 1 to 100", HasSubstr("mostRatio: 1")));
  EXPECT_THAT(problems(QueueOptions{.patience = Duration(0), .noiseFloor = 100}),
              ElementsAre(HasSubstr("patience: 0"), HasSubstr("noiseFloor: 100")));
  EXPECT_THAT(problems(PoolOptions{.block = 0, .least = 3, .most = 2}),
              ElementsAre(HasSubstr("block: 0"), HasSubstr("least: 3")));
  EXPECT_THAT(problems(ClientOptions{.deadAfter = std::chrono::milliseconds(30)}),
              ElementsAre(HasSubstr("deadAfter: 30000")));
}

}  // namespace tarcil::late::latebinding_options_test
