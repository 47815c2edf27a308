#include "core/decide/price.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace tarcil::price_test {

constexpr size_t kRemembered = 64;

Price priceOf(const std::vector<double>& offers) {
  Price price;
  for (double offer : offers) price.offered(offer);
  return price;
}

// In hundredths, so that equal ones are frequent.
std::vector<double> someOffers() {
  const auto hundredths = *rc::gen::nonEmpty(rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 101)));
  std::vector<double> offers(hundredths.size());
  std::ranges::transform(hundredths, offers.begin(), [](int value) { return value / 100.0; });
  return offers;
}

double meanAbove(const std::vector<double>& offers, double price) {
  double sum = 0;
  for (double offer : offers) sum += std::max(0.0, offer - price);
  return sum / static_cast<double>(offers.size());
}

TEST(Price, IsWhatIsLostByAnEmptyHandedWait) {
  EXPECT_EQ(Price().at(0, 10), 1) << "nothing was offered yet";
  EXPECT_EQ(priceOf({0.5}).at(3, 0), 0) << "no task runs that could end";
}

TEST(Price, OfOneOfferIsWhatIsLeftOfItAfterTheWait) {
  EXPECT_DOUBLE_EQ(priceOf({0.8}).at(0, 3), 0.8 * 3 / 4);
  EXPECT_DOUBLE_EQ(priceOf({0.8}).at(2, 3), 0.8 / 2);
}

TEST(Price, WhatIsOutsideCountsAsTheEndThere) {
  EXPECT_DOUBLE_EQ(priceOf({7}).at(0, 1), priceOf({1}).at(0, 1));
  EXPECT_EQ(priceOf({-7}).at(0, 1), 0);
}

RC_GTEST_PROP(Price, GainsByWaitingWhatWaitingCosts, ()) {
  std::vector<double> offers = someOffers();
  const double waiting = *rc::gen::inRange(0, 500), running = *rc::gen::inRange(1, 500);
  const double price = priceOf(offers).at(waiting, running);
  if (offers.size() > kRemembered) offers.erase(offers.begin(), offers.end() - kRemembered);
  RC_ASSERT(std::abs(meanAbove(offers, price) - price * (waiting + 1) / running) < 1e-9);
}

RC_GTEST_PROP(Price, FallsTheMoreWait, ()) {
  const Price price = priceOf(someOffers());
  const double waiting = *rc::gen::inRange(0, 500), running = *rc::gen::inRange(1, 500);
  RC_ASSERT(price.at(waiting + 1, running) <= price.at(waiting, running));
  RC_ASSERT(price.at(1e12, running) < 1e-6);
}

RC_GTEST_PROP(Price, NoOfferIsTooGoodToBeTaken, ()) {
  const std::vector<double> offers = someOffers();
  RC_ASSERT(priceOf(offers).at(0, 1'000) <= *std::ranges::max_element(offers));
}

}  // namespace tarcil::price_test
