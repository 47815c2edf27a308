#include "classifier/tolerance_search.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace tarcil::tolerance_search_test {

// A command that keeps its speed up to a pressure and then loses so much with each point.
struct Command {
  int bears = 0;
  double lossOfAPoint = 0;

  double performanceAt(int pressure) const {
    return std::max(0.0, 1 - std::max(0, pressure - bears) * lossOfAPoint);
  }
  // The highest pressure at which it reaches the target.
  int tolerates(double target) const {
    int pressure = 0;
    while (pressure < kMaxPressure && performanceAt(pressure + 1) >= target) ++pressure;
    return pressure;
  }
};

struct Search {
  Tolerance tolerance;
  int probes = 0;
};

Search searchOf(const Command& command, const ToleranceOptions& options, int most = kMaxPressure) {
  ToleranceSearch search(options);
  int probes = 0;
  while (const auto intensity = search.next()) {
    const int reached = std::min(*intensity, most);
    search.saw(*intensity, reached, command.performanceAt(reached));
    ++probes;
  }
  return {search.result(), probes};
}

TEST(ToleranceSearch, NeedsOneProbeForACommandThatBearsAll) {
  const Search search = searchOf({99, 0.1}, {});
  EXPECT_EQ(search.probes, 1);
  EXPECT_EQ(search.tolerance.tolerated, 99);
  EXPECT_TRUE(search.tolerance.bearsAll());
}

TEST(ToleranceSearch, TakesTheMostThatThereCanBeForAll) {
  const Search search = searchOf({60, 0.1}, {}, 48);
  EXPECT_EQ(search.tolerance.tolerated, 99);
  EXPECT_EQ(search.tolerance.strongest, 48);
}

TEST(ToleranceSearch, LooksBelowWhatTheKernelReached) {
  const Search search = searchOf({10, 0.01}, {}, 48);
  EXPECT_NEAR(search.tolerance.tolerated, 15, 4);
  EXPECT_LE(search.tolerance.tooMuch, 48);
}

TEST(ToleranceSearch, FindsAStraightFallInThreeProbes) {
  const Search search = searchOf({0, 0.005}, {.probes = 3});
  EXPECT_EQ(search.probes, 3);
  EXPECT_NEAR(search.tolerance.tolerated, 10, 2);
}

TEST(ToleranceSearch, SaysZeroForACommandThatBearsNothing) {
  EXPECT_LE(searchOf({0, 0.5}, {.probes = 12}).tolerance.tolerated, 1);
}

TEST(ToleranceSearch, AsksOnceMoreBeforeItBelievesThatFullPressureIsTooMuch) {
  ToleranceSearch search({});
  search.saw(99, 99, 0.9);
  EXPECT_EQ(search.next(), 99);
  search.saw(99, 99, 0.97);
  EXPECT_FALSE(search.next());
  EXPECT_TRUE(search.result().bearsAll());
  EXPECT_EQ(search.result().performance, 0.97);
}

TEST(ToleranceSearch, TakesTheBetterOfTwoAtFullPressure) {
  ToleranceSearch search({});
  search.saw(99, 99, 0.9);
  search.saw(99, 99, 0.7);
  EXPECT_EQ(search.result().performance, 0.9);
}

TEST(ToleranceSearch, TrustsTheLowerOfTwoThatContradict) {
  ToleranceSearch search({});
  search.saw(99, 99, 0.5);
  search.saw(99, 99, 0.5);
  search.saw(40, 40, 0.9);   // too much
  search.saw(60, 60, 0.99);  // borne, which cannot be
  EXPECT_LT(search.result().tolerated, 40);
}

TEST(ToleranceSearch, ConcludesNothingFromAKernelThatWasKeptFromItsCores) {
  const Tolerance borne = searchOf({99, 0.1}, {}, 10).tolerance;
  EXPECT_TRUE(wasHeldBack(borne, 50));
  EXPECT_FALSE(wasHeldBack(borne, 12));
  // What was too much for the command was too much, however little it was.
  EXPECT_FALSE(wasHeldBack(searchOf({0, 0.1}, {}, 10).tolerance, 50));
}

TEST(ToleranceSearch, KnowsNothingBeforeTheFirstProbe) {
  EXPECT_EQ(ToleranceSearch({}).result().tolerated, 0);
}

RC_GTEST_PROP(ToleranceSearch, EndsWithinItsPrecisionWhateverTheFall, ()) {
  const Command command = {*rc::gen::inRange(0, 100), *rc::gen::inRange(1, 100) / 200.0};
  const ToleranceOptions options = {.target = 0.95, .probes = 40, .precision = 4};
  const Search search = searchOf(command, options);
  RC_ASSERT(search.probes <= 20);
  const int truth = command.tolerates(options.target);
  RC_ASSERT(std::abs(search.tolerance.tolerated - truth) <= options.precision + 1);
}

RC_GTEST_PROP(ToleranceSearch, NeverAsksOutsideItsBracketWhateverItSees, ()) {
  ToleranceSearch search({.probes = 20});
  while (const auto intensity = search.next()) {
    RC_ASSERT(*intensity >= 1 && *intensity <= kMaxPressure);
    search.saw(*intensity, *rc::gen::inRange(0, *intensity + 1), *rc::gen::inRange(0, 200) / 100.0);
    const Tolerance result = search.result();
    RC_ASSERT(result.tolerated >= 0 && result.tolerated <= kMaxPressure);
    RC_ASSERT(result.borne <= result.tooMuch);
  }
}

}  // namespace tarcil::tolerance_search_test
