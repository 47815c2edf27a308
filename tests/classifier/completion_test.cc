#include "classifier/completion.h"

#include <gtest/gtest.h>

#include "core/base/rng.h"

namespace tarcil::completion_test {

constexpr auto kLlc = static_cast<size_t>(Resource::kLlc);
constexpr auto kDisk = static_cast<size_t>(Resource::kDiskBandwidth);

// Applications of which one number decides: the more they cause on any resource, the less they tolerate on
// all. The network nobody has measured.
PartialProfile application(double weight) {
  PartialProfile profile;
  profile.application = "known";
  for (size_t i = 0; i + 1 < kResources; ++i) {
    profile.caused[i] = static_cast<uint8_t>(std::lround(weight * (90 - 5 * static_cast<double>(i))));
    profile.tolerated[i] = static_cast<uint8_t>(kMaxPressure - *profile.caused[i] / 2);
  }
  profile.platforms = {{"slow", 0.5}, {"fast", 1.0}};
  return profile;
}

std::vector<PartialProfile> applications() {
  std::vector<PartialProfile> known;
  Rng rng(1);
  for (int i = 0; i < 40; ++i) known.push_back(application(rng.unit()));
  return known;
}

PartialProfile measured(double weight) {
  const PartialProfile truth = application(weight);
  PartialProfile some;
  some.application = "new";
  some.caused[kLlc] = truth.caused[kLlc];
  some.tolerated[kLlc] = truth.tolerated[kLlc];
  some.platforms = {{"fast", 3.0}};
  return some;
}

TEST(Completion, MakesAWholeProfileOfOneMeasuredResource) {
  const ProfileCompleter completer(applications());
  const CompletedProfile completed = completer.complete(measured(0.6));
  EXPECT_EQ(completed.profile.application, "new");
  EXPECT_EQ(completed.knownApplications, 40u);
  const PartialProfile truth = application(0.6);
  for (size_t i = 0; i + 1 < kResources; ++i) {
    EXPECT_NEAR(completed.profile.caused[i], *truth.caused[i], 2) << kResourceNames[i];
    EXPECT_NEAR(completed.profile.tolerated[i], *truth.tolerated[i], 2) << kResourceNames[i];
    EXPECT_EQ(completed.caused[i].origin, i == kLlc ? Origin::kMeasured : Origin::kInferred);
    EXPECT_EQ(completed.tolerated[i].origin, i == kLlc ? Origin::kMeasured : Origin::kInferred);
    EXPECT_LT(completed.caused[i].expectedError, 3);
  }
  EXPECT_EQ(completed.profile.caused[kLlc], *truth.caused[kLlc]);
  EXPECT_EQ(completed.profile.tolerated[kLlc], *truth.tolerated[kLlc]);
}

TEST(Completion, ToleratesWhatIsNotCausedWhereNothingElseIsKnown) {
  PartialProfile some = measured(0.5);
  some.caused[kResources - 1] = 20;
  const CompletedProfile completed = ProfileCompleter(applications()).complete(some);
  EXPECT_EQ(completed.tolerated[kResources - 1].origin, Origin::kAssumed);
  EXPECT_EQ(completed.profile.tolerated[kResources - 1], 79);
}

TEST(Completion, IsAsAProfileThatSaysNothingWhereNoApplicationIsKnown) {
  PartialProfile some;
  some.caused[kDisk] = 30;
  const CompletedProfile completed = ProfileCompleter({}).complete(some);
  EXPECT_EQ(completed.knownApplications, 0u);
  EXPECT_EQ(completed.profile.caused[kDisk], 30);
  EXPECT_EQ(completed.profile.tolerated[kDisk], 69);
  EXPECT_EQ(completed.profile.caused[kLlc], 0);
  EXPECT_EQ(completed.profile.tolerated[kLlc], kMaxPressure);
  EXPECT_EQ(completed.caused[kLlc].origin, Origin::kAssumed);
  EXPECT_EQ(completed.caused[kLlc].expectedError, kMaxPressure);
  EXPECT_TRUE(completed.profile.platforms.empty());
}

TEST(Completion, CompletesPlatformsBesidePressures) {
  const CompletedProfile completed = ProfileCompleter(applications()).complete(measured(0.6));
  EXPECT_EQ(completed.platforms.at("fast").origin, Origin::kMeasured);
  EXPECT_EQ(completed.platforms.at("slow").origin, Origin::kInferred);
  EXPECT_EQ(completed.profile.origins.ofPlatform("fast"), EntryOrigin{Origin::kMeasured});
  EXPECT_EQ(completed.profile.origins.ofPlatform("slow").origin, Origin::kInferred);
  EXPECT_DOUBLE_EQ(completed.profile.platforms.at("fast"), 1);
  EXPECT_NEAR(completed.profile.platforms.at("slow"), 0.5, 0.01);
}

TEST(Completion, SaysWhichResourcesToMeasureFirst) {
  // Only what is done to the disk tells what is done to all but the caches, which vary less.
  std::vector<PartialProfile> known;
  Rng rng(1);
  for (int i = 0; i < 60; ++i) {
    PartialProfile profile;
    const double weight = rng.unit();
    for (size_t r = 0; r < kResources; ++r) {
      profile.caused[r] = static_cast<uint8_t>(r == kDisk ? 99 * weight : 60 * weight + 39 * rng.unit());
      profile.tolerated[r] = 50;
    }
    known.push_back(profile);
  }
  EXPECT_EQ(ProfileCompleter(known).mostTelling(1), std::vector<Resource>{Resource::kDiskBandwidth});
}

TEST(Completion, KnowsOfPlatformsWhatWasMeasuredAlone) {
  Profile profile;
  profile.platforms = {{"measured", 1}, {"slow", 0.25}, {"inferred", 0.5}, {"stated", 0.7}};
  profile.origins.setPlatform("measured", {Origin::kMeasured});
  profile.origins.setPlatform("slow", {Origin::kMeasured, 3});
  profile.origins.setPlatform("inferred", {Origin::kInferred, 3});
  EXPECT_EQ(measuredOf(profile).platforms, (PlatformSpeeds{{"measured", 1}, {"slow", 0.25}}));
}

}  // namespace tarcil::completion_test
