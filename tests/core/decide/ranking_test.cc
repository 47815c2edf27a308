#include "core/decide/ranking.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <vector>

namespace tarcil::ranking_test {

// The comparison of docs/design.md, written plainly.
TieBreak decidedBy(const Offer& a, const Offer& b, Ranking ranking, bool& firstIsBetter) {
  const auto by = [&firstIsBetter](TieBreak what, bool better) {
    firstIsBetter = better;
    return what;
  };
  if (a.standing != b.standing) return by(TieBreak::kStanding, a.standing < b.standing);
  if (ranking == Ranking::kQuality || ranking == Ranking::kLeastContended || ranking == Ranking::kWorth) {
    if (a.standing == Standing::kAcceptable) {
      if (a.preferred != b.preferred) return by(TieBreak::kPreferred, a.preferred);
      const double band = ranking == Ranking::kWorth ? 0.05 : 0.02;
      const int bandA = static_cast<int>((1 - a.performance) / band + 1e-12);
      const int bandB = static_cast<int>((1 - b.performance) / band + 1e-12);
      if (bandA != bandB) return by(TieBreak::kPerformance, bandA < bandB);
    } else if (a.performance != b.performance) {
      return by(TieBreak::kPerformance, a.performance > b.performance);
    }
    if (ranking == Ranking::kQuality && a.q != b.q) return by(TieBreak::kQ, a.q > b.q);
    if (ranking == Ranking::kLeastContended && a.contention != b.contention) {
      return by(TieBreak::kContention, a.contention < b.contention);
    }
  }
  if (ranking != Ranking::kChance && a.taken * int64_t{b.rus} != b.taken * int64_t{a.rus}) {
    return by(TieBreak::kLoad, a.taken * int64_t{b.rus} < b.taken * int64_t{a.rus});
  }
  return by(TieBreak::kChance, a.chance < b.chance);
}

// Ties and near ties are frequent. E is of whole points in 99, as componentwise S is, or any number.
Offer anOffer(Ranking ranking) {
  Offer offer;
  offer.standing = *rc::gen::element(Standing::kAcceptable, Standing::kFeasible, Standing::kInfeasible);
  offer.preferred = *rc::gen::inRange(0, 4) == 0;
  const int points = *rc::gen::element(99, 98, 97, 50, 1, 0);
  offer.performance = *rc::gen::element(1.0, 0.7) * (points / 99.0);
  if (*rc::gen::inRange(0, 4) == 0) offer.performance = *rc::gen::inRange(0, 1'000'001) / 1e6;
  if (*rc::gen::inRange(0, 4) == 0) offer.performance = std::nextafter(offer.performance, 0.0);
  // Differences in the first digit, in the last, and in those that the key just does not hold.
  offer.q = static_cast<Encoded>(*rc::gen::element<uint64_t>(0, 1, 9'999'999'999)) * 10'000'000'000ULL +
            *rc::gen::element<uint64_t>(0, 1, 4'095, 4'096, 9'999'999'999);
  offer.contention = *rc::gen::element<uint8_t>(0, 1, 98, 99);
  offer.rus = *rc::gen::element<uint16_t>(1, 2, 4, 4'096, 65'535);
  offer.taken = std::min(offer.rus, *rc::gen::element<uint16_t>(0, 1, 2, 4'096, 65'535));
  offer.chance = *rc::gen::inRange(0u, 3u);
  seal(offer, ranking);
  return offer;
}

RC_GTEST_PROP(Ranking, IsTheComparisonOfTheDesign, ()) {
  const auto ranking = *rc::gen::element(Ranking::kQuality, Ranking::kLeastContended, Ranking::kWorth,
                                         Ranking::kLoad, Ranking::kChance);
  const Offer a = anOffer(ranking), b = anOffer(ranking);
  bool firstIsBetter = false;
  const TieBreak by = decidedBy(a, b, ranking, firstIsBetter);
  RC_ASSERT(compare(a, b, ranking).by == by);
  RC_ASSERT(compare(a, b, ranking).firstIsBetter == firstIsBetter);
  RC_ASSERT(ranksBefore(a, b, ranking) == firstIsBetter);
  RC_TAG(static_cast<int>(by));
}

RC_GTEST_PROP(Ranking, IsAnOrder, ()) {
  const auto ranking = *rc::gen::element(Ranking::kQuality, Ranking::kLeastContended, Ranking::kWorth,
                                         Ranking::kLoad, Ranking::kChance);
  const Offer a = anOffer(ranking), b = anOffer(ranking), c = anOffer(ranking);
  const auto before = [ranking](const Offer& x, const Offer& y) { return ranksBefore(x, y, ranking); };
  const auto alike = [&](const Offer& x, const Offer& y) { return !before(x, y) && !before(y, x); };
  RC_ASSERT(!before(a, a));
  RC_ASSERT(!(before(a, b) && before(b, a)));
  if (before(a, b) && before(b, c)) RC_ASSERT(before(a, c));
  if (alike(a, b) && alike(b, c)) RC_ASSERT(alike(a, c));
}

TEST(Ranking, HasBandsOfTwoHundredths) {
  EXPECT_EQ(bandOf(1.0, Ranking::kQuality), 0);
  EXPECT_EQ(bandOf(0.985, Ranking::kQuality), 0);
  EXPECT_EQ(bandOf(0.975, Ranking::kQuality), 1);
  EXPECT_EQ(bandOf(0.0, Ranking::kQuality), 50);
  EXPECT_EQ(bandOf(0.96, Ranking::kWorth), 0);
  EXPECT_EQ(bandOf(0.94, Ranking::kWorth), 1);
}

}  // namespace tarcil::ranking_test
