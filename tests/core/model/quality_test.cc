#include "core/model/quality.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "tests/core/model/generators.h"

namespace tarcil::quality_test {

constexpr auto kLlc = static_cast<size_t>(Resource::kLlc);
constexpr auto kBandwidth = static_cast<size_t>(Resource::kMemoryBandwidth);

Pressure on(uint8_t bandwidth, uint8_t llc) {
  Pressure pressure{};
  pressure[kBandwidth] = bandwidth;
  pressure[kLlc] = llc;
  return pressure;
}

// Causes 60 on the last-level cache and 84 on memory bandwidth, tolerates 30 and 10 there and
// anything elsewhere.
Profile logreg() {
  Profile profile;
  profile.caused = on(84, 60);
  profile.tolerated = toleratedFromCaused(profile.caused);
  profile.tolerated[kLlc] = 30;
  profile.tolerated[kBandwidth] = 10;
  return profile;
}

JobView onReference(const Profile& profile) {
  return viewOn(profile, fullShare(), 1.0);
}

Judgement judged(const JobView& job, const Pressure& contention,
                 QualityModel model = QualityModel::kComponentwise) {
  return judge(job, contention, model, 0);
}

TEST(Quality, MatchesTheDocumentedExampleDigitForDigit) {
  const JobView job = onReference(logreg());
  EXPECT_EQ(digits(job.target), "89690000000000000000");
  EXPECT_EQ(normalized(job.target), 0.8969);
  for (const QualityModel model : {QualityModel::kEncoded, QualityModel::kComponentwise}) {
    const Judgement slot = judged(job, on(8, 3), model);
    EXPECT_EQ(digits(slot.encoded), "08030000000000000000");
    EXPECT_EQ(uH(slot), 0.9197);
    EXPECT_TRUE(slot.meetsTarget);
    EXPECT_EQ(q(slot), 0.9772);
    EXPECT_EQ(literalQ(job, slot), 0.9772);
    EXPECT_EQ(slot.satisfaction, 1.0);
  }
}

TEST(Quality, AMarginIsAtMostAsMuchAsThePressureItself) {
  EXPECT_EQ(withMargin(0, 10), 0);
  EXPECT_EQ(withMargin(4, 10), 8);
  EXPECT_EQ(withMargin(30, 10), 40);
  EXPECT_EQ(withMargin(95, 10), kMaxPressure);
  EXPECT_EQ(withMargin(30, 0), 30);
  const JobView job = onReference(logreg());
  EXPECT_EQ(judge(job, on(8, 0), QualityModel::kComponentwise, 10).contention, on(16, 0));
}

TEST(Quality, IsOneWhereTheSlotFitsExactly) {
  Profile profile;
  profile.tolerated = {10, 20, 30, 40, 50, 60, 70, 80, 90, 0};
  const Judgement slot = judged(onReference(profile), profile.tolerated);
  EXPECT_TRUE(slot.meetsTarget);
  EXPECT_EQ(slot.qNumerator, kEncodedMax);
}

TEST(Quality, IsUWhereTheTargetIsMissed) {
  const JobView job = onReference(logreg());
  const Judgement slot = judged(job, on(20, 0));
  EXPECT_FALSE(slot.meetsTarget);
  EXPECT_DOUBLE_EQ(q(slot), 0.80);
  EXPECT_DOUBLE_EQ(literalQ(job, slot), 0.0969);
  EXPECT_DOUBLE_EQ(slot.satisfaction, 89.0 / 99);
  EXPECT_DOUBLE_EQ(judged(job, on(20, 0), QualityModel::kEncoded).satisfaction, 0.9031);
}

TEST(Quality, EncodedModelOverlooksTheSecondResourceAndComponentwiseDoesNot) {
  const JobView job = onReference(logreg());
  const Pressure quietThenLoud = on(9, 99);
  EXPECT_EQ(judged(job, quietThenLoud, QualityModel::kEncoded).satisfaction, 1.0);
  EXPECT_DOUBLE_EQ(judged(job, quietThenLoud).satisfaction, 30.0 / 99);
}

TEST(Quality, MarginIsAddedToEveryPressureThatIsThereAndClamped) {
  const JobView job = onReference(logreg());
  const Judgement slot = judge(job, on(8, 97), QualityModel::kComponentwise, 5);
  EXPECT_EQ(slot.contention, on(13, 99));
  EXPECT_FALSE(slot.meetsTarget);
}

TEST(JobView, ScalesDemandAndKeepsTheJobsOrder) {
  Share share = fullShare();
  share[kBandwidth] = 128;
  const JobView job = viewOn(logreg(), share, 0.7);
  EXPECT_EQ(job.order[0], kBandwidth);
  EXPECT_EQ(job.tolerated[kBandwidth], 54);  // 99 - 44.5 rounded half up
  EXPECT_EQ(job.caused[kBandwidth], 42);
  EXPECT_EQ(digits(job.target), "45690000000000000000");
}

TEST(JobView, ClampsDemandButNotWhatIsCaused) {
  const JobView job = viewOn(logreg(), Share{0, 0, 0, 0, 512, 512}, 1.0);
  EXPECT_EQ(job.tolerated[kLlc], 0);
  EXPECT_EQ(job.caused[kLlc], 120);
  EXPECT_EQ(job.caused[kBandwidth], 168);
}

TEST(ExpectedPerformance, IsSatisfactionTimesPlatformFactor) {
  const JobView job = viewOn(logreg(), fullShare(), 0.5);
  EXPECT_DOUBLE_EQ(expectedPerformance(job, judged(job, on(20, 0))), 0.5 * 89.0 / 99);
}

// Contention that a job just bears up to its `from`-th critical resource, and any value on the resources
// after that.
Pressure borneUpTo(const JobView& job, size_t from) {
  Pressure contention = *aPressure();
  for (size_t i = 0; i < from; ++i) contention[job.order[i]] = job.tolerated[job.order[i]];
  return contention;
}

// Requires: within a property. A slot that meets the job's target, decided at a random resource.
Judgement aSlotThatMeets(const JobView& job) {
  const auto decides = *rc::gen::inRange<size_t>(0, kResources);
  Pressure contention = borneUpTo(job, decides);
  for (size_t i = decides; i < kResources; ++i) {
    const size_t resource = job.order[i];
    contention[resource] = std::min(contention[resource], job.tolerated[resource]);
    if (contention[resource] < job.tolerated[resource]) break;
  }
  return judged(job, contention);
}

// Requires: within a property. A slot that misses the job's target, decided at a random resource.
Judgement aSlotThatMisses(const JobView& job) {
  const auto decides = *rc::gen::inRange<size_t>(0, kResources);
  const size_t resource = job.order[decides];
  RC_PRE(job.tolerated[resource] < kMaxPressure);
  Pressure contention = borneUpTo(job, decides);
  contention[resource] =
      static_cast<uint8_t>(*rc::gen::inRange(job.tolerated[resource] + 1, kMaxPressure + 1));
  return judged(job, contention);
}

RC_GTEST_PROP(Quality, IsLowerTheQuieterTheSlotsThatMeetTheTarget, ()) {
  const JobView job = onReference(*aProfile());
  const Judgement a = aSlotThatMeets(job);
  const Judgement b = aSlotThatMeets(job);
  RC_ASSERT(a.meetsTarget && b.meetsTarget);
  RC_ASSERT((a.qNumerator <=> b.qNumerator) == (a.encoded <=> b.encoded));
}

RC_GTEST_PROP(Quality, IsLowerTheLouderTheSlotsThatMissTheTarget, ()) {
  const JobView job = onReference(*aProfile());
  const Judgement a = aSlotThatMisses(job);
  const Judgement b = aSlotThatMisses(job);
  RC_ASSERT(!a.meetsTarget && !b.meetsTarget);
  RC_ASSERT((a.qNumerator <=> b.qNumerator) == (b.encoded <=> a.encoded));
}

RC_GTEST_PROP(Quality, RanksEverySlotThatMissesBelowEverySlotThatMeets, ()) {
  const JobView job = onReference(*aProfile());
  const Judgement misses = aSlotThatMisses(job);
  RC_ASSERT(misses.qNumerator < job.target);
  RC_ASSERT(misses.qNumerator < aSlotThatMeets(job).qNumerator);
}

RC_GTEST_PROP(Quality, StaysWithinItsRanges, ()) {
  const JobView job = viewOn(*aProfile(), *aShare(), 1.0);
  const auto model = *rc::gen::element(QualityModel::kEncoded, QualityModel::kComponentwise);
  const Judgement slot = judge(job, *aPressure(), model, *rc::gen::inRange(0, 100));
  RC_ASSERT(slot.satisfaction >= 0.0 && slot.satisfaction <= 1.0);
  RC_ASSERT(slot.qNumerator <= kEncodedMax);
  RC_ASSERT(literalQ(job, slot) >= 0.0 && literalQ(job, slot) <= 1.0);
}

RC_GTEST_PROP(Quality, MeetsTheTargetWhereContentionIsLexicographicallyWithinTolerance, ()) {
  const JobView job = viewOn(*aProfile(), *aShare(), 1.0);
  const Pressure contention = *aPressure();
  RC_ASSERT(judged(job, contention).meetsTarget ==
            (encode(contention, job.order) <= encode(job.tolerated, job.order)));
}

RC_GTEST_PROP(Quality, LouderNeighboursNeverRaiseSatisfaction, ()) {
  const JobView job = onReference(*aProfile());
  const Pressure quiet = *aPressure();
  Pressure loud = *aPressure();
  for (size_t i = 0; i < kResources; ++i) loud[i] = std::max(loud[i], quiet[i]);
  for (const QualityModel model : {QualityModel::kEncoded, QualityModel::kComponentwise}) {
    RC_ASSERT(judged(job, loud, model).satisfaction <= judged(job, quiet, model).satisfaction);
  }
}

}  // namespace tarcil::quality_test
