#include "core/model/sample_size.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

namespace tarcil::sample_size_test {

// P[Bin(n, p) >= m] by adding up the whole distribution in long double, term by term.
double bruteForce(double p, int n, int m) {
  long double sum = 0;
  for (int k = m; k <= n; ++k) {
    long double term = 1;
    for (int i = 1; i <= k; ++i) term *= static_cast<long double>(n - k + i) / i * p;
    sum += term * std::pow(1.0L - p, static_cast<long double>(n - k));
  }
  return static_cast<double>(sum);
}

rc::Gen<double> aFraction() {
  return rc::gen::map(rc::gen::inRange(1, 1000), [](int thousandths) { return thousandths / 1000.0; });
}

rc::Gen<double> aConfidence() {
  return rc::gen::element(0.1, 0.9, 0.99, 0.999, 0.999999);
}

TEST(SampleSize, GivesThePapersFigures) {
  EXPECT_NEAR(1 - guarantee(0.2, 64, 1), std::pow(0.8, 64), 1e-12);
  EXPECT_LT(1 - guarantee(0.2, 64, 1), 1e-6);
  EXPECT_EQ(drawsNeeded(1 - 0.92, 1 - 1e-3, 1), 83u);
  EXPECT_EQ(drawsNeeded(1 - 0.8, 1 - 1e-3, 1), 31u);
}

TEST(SampleSize, CountsATieAsReached) {
  EXPECT_EQ(drawsNeeded(0.5, 0.75, 1), 2u);
  EXPECT_EQ(drawsNeeded(0.5, 1 - 0x1p-20, 1), 20u);
  EXPECT_EQ(drawsNeeded(0.9, 0.9, 1), 1u);
  EXPECT_EQ(drawsNeeded(0.9, 0.999, 1), 3u);
  EXPECT_EQ(drawsNeeded(0.99, 0.9999, 1), 2u);
}

TEST(SampleSize, NeedsExactlyTheSlotsWhereAllAreAcceptable) {
  EXPECT_EQ(drawsNeeded(1, 0.999, 1), 1u);
  EXPECT_EQ(drawsNeeded(1, 0.999, 100'000), 100'000u);
  EXPECT_EQ(guarantee(1, 8, 8), 1.0);
  EXPECT_EQ(guarantee(1, 7, 8), 0.0);
}

TEST(SampleSize, HasNoAnswerWhereNoneIsAcceptable) {
  EXPECT_EQ(drawsNeeded(0, 0.999, 1), std::nullopt);
  EXPECT_EQ(drawsNeeded(0, 0.999, 8), std::nullopt);
  EXPECT_EQ(drawsNeeded(1e-300, 0.999, 1), std::nullopt);
  EXPECT_EQ(drawsNeeded(1e-300, 0.999, 8), std::nullopt);
  EXPECT_EQ(guarantee(0, 1'000'000, 1), 0.0);
}

// The figures of the next four tests come from 60-digit arithmetic.
TEST(SampleSize, IsPreciseWhereProbabilitiesAreTiny) {
  EXPECT_EQ(drawsNeeded(1e-9, 0.999, 1), 6'907'755'276u);
  EXPECT_EQ(drawsNeeded(1e-9, 0.999, 8), 19'626'177'390u);
  EXPECT_NEAR(guarantee(1e-9, 1000, 1), 9.999995004999e-07, 1e-17);
}

TEST(SampleSize, HoldsForTheLargestJobs) {
  EXPECT_EQ(drawsNeeded(0.2, 0.999, 100'000), 504'383u);
  EXPECT_EQ(drawsNeeded(0.999, 0.999, 100'000), 100'132u);
  EXPECT_EQ(drawsNeeded(1e-9, 0.999, 100'000), 100'980'067'791'469u);
  EXPECT_EQ(drawsNeeded(0.5, 1 - 1e-12, 100'000), 203'170u);
  EXPECT_EQ(drawsNeeded(1e-12, 0.999, 100), 133'770'263'911'362u);
  EXPECT_NEAR(guarantee(0.2, 500'000, 100'000), 0.50056418942840303, 1e-11);
  EXPECT_NEAR(guarantee(0.2, 498'000, 100'000), 0.07854527189130015, 1e-11);
  EXPECT_NEAR(guarantee(1e-9, 100'000'000'000'000, 100'000), 0.50042052211100382, 1e-11);
}

TEST(SampleSize, KeepsItsDigitsInTheFarTail) {
  EXPECT_NEAR(guarantee(0.01, 1000, 100) / 8.2747768789139175e-65, 1.0, 1e-11);
  EXPECT_EQ(guarantee(0.2, 2000, 100), 1.0);
}

TEST(SampleSize, MatchesTheTabledFigures) {
  EXPECT_EQ(drawsNeeded(0.05, 0.999, 8), 387u);
  EXPECT_EQ(drawsNeeded(0.05, 0.999, 100), 2'658u);
  EXPECT_EQ(drawsNeeded(0.2, 0.999, 8), 92u);
}

TEST(SampleSize, RatioFallsWithTheNumberOfSlots) {
  double previous = 1e9;
  for (const uint32_t m : {1u, 2u, 8u, 100u, 10'000u, 100'000u}) {
    const double ratio = static_cast<double>(*drawsNeeded(0.2, 0.999, m)) / m;
    EXPECT_LT(ratio, previous) << m;
    previous = ratio;
  }
  EXPECT_NEAR(previous, 5.0, 0.1);
}

RC_GTEST_PROP(SampleSize, GuaranteeEqualsTheBinomialSum, ()) {
  const double p = *aFraction();
  const int n = *rc::gen::inRange(1, 60);
  const int m = *rc::gen::inRange(1, n + 1);
  const double expected = bruteForce(p, n, m);
  const double actual = guarantee(p, static_cast<uint64_t>(n), static_cast<uint32_t>(m));
  RC_ASSERT(std::abs(actual - expected) <= 1e-13);
  RC_ASSERT(std::abs(actual - expected) <= 1e-11 * expected);
}

RC_GTEST_PROP(SampleSize, IsTheSmallestNumberThatGivesTheConfidence, ()) {
  const double p = *aFraction();
  const double confidence = *aConfidence();
  const auto m = *rc::gen::inRange<uint32_t>(1, 300);
  const uint64_t draws = *drawsNeeded(p, confidence, m);
  RC_ASSERT(draws >= m);
  RC_ASSERT(guarantee(p, draws, m) >= confidence);
  RC_ASSERT(guarantee(p, draws - 1, m) < confidence);
}

RC_GTEST_PROP(SampleSize, FallsWithPAndRisesWithConfidenceAndSlots, ()) {
  const double p = *aFraction();
  const double confidence = *aConfidence();
  const auto m = *rc::gen::inRange<uint32_t>(1, 300);
  const uint64_t draws = *drawsNeeded(p, confidence, m);
  RC_ASSERT(*drawsNeeded(std::min(1.0, p + 0.01), confidence, m) <= draws);
  RC_ASSERT(*drawsNeeded(p, 1 - (1 - confidence) / 2, m) >= draws);
  RC_ASSERT(*drawsNeeded(p, confidence, m + 1) > draws);
}

TEST(LowerBound, IsZeroWithoutASuccessAndKnownInClosedFormAtTheEnds) {
  EXPECT_EQ(lowerBound(0, 32, 0.999), 0.0);
  EXPECT_EQ(lowerBound(0, 0, 0.999), 0.0);
  EXPECT_NEAR(lowerBound(8, 8, 0.999), std::pow(1e-3, 1.0 / 8), 1e-11);
  EXPECT_NEAR(lowerBound(1, 8, 0.999), -std::expm1(std::log1p(-1e-3) / 8), 1e-14);
}

RC_GTEST_PROP(LowerBound, IsWhereTheObservationBecomesASurprise, ()) {
  const int drawn = *rc::gen::inRange(1, 60);
  const int acceptable = *rc::gen::inRange(1, drawn + 1);
  const double confidence = *aConfidence();
  const double bound =
      lowerBound(static_cast<uint64_t>(acceptable), static_cast<uint64_t>(drawn), confidence);
  RC_ASSERT(std::abs(bruteForce(bound, drawn, acceptable) - (1 - confidence)) <= 1e-9 * (1 - confidence));
}

RC_GTEST_PROP(LowerBound, ComesCloserToTheShareAsDrawsGrow, ()) {
  const auto acceptable = *rc::gen::inRange<uint64_t>(1, 50);
  const auto drawn = *rc::gen::inRange<uint64_t>(acceptable, 60);
  const double few = lowerBound(acceptable, drawn, 0.999);
  const double many = lowerBound(100 * acceptable, 100 * drawn, 0.999);
  RC_ASSERT(few < many);
  RC_ASSERT(many < static_cast<double>(acceptable) / static_cast<double>(drawn));
}

}  // namespace tarcil::sample_size_test
