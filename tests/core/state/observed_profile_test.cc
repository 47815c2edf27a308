// What runs of an application were measured to cause.
#include "core/state/observed_profile.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <numeric>

namespace tarcil::observed_profile_test {

constexpr auto kDisk = static_cast<size_t>(Resource::kDiskBandwidth);
constexpr auto kCore = static_cast<size_t>(Resource::kCore);

ObservedProfile observedOfDisk(std::initializer_list<double> runs) {
  ObservedProfile observed{.application = "sort", .user = "alice"};
  for (const double charged : runs) observed.caused[kDisk].add(charged);
  return observed;
}

Profile measuredProfile() {
  Profile profile;
  profile.application = "sort";
  profile.caused.fill(7);
  profile.tolerated.fill(60);
  profile.origins = ProfileOrigins::all(Origin::kMeasured);
  return profile;
}

RC_GTEST_PROP(Observations, AreTheMeanAndSpreadOfAFewRuns, ()) {
  const auto runs = *rc::gen::container<std::vector<double>>(rc::gen::map(
      rc::gen::inRange(0, kMaxPressure + 1), [](int value) { return static_cast<double>(value); }));
  RC_PRE(!runs.empty() && runs.size() <= kRunsRemembered);
  Observation observation;
  for (const double charged : runs) observation.add(charged);
  const auto count = static_cast<double>(runs.size());
  const double mean = std::accumulate(runs.begin(), runs.end(), 0.0) / count;
  double squares = 0;
  for (const double charged : runs) squares += (charged - mean) * (charged - mean);
  RC_ASSERT(observation.runs == runs.size());
  RC_ASSERT(std::abs(observation.mean - mean) < 1e-6);
  RC_ASSERT(std::abs(observation.spread() - std::sqrt(squares / count)) < 1e-6);
}

TEST(Observations, FollowAnApplicationThatHasChanged) {
  Observation observation;
  for (int run = 0; run < 1'000; ++run) observation.add(80);
  for (uint32_t run = 0; run < 3 * kRunsRemembered; ++run) observation.add(10);
  EXPECT_LT(observation.mean, 14);
}

TEST(ObservedProfiles, TakeThePlaceOfWhatIsDeclaredBothWaysOnceBelieved) {
  const Profile profile = measuredProfile();
  EXPECT_EQ(withObserved(profile, observedOfDisk({50, 50})), profile) << "too few runs";
  const Profile more = withObserved(profile, observedOfDisk({50, 52, 51}));
  EXPECT_EQ(more.caused[kDisk], 51);
  EXPECT_EQ(more.origins.caused[kDisk], (EntryOrigin{Origin::kObserved, 1}));
  EXPECT_EQ(more.caused[kCore], 7);
  EXPECT_EQ(more.origins.caused[kCore], EntryOrigin{Origin::kMeasured});
  EXPECT_EQ(more.tolerated, profile.tolerated);
  EXPECT_EQ(withObserved(profile, observedOfDisk({0, 0, 0})).caused[kDisk], 0);
}

constexpr PerformanceGoal kGoal{.metric = Metric::kReported, .deviation = 0.1};

ObservedProfile observedPerforming(std::initializer_list<double> runs) {
  ObservedProfile observed{.application = "sort", .user = "alice"};
  for (const double reached : runs) {
    observed.addPerformance("fast", Metric::kReported, 2, reached, WallTime(Duration(1)));
  }
  return observed;
}

TEST(ObservedPerformances, SayWhatToExpectOfTasksOfTheirKindOnceBelieved) {
  EXPECT_TRUE(expectedAfter(observedPerforming({100, 100}), kGoal, 2).empty()) << "too few runs";
  const ObservedProfile observed = observedPerforming({100, 100, 100});
  EXPECT_EQ(expectedAfter(observed, kGoal, 2), (std::map<std::string, double>{{"fast", 100}}));
  EXPECT_TRUE(expectedAfter(observed, kGoal, 1).empty()) << "with other units";
  PerformanceGoal byTime = kGoal;
  byTime.metric = Metric::kCpuTime;
  EXPECT_TRUE(expectedAfter(observed, byTime, 2).empty()) << "by another metric";
  EXPECT_TRUE(expectedAfter(observedPerforming({0, 0, 0}), kGoal, 2).empty());
}

TEST(ObservedPerformances, ThatDifferDegradeATaskOnlyBelowTwoDeviations) {
  const ObservedProfile observed = observedPerforming({80, 100, 120});
  const double degradedBelow = expectedAfter(observed, kGoal, 2).at("fast") * (1 - kGoal.deviation);
  EXPECT_NEAR(degradedBelow, 100 - 2 * std::sqrt(800.0 / 3), 1e-9);
  EXPECT_TRUE(expectedAfter(observedPerforming({1, 100, 1}), kGoal, 2).empty()) << "nothing can be expected";
}

TEST(ObservedPerformances, AreBoundedAndTheOneObservedLongestAgoGoes) {
  ObservedProfile observed = observedPerforming({100});
  for (uint32_t i = 0; i < kMaxObservedPerformances; ++i) {
    observed.addPerformance("fast", Metric::kReported, 10 + i, 100, WallTime(Duration(10 + i)));
  }
  ASSERT_EQ(observed.performances.size(), kMaxObservedPerformances);
  for (const ObservedPerformance& each : observed.performances) EXPECT_NE(each.rus, 2u);
}

TEST(ObservedProfiles, StandForAnApplicationThatIsNotStored) {
  const Profile profile = profileFromObserved(observedOfDisk({30, 30, 30}));
  EXPECT_EQ(profile.application, "sort");
  EXPECT_EQ(profile.caused[kDisk], 30);
  EXPECT_EQ(profile.tolerated[kDisk], kMaxPressure - 30);
  EXPECT_EQ(profile.tolerated[kCore], kMaxPressure);
  EXPECT_EQ(profile.origins.tolerated[kDisk].origin, Origin::kAssumed);
}

}  // namespace tarcil::observed_profile_test
