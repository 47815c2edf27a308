#include "tests/model/masters_model.h"

#include <gtest/gtest.h>

#include <string>

namespace tarcil::masters_model {

// The steps, for whoever looks at a failure.
std::string told(const Outcome& outcome) {
  std::string text = std::to_string(outcome.states) + " states";
  for (const std::string& step : outcome.steps) text += "\n  " + step;
  return text;
}

TEST(MastersModel, HoldsWhateverHappensToMessagesMastersAndTime) {
  const Outcome outcome = search({}, {});
  EXPECT_EQ(outcome.violation, "") << told(outcome);
  EXPECT_GT(outcome.states, 100'000u) << "the bounds leave nothing to search";
}

TEST(MastersModel, HoldsWithThreeMessagesOnTheirWay) {
  const Outcome outcome = search({}, {.batches = 1, .messages = 3});
  EXPECT_EQ(outcome.violation, "") << told(outcome);
  EXPECT_GT(outcome.states, 100'000u) << "the bounds leave nothing to search";
}

struct Planted {
  const char* name;
  Bugs bugs;
  const char* violation;
  Bounds bounds = {};
};

class PlantedBug : public testing::TestWithParam<Planted> {};

TEST_P(PlantedBug, IsFound) {
  const Outcome outcome = search(GetParam().bugs, GetParam().bounds);
  EXPECT_EQ(outcome.violation, GetParam().violation) << told(outcome);
}

INSTANTIATE_TEST_SUITE_P(
    MastersModel, PlantedBug,
    testing::Values(
        Planted{"FencingLeftOut", {.noFencing = true}, "a deposed leader's batch is among its successor's"},
        Planted{"GateBeforeThePut", {.gateBeforePut = true}, "acknowledged, and not written"},
        Planted{"JournalFoldedTwice",
                {.foldedTwice = true},
                "the records are not what was written",
                {.end = 0, .terms = 1, .batches = 3}},
        Planted{"LeaseCountedFromTheAnswer",
                {.leaseFromAnswer = true},
                "told after a later leader has told something"},
        Planted{"StaleStandby", {.staleStandby = true}, "tells a state without what was acknowledged"},
        Planted{"OutcomeGuessed", {.outcomeGuessed = true}, "acknowledged, and not written"}),
    [](const testing::TestParamInfo<Planted>& planted) { return planted.param.name; });

}  // namespace tarcil::masters_model
