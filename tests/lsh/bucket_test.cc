#include "lsh/bucket.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <vector>

#include "tests/core/model/generators.h"

namespace tarcil::bucket_test {

Vacancy aVacancy(uint8_t contention, uint16_t free, uint8_t slack = Vacancy::kUnbounded) {
  Vacancy vacancy;
  vacancy.contention.fill(contention);
  vacancy.slack.fill(slack);
  vacancy.free = vacancy.rus = free;
  vacancy.usable = true;
  return vacancy;
}

Vacancy drawnVacancy() {
  Vacancy vacancy = aVacancy(0, *rc::gen::inRange<uint16_t>(0, 40));
  vacancy.contention = *aPressure();
  for (uint8_t& slack : vacancy.slack) slack = *rc::gen::arbitrary<uint8_t>();
  return vacancy;
}

// Causes so much on one resource that a neighbour must have this slack.
Newcomer needing(int slack) {
  Newcomer newcomer;
  newcomer.hurts[3] = static_cast<uint8_t>(slack + Vacancy::kNoSlack);
  return newcomer;
}

RC_GTEST_PROP(Bucket, IsAfterAnyChangesWhatItsMembersMakeIt, ()) {
  Bucket bucket;
  std::vector<Vacancy> in;
  const int steps = *rc::gen::inRange(0, 40);
  for (int i = 0; i < steps; ++i) {
    if (in.empty() || *rc::gen::inRange(0, 3) > 0) {
      in.push_back(drawnVacancy());
      bucket.enter(bucketMember(in.back()));
    } else {
      const auto which = *rc::gen::inRange<size_t>(0, in.size());
      bucket.leave(bucketMember(in[which]));
      in.erase(in.begin() + static_cast<std::ptrdiff_t>(which));
    }
  }
  Bucket fresh;
  PressureSum sum{};
  uint32_t free = 0;
  for (const Vacancy& vacancy : in) {
    fresh.enter(bucketMember(vacancy));
    free += vacancy.free;
    for (size_t i = 0; i < kResources; ++i) sum[i] += vacancy.contention[i];
  }
  RC_ASSERT(bucket == fresh);
  RC_ASSERT(bucket.servers() == in.size());
  RC_ASSERT(bucket.free() == free);
  RC_ASSERT(bucket.sum() == sum);
  for (size_t i = 0; i < kResources; ++i) {
    const double mean = in.empty() ? 0 : static_cast<double>(sum[i]) / static_cast<double>(in.size());
    RC_ASSERT(std::abs(bucket.mean()[i] - mean) <= 0.5001);
  }
}

RC_GTEST_PROP(Bucket, CountsSlotsOfAPowerOfTwoUnitsUpToARest, ()) {
  Bucket bucket;
  const uint32_t rus = 1U << *rc::gen::inRange(0, 6);
  uint64_t slots = 0, servers = 0, units = 0;
  const int members = *rc::gen::inRange(0, 20);
  for (int i = 0; i < members; ++i) {
    const Vacancy vacancy = drawnVacancy();
    bucket.enter(bucketMember(vacancy));
    slots += vacancy.free / rus;
    if (vacancy.free >= rus) {
      ++servers;
      units += vacancy.free;
    }
  }
  RC_ASSERT(bucket.slots(rus) >= slots);
  RC_ASSERT(bucket.slots(rus) == units / rus);
  if (rus == 1) RC_ASSERT(bucket.slots(rus) == slots);
}

TEST(Bucket, HasNoSlotWhereNoServerHasSoManyUnits) {
  Bucket bucket;
  for (int i = 0; i < 100; ++i) bucket.enter(bucketMember(aVacancy(0, 3)));
  EXPECT_EQ(bucket.slots(1), 300u);
  EXPECT_EQ(bucket.slots(2), 150u);
  EXPECT_EQ(bucket.slots(3), 0u);  // left out: of the servers with 2 or 3 units nobody knows
  EXPECT_EQ(bucket.slots(4), 0u);
  bucket.enter(bucketMember(aVacancy(0, kMaxServerRus)));
  EXPECT_EQ(bucket.slots(kMaxServerRus), 1u);
}

TEST(Bucket, SaysWhichShareOfItsUnitsBearsANewcomer) {
  Bucket bucket;
  EXPECT_EQ(bucket.bearing(burden(needing(50))), 1);
  bucket.enter(bucketMember(aVacancy(0, 30, Vacancy::kNoSlack + 7)));
  bucket.enter(bucketMember(aVacancy(0, 10, Vacancy::kUnbounded)));
  EXPECT_FLOAT_EQ(bucket.bearing(burden(needing(7))), 1);
  EXPECT_FLOAT_EQ(bucket.bearing(burden(needing(12))), 0.25);
  EXPECT_FLOAT_EQ(bucket.bearing(burden(needing(90))), 0.25);
  // Between two levels by interpolation.
  EXPECT_NEAR(bucket.bearing(burden(needing(9))), 0.25 + 0.75 * 3 / 5, 1e-6);
  EXPECT_EQ(bucket.bearing(burden(Newcomer{})), 1);
}

TEST(Bucket, DoesNotAskServersWithoutUnits) {
  Bucket bucket;
  bucket.enter(bucketMember(aVacancy(0, 0, Vacancy::kNoSlack)));
  bucket.enter(bucketMember(aVacancy(0, 1, Vacancy::kUnbounded)));
  EXPECT_EQ(bucket.bearing(burden(needing(20))), 1);
}

TEST(Bucket, MultipliesTheSharesOfSeveralResources) {
  Bucket bucket;
  Vacancy tight = aVacancy(0, 1);
  tight.slack[3] = Vacancy::kNoSlack;
  bucket.enter(bucketMember(tight));
  tight = aVacancy(0, 1);
  tight.slack[4] = Vacancy::kNoSlack;
  bucket.enter(bucketMember(tight));
  Newcomer newcomer = needing(10);
  newcomer.hurts[4] = newcomer.hurts[3];
  EXPECT_FLOAT_EQ(bucket.bearing(burden(newcomer)), 0.25);
}

}  // namespace tarcil::bucket_test
