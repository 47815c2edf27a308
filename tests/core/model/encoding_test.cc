#include "core/model/encoding.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "tests/core/model/generators.h"

namespace tarcil::encoding_test {

Pressure inOrder(const Pressure& pressure, const Order& order) {
  Pressure sorted{};
  for (size_t i = 0; i < sorted.size(); ++i) sorted[i] = pressure[order[i]];
  return sorted;
}

TEST(Encoding, EncodesThePapersExample) {
  EXPECT_EQ(digits(encode({84, 31}, orderOf({84, 31}))), "84310000000000000000");
  EXPECT_EQ(digits(encode({31, 84}, orderOf({31, 84}))), "84310000000000000000");
}

TEST(Encoding, SpansTheWholeRangeOfTwentyDigits) {
  const Order order = orderOf({});
  EXPECT_EQ(encode(Profile::filled(99), order), kEncodedMax);
  EXPECT_EQ(digits(kEncodedMax), "99999999999999999999");
  EXPECT_EQ(digits(encode({}, order)), "00000000000000000000");
  EXPECT_EQ(normalized(kEncodedMax), 1.0);
  EXPECT_EQ(normalized(0), 0.0);
}

TEST(Encoding, TellsTheLeastCriticalPointApartWhereADoubleDoesNot) {
  const Order order = orderOf({});
  Pressure pressure = Profile::filled(99);
  pressure[9] = 98;
  EXPECT_LT(encode(pressure, order), kEncodedMax);
  EXPECT_EQ(digits(encode(pressure, order)), "99999999999999999998");
  EXPECT_EQ(normalized(encode(pressure, order)), 1.0);
}

TEST(Encoding, OrdersByFallingDemandAndTiesByIndex) {
  EXPECT_EQ(orderOf({5, 7, 5, 99, 0, 7, 0, 0, 5, 1}), (Order{3, 1, 5, 0, 2, 8, 9, 4, 6, 7}));
}

RC_GTEST_PROP(Encoding, KeepsLexicographicOrder, ()) {
  const Order order = orderOf(*aPressure());
  const Pressure a = *aPressure();
  // A shared start of random length makes the later digits decide too.
  Pressure b = *aPressure();
  const int shared = *rc::gen::inRange(0, kResources + 1);
  for (int i = 0; i < shared; ++i) b[order[static_cast<size_t>(i)]] = a[order[static_cast<size_t>(i)]];
  RC_ASSERT((encode(a, order) < encode(b, order)) == (inOrder(a, order) < inOrder(b, order)));
  RC_ASSERT((encode(a, order) == encode(b, order)) == (a == b));
}

RC_GTEST_PROP(Encoding, DigitsArePressuresInOrder, ()) {
  const Order order = orderOf(*aPressure());
  const Pressure pressure = *aPressure();
  const std::string text = digits(encode(pressure, order));
  RC_ASSERT(text.size() == 20u);
  for (size_t i = 0; i < kResources; ++i) {
    RC_ASSERT(std::stoi(text.substr(2 * i, 2)) == int{pressure[order[i]]});
  }
}

RC_GTEST_PROP(Encoding, OrderIsAPermutationThatNeverRises, ()) {
  const Pressure demand = *aPressure();
  const Order order = orderOf(demand);
  RC_ASSERT(std::set<int>(order.begin(), order.end()).size() == size_t{kResources});
  const Pressure sorted = inOrder(demand, order);
  RC_ASSERT(std::is_sorted(sorted.rbegin(), sorted.rend()));
}

}  // namespace tarcil::encoding_test
