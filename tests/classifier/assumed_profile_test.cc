// What is assumed of an application that nobody has measured.
#include "classifier/assumed_profile.h"

#include <gtest/gtest.h>

#include <vector>

namespace tarcil::assumed_profile_test {

constexpr auto kLlc = static_cast<size_t>(Resource::kLlc);
constexpr auto kDisk = static_cast<size_t>(Resource::kDiskBandwidth);
constexpr auto kTlb = static_cast<size_t>(Resource::kTlb);

PartialProfile known(uint8_t tolerated, uint8_t caused) {
  PartialProfile application;
  application.tolerated[kLlc] = tolerated;
  application.caused[kLlc] = caused;
  return application;
}

// Of ten, twenty and thirty applications the tenth are one, two and three: the last of these counts.
TEST(AssumedProfile, BearsAndCausesWhatTheTenthAtTheEndDo) {
  for (const uint8_t size : {10, 20, 30}) {
    std::vector<PartialProfile> applications;
    // In an order that is none.
    for (uint8_t i = 0; i < size; ++i) {
      const auto place = static_cast<uint8_t>(i * 7 % size);
      applications.push_back(known(place, static_cast<uint8_t>(60 + place)));
    }
    const Profile assumed = assumedProfile(applications);
    EXPECT_EQ(assumed.tolerated[kLlc], size / 10 - 1) << +size;
    EXPECT_EQ(assumed.caused[kLlc], 60 + size - size / 10) << +size;
    EXPECT_TRUE(assumed.isAssumed);
  }
}

TEST(AssumedProfile, IsThatOfTheExtremesWhereFewAreKnown) {
  const Profile assumed = assumedProfile(std::vector{known(80, 10), known(30, 20), known(50, 70)});
  EXPECT_EQ(assumed.tolerated[kLlc], 30);
  EXPECT_EQ(assumed.caused[kLlc], 70);
}

// Where little can be contended for, they bear everything: that says nothing of other machines.
TEST(AssumedProfile, BearsNoMoreThanHalfWhateverTheKnownOnesDo) {
  const Profile assumed = assumedProfile(std::vector{known(99, 10), known(99, 20)});
  EXPECT_EQ(assumed.tolerated[kLlc], kMaxAssumed);
}

TEST(AssumedProfile, SaysNothingOfWhatWasMeasuredOfNone) {
  PartialProfile writer;
  writer.caused[kDisk] = 40;
  const Profile assumed = assumedProfile(std::vector{writer});
  EXPECT_EQ(assumed.caused[kDisk], 40);
  EXPECT_EQ(assumed.tolerated[kDisk], 50);
  EXPECT_EQ(assumed.caused[kTlb], 0);
  EXPECT_EQ(assumedProfile({}).tolerated, Profile::filled(kMaxAssumed));
  writer.caused[kDisk] = 70;
  EXPECT_EQ(assumedProfile(std::vector{writer}).tolerated[kDisk], 29);
}

}  // namespace tarcil::assumed_profile_test
