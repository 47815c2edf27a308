#include "master/logic/queue/ahead.h"

#include <gtest/gtest.h>

namespace tarcil::master::ahead_test {

constexpr Wanted kNarrow{.slots = 3}, kWide{.slots = 2, .rus = 4}, kGang{.slots = 10, .isGang = true};

Ahead ofAll() {
  Ahead ahead;
  for (const Wanted& wanted : {kNarrow, kWide, kGang}) ahead.add(wanted);
  return ahead;
}

TEST(Ahead, CountsJobsAndUnits) {
  EXPECT_EQ(ofAll().jobs(), 3u);
  EXPECT_EQ(ofAll().units(), 3u + 8u + 10u);
}

TEST(Ahead, SlotsOfItsOwnSizeAndLargerOnesComeBeforeAJob) {
  EXPECT_EQ(ofAll().slotsBefore({.slots = 1}), 3u + 2u * 4u);
  EXPECT_EQ(ofAll().slotsBefore({.slots = 1, .rus = 2}), 2u * 2u);
  EXPECT_EQ(ofAll().slotsBefore({.slots = 1, .rus = 4}), 2u);
  EXPECT_EQ(ofAll().slotsBefore({.slots = 1, .rus = 3}), 2u) << "it takes slots of four as well";
  EXPECT_EQ(ofAll().slotsBefore({.slots = 1, .rus = 8}), 0u);
}

TEST(Ahead, EverythingComesBeforeAGang) {
  EXPECT_EQ(ofAll().slotsBefore({.slots = 5, .isGang = true}), 21u);
  EXPECT_EQ(ofAll().slotsBefore({.slots = 5, .rus = 7, .isGang = true}), 3u);
}

}  // namespace tarcil::master::ahead_test
