#include "master/logic/queue/demand_ahead.h"

#include <gtest/gtest.h>

namespace tarcil::master::demand_ahead_test {

constexpr Wanted kNarrow{.slots = 3}, kWide{.slots = 2, .rus = 4}, kGang{.slots = 10, .isGang = true};

DemandAhead ofAll() {
  DemandAhead ahead;
  for (const Wanted& wanted : {kNarrow, kWide, kGang}) ahead.add(wanted);
  return ahead;
}

TEST(DemandAhead, CountsJobsAndUnits) {
  EXPECT_EQ(ofAll().jobs(), 3u);
  EXPECT_EQ(ofAll().units(), 3u + 8u + 10u);
}

TEST(DemandAhead, SlotsOfItsOwnSizeAndLargerOnesComeBeforeAJob) {
  EXPECT_EQ(ofAll().slotsBefore({.slots = 1}), 3u + 2u * 4u);
  EXPECT_EQ(ofAll().slotsBefore({.slots = 1, .rus = 2}), 2u * 2u);
  EXPECT_EQ(ofAll().slotsBefore({.slots = 1, .rus = 4}), 2u);
  EXPECT_EQ(ofAll().slotsBefore({.slots = 1, .rus = 3}), 2u) << "it takes slots of four as well";
  EXPECT_EQ(ofAll().slotsBefore({.slots = 1, .rus = 8}), 0u);
}

TEST(DemandAhead, EverythingComesBeforeAGang) {
  EXPECT_EQ(ofAll().slotsBefore({.slots = 5, .isGang = true}), 21u);
  EXPECT_EQ(ofAll().slotsBefore({.slots = 5, .rus = 7, .isGang = true}), 3u);
}

}  // namespace tarcil::master::demand_ahead_test
