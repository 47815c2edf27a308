#include "classifier/platform_completion.h"

#include <gtest/gtest.h>

namespace tarcil::platform_completion_test {

// On "old" everything runs at half the speed of "new"; "wide" suits some applications and not others.
std::vector<PlatformSpeeds> someApplications() {
  std::vector<PlatformSpeeds> known;
  for (int i = 0; i < 20; ++i) {
    known.push_back({{"new", 1.0}, {"old", 0.5}, {"wide", i % 2 == 0 ? 2.0 : 0.7}});
  }
  known.push_back({{"new", 3.0}});
  return known;
}

TEST(PlatformCompletion, RefersToThePlatformOnWhichMostWereMeasured) {
  EXPECT_EQ(PlatformCompleter(someApplications()).reference(), "new");
}

TEST(PlatformCompletion, InfersRatiosFromThoseOfOthers) {
  // In a unit of its own: 7 on the reference.
  const auto completed = PlatformCompleter(someApplications()).complete({{"new", 7.0}, {"wide", 14.0}});
  EXPECT_EQ(completed.at("wide").origin, Origin::kMeasured);
  EXPECT_DOUBLE_EQ(completed.at("wide").performance, 1);
  EXPECT_DOUBLE_EQ(completed.at("new").performance, 0.5);
  EXPECT_EQ(completed.at("old").origin, Origin::kInferred);
  EXPECT_NEAR(completed.at("old").performance, 0.25, 0.01);
}

TEST(PlatformCompletion, IsRelativeToAnInferredPlatformWhereThatIsBest) {
  const auto known = std::vector<PlatformSpeeds>(20, {{"fast", 1.0}, {"slow", 0.25}, {"slower", 0.125}});
  std::vector<PlatformSpeeds> all = known;
  all.push_back({{"slow", 1.0}});  // makes it the reference
  const PlatformCompleter completer(all);
  ASSERT_EQ(completer.reference(), "slow");
  const auto completed = completer.complete({{"slow", 1.0}});
  EXPECT_DOUBLE_EQ(completed.at("fast").performance, 1);
  EXPECT_NEAR(completed.at("slow").performance, 0.25, 0.01);
}

TEST(PlatformCompletion, TakesAnUnmeasuredApplicationForOneInGeneral) {
  const auto completed = PlatformCompleter(someApplications()).complete({});
  EXPECT_EQ(completed.at("new").origin, Origin::kInferred);
  EXPECT_NEAR(completed.at("old").performance / completed.at("new").performance, 0.5, 0.01);
}

TEST(PlatformCompletion, InfersNothingFromAMeasurementElsewhere) {
  const auto completed = PlatformCompleter(someApplications()).complete({{"old", 5.0}});
  ASSERT_EQ(completed.size(), 1u);
  EXPECT_DOUBLE_EQ(completed.at("old").performance, 1);
}

TEST(PlatformCompletion, IsLessSureOfAPlatformThatTellsApplicationsApart) {
  const auto completed = PlatformCompleter(someApplications()).complete({{"new", 1.0}});
  EXPECT_GT(completed.at("wide").expectedError, 10 * completed.at("old").expectedError);
}

TEST(PlatformCompletion, KeepsWhatWasMeasuredWhereNoApplicationIsKnown) {
  const PlatformCompleter completer({});
  EXPECT_EQ(completer.reference(), "");
  EXPECT_TRUE(completer.complete({}).empty());
  EXPECT_DOUBLE_EQ(completer.complete({{"a", 2.0}, {"b", 4.0}}).at("a").performance, 0.5);
}

}  // namespace tarcil::platform_completion_test
