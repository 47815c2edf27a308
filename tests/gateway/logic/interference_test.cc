// Who slows whom down.
#include "gateway/logic/interference.h"

#include <gtest/gtest.h>

namespace tarcil::gateway::interference_test {

constexpr auto kLlc = static_cast<size_t>(Resource::kLlc);

Profile profile(const std::string& name, uint8_t caused, uint8_t tolerated) {
  Profile profile;
  profile.application = name;
  profile.caused[kLlc] = caused;
  profile.tolerated[kLlc] = tolerated;
  return profile;
}

TEST(Predictions, AreOfTheResourceThatHurtsMost) {
  const Prediction hurt = predict(profile("victim", 0, 20), profile("loud", 60, 99), {});
  EXPECT_EQ(hurt.slack, -40);
  EXPECT_EQ(hurt.resource, kLlc);
  EXPECT_NEAR(hurt.satisfaction, 1 - 40.0 / 99, 1e-9);
}

TEST(Predictions, AreOfNoLossWhereTheOtherIsBorne) {
  const Prediction fine = predict(profile("victim", 0, 70), profile("quiet", 30, 99), {});
  EXPECT_EQ(fine.slack, 40);
  EXPECT_EQ(fine.satisfaction, 1);
}

// A victim that bears 20 begins to lose at 15; of the 45 points beyond, it keeps 54 of 99.
TEST(Predictions, AreByTheSlowdownWhereTheClusterJudgesSo) {
  const Prediction hurt =
      predict(profile("victim", 0, 20), profile("loud", 60, 99), {.contention = ContentionModel::kSlowdowns});
  EXPECT_EQ(hurt.slack, -40);
  EXPECT_NEAR(hurt.satisfaction, 54.0 / 99, 0.01);
  EXPECT_EQ(
      predict(profile("victim", 0, 70), profile("quiet", 30, 99), {.contention = ContentionModel::kSlowdowns})
          .satisfaction,
      1);
}

TEST(Pairs, AreAllOfThemWithWhatWasObserved) {
  const std::vector<Application> applications = {{.profile = profile("a", 10, 20)},
                                                 {.profile = profile("b", 60, 99)}};
  const auto pairs = pairsOf(applications, {{"a", "b", 0.8}, {"a", "b", 0.6}, {"a", "unknown", 0.1}}, {});
  ASSERT_EQ(pairs.size(), 4u);
  EXPECT_EQ(pairs[1].application, 0u);
  EXPECT_EQ(pairs[1].beside, 1u);
  EXPECT_EQ(pairs[1].predicted.slack, -40);
  EXPECT_EQ(pairs[1].violations, 2u);
  EXPECT_EQ(pairs[1].performance, 0.6);
  EXPECT_EQ(pairs[0].performance, std::nullopt);
  EXPECT_EQ(pairs[2].violations, 0u);
}

}  // namespace tarcil::gateway::interference_test
