#include "lsh/hyperplanes.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdlib>
#include <map>
#include <vector>

#include "core/base/rng.h"
#include "tests/core/model/generators.h"

namespace tarcil::hyperplanes_test {

Centre centreOf(const Pressure& pressure) {
  Centre centre{};
  for (size_t i = 0; i < kResources; ++i) centre[i] = pressure[i] * kCentreUnit;
  return centre;
}

Pressure around(Rng& rng, int mean, int spread) {
  Pressure pressure{};
  for (uint8_t& p : pressure) {
    p = static_cast<uint8_t>(mean - spread +
                             static_cast<int>(rng.below(2 * static_cast<uint64_t>(spread) + 1)));
  }
  return pressure;
}

// Share of the vectors that the fullest of the buckets holds.
double fullest(const Hyperplanes& planes, const Centre& centre, int mean, int spread) {
  Rng rng(7);
  std::map<uint32_t, int> counts;
  int most = 0;
  constexpr int kVectors = 4'000;
  const auto offsets = planes.offsets(centre);
  for (int i = 0; i < kVectors; ++i)
    most = std::max(most, ++counts[planes.bucketOf(around(rng, mean, spread), offsets)]);
  return static_cast<double>(most) / kVectors;
}

RC_GTEST_PROP(Hyperplanes, GiveABucketThatThereIs, ()) {
  const auto buckets = *rc::gen::inRange<uint32_t>(1, Hyperplanes::kMaxBuckets + 1);
  const Hyperplanes planes(buckets, *rc::gen::arbitrary<uint64_t>());
  const auto offsets = planes.offsets(centreOf(*aPressure()));
  RC_ASSERT(planes.bucketOf(*aPressure(), offsets) < buckets);
}

RC_GTEST_PROP(Hyperplanes, AreTheSameFromTheSameSeed, ()) {
  const auto buckets = *rc::gen::inRange<uint32_t>(1, Hyperplanes::kMaxBuckets + 1);
  const auto seed = *rc::gen::arbitrary<uint64_t>();
  const Hyperplanes a(buckets, seed), b(buckets, seed);
  const Centre centre = centreOf(*aPressure());
  const Pressure contention = *aPressure();
  RC_ASSERT(a.bucketOf(contention, a.offsets(centre)) == b.bucketOf(contention, b.offsets(centre)));
}

// What is opposite to a vector, seen from the centre, is on the other side of every plane.
RC_GTEST_PROP(Hyperplanes, PartOppositeVectors, ()) {
  const Hyperplanes planes(256, *rc::gen::arbitrary<uint64_t>());
  Pressure centre{}, here{}, there{};
  for (size_t i = 0; i < kResources; ++i) {
    centre[i] = *rc::gen::inRange<uint8_t>(20, 80);
    const int off = *rc::gen::inRange(-20, 20);
    here[i] = static_cast<uint8_t>(centre[i] + off);
    there[i] = static_cast<uint8_t>(centre[i] - off);
  }
  const auto offsets = planes.offsets(centreOf(centre));
  const uint32_t a = planes.bucketOf(here, offsets), b = planes.bucketOf(there, offsets);
  // On a plane neither is beyond it.
  RC_ASSERT((a & b) == 0u);
}

TEST(Hyperplanes, UseAsManyPlanesAsBucketsNeed) {
  EXPECT_EQ(Hyperplanes(1, 1).planes(), 0u);
  EXPECT_EQ(Hyperplanes(2, 1).planes(), 1u);
  EXPECT_EQ(Hyperplanes(20, 1).planes(), 5u);
  EXPECT_EQ(Hyperplanes(32, 1).planes(), 5u);
  EXPECT_EQ(Hyperplanes(33, 1).planes(), 6u);
  EXPECT_EQ(Hyperplanes(256, 1).planes(), 8u);
}

TEST(Hyperplanes, FoldNeighbouringSignaturesIntoOneBucket) {
  // 32 signatures in 20 buckets: of the two that differ in the last plane alone some share one; the first
  // plane always parts.
  const Hyperplanes folded(20, 3), all(32, 3);
  const auto offsets = folded.offsets(centreOf(Profile::filled(50)));
  Rng rng(1);
  std::map<uint32_t, uint32_t> bucketOf;
  for (int i = 0; i < 4'000; ++i) {
    const Pressure pressure = around(rng, 50, 40);
    const uint32_t signature = all.bucketOf(pressure, offsets), bucket = folded.bucketOf(pressure, offsets);
    EXPECT_EQ(bucketOf.try_emplace(signature, bucket).first->second, bucket);
    EXPECT_EQ(bucket, signature * 20 / 32);
  }
}

TEST(Hyperplanes, SpreadVectorsWhereTheyAreCentredAndNotWhereTheyAreRaw) {
  double raw = 0, centred = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const Hyperplanes planes(32, seed);
    raw += fullest(planes, {}, 60, 20) / 20;
    centred += fullest(planes, centreOf(Profile::filled(60)), 60, 20) / 20;
  }
  EXPECT_GT(raw, 0.5);
  EXPECT_LT(centred, 0.2);
}

TEST(Hyperplanes, TellQuietFromNoisyAroundTheirMean) {
  const Hyperplanes planes(32, 1);
  const auto offsets = planes.offsets(centreOf(Profile::filled(50)));
  EXPECT_NE(planes.bucketOf(Profile::filled(10), offsets), planes.bucketOf(Profile::filled(90), offsets));
  const auto raw = planes.offsets({});
  EXPECT_EQ(planes.bucketOf(Profile::filled(10), raw), planes.bucketOf(Profile::filled(90), raw));
}

}  // namespace tarcil::hyperplanes_test
