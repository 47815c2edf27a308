#include "monitor/logic/pressure/resctrl_limits.h"

#include <gtest/gtest.h>

namespace tarcil::resctrl_limits_test {

const CacheControls kAll{2, CacheControls::Bandwidth{10, 10}};

std::string limited(const char* root, double ways, double bandwidth, const CacheControls& controls = kAll) {
  const auto schemata = limitedSchemata({"schemata", root}, controls, ways, bandwidth);
  return schemata ? *schemata : schemata.error().message;
}

TEST(ResctrlLimits, AreTheLowestWaysAndTheNextStepOfTheBandwidth) {
  const char* const root = "    MB:0=100;1=100\n    L3:0=fffff;1=fffff\n";
  EXPECT_EQ(limited(root, 0.5, 0.25), "MB:0=30;1=30\nL3:0=3ff;1=3ff\n");
  EXPECT_EQ(limited(root, 1, 1), "MB:0=100;1=100\nL3:0=fffff;1=fffff\n") << "what the root has";
}

TEST(ResctrlLimits, AreNoLessThanTheProcessorTakes) {
  EXPECT_EQ(limited("MB:0=100\nL3:0=fffff\n", 0.02, 0.02), "MB:0=10\nL3:0=3\n");
  EXPECT_EQ(limited("MB:0=5\nL3:0=1\n", 0.02, 0.02), "MB:0=5\nL3:0=1\n") << "and no more than the root has";
}

TEST(ResctrlLimits, AreOfTheWaysThatTheRootHas) {
  EXPECT_EQ(limited("L3:0=ff00;1=f\n", 0.5, 1, {1, {}}), "L3:0=f00;1=3\n");
}

TEST(ResctrlLimits, OfCodeAndDataApartAreBoth) {
  EXPECT_EQ(limited("L3CODE:0=ff\nL3DATA:0=ff\nL2:0=ff\n", 0.5, 1, {1, {}}), "L3CODE:0=f\nL3DATA:0=f\n");
}

TEST(ResctrlLimits, OfWhatCannotBeLimitedAreRefused) {
  EXPECT_FALSE(limitedSchemata({"schemata", "L3:0=ff\n"}, {1, {}}, 1, 0.5).ok());
  EXPECT_FALSE(
      limitedSchemata({"schemata", "MB:0=100\n"}, {{}, CacheControls::Bandwidth{10, 10}}, 0.5, 1).ok());
}

TEST(ResctrlLimits, OfALineThatMakesNoSenseNameIt) {
  for (const char* line :
       {"L3:", "L3", "L3:0", "L3:0=", "L3:0=xyz", "L3:0=0", "MB:0=all", "MB:0=2048", "L3:0=ff;;1=ff"}) {
    const std::string root = std::string("L3:0=ff\n") + line + "\n";
    EXPECT_EQ(limited(root.c_str(), 0.5, 0.5), "schemata:2: not the limits of cache domains") << line;
  }
}

}  // namespace tarcil::resctrl_limits_test
