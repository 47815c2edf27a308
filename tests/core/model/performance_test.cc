#include "core/model/performance.h"

#include <gtest/gtest.h>

#include <limits>

namespace tarcil::performance_test {

TEST(Performance, ACauseInWordsNamesWhoAndOnWhat) {
  Cause cause{Cause::Kind::kMemoryLimit, std::nullopt, 0, 1, ""};
  EXPECT_EQ(textOf(cause, ""), "memory_limit");
  cause = {Cause::Kind::kBackground, Resource::kCore, 0, 1, "not said"};
  EXPECT_EQ(textOf(cause, ""), "background on core");
  cause = {Cause::Kind::kNeighbour, Resource::kLlc, 7, 1, ""};
  EXPECT_EQ(textOf(cause, "task 3 of sort"), "neighbour task 3 of sort on llc");
}

TEST(Performance, ThePartOfWhatIsExpectedIsOneAtMostAndNoneOfNonsense) {
  const auto part = [](double measured, double expected) {
    Violation violation;
    violation.expected = expected;
    violation.measured = measured;
    return partOfExpected(violation);
  };
  EXPECT_EQ(part(50, 100), 0.5);
  EXPECT_EQ(part(200, 100), 1);
  EXPECT_EQ(part(0, 100), 0);
  EXPECT_EQ(part(50, 0), 0);
  EXPECT_EQ(part(-50, -100), 0);
  EXPECT_EQ(part(std::numeric_limits<double>::quiet_NaN(), 100), 0);
}

}  // namespace tarcil::performance_test
