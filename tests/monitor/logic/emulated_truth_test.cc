#include "monitor/logic/emulated_truth.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tarcil::emulated_truth_test {

using testing::HasSubstr;
using Amounts = std::array<double, kResources>;

constexpr auto kLlc = static_cast<size_t>(Resource::kLlc);

LaunchSpec bearing(uint8_t llc) {
  LaunchSpec spec;
  spec.tolerated.fill(kMaxPressure);
  spec.tolerated[kLlc] = llc;
  return spec;
}

Amounts pressing(double llc) {
  Amounts interference{};
  interference[kLlc] = llc / kMaxPressure;
  return interference;
}

double speedBeside(const LaunchSpec& spec, double llc, const Share& share = fullShare(), size_t units = 1) {
  return speedOf(*natureOf(spec), pressing(llc), share, units);
}

TEST(EmulatedTruth, ATaskIsAtFullSpeedUpToWhatItBears) {
  EXPECT_DOUBLE_EQ(speedBeside(bearing(40), 0), 1);
  EXPECT_DOUBLE_EQ(speedBeside(bearing(40), 40), 1);
}

TEST(EmulatedTruth, BeyondThatItSlowsMoreAndMore) {
  const double some = 1 / speedBeside(bearing(40), 60) - 1, more = 1 / speedBeside(bearing(40), 80) - 1;
  EXPECT_GT(some, 0.1);
  EXPECT_GT(more, 2 * some);
}

TEST(EmulatedTruth, PlatformsWithMoreOfItSlowLessAndPrivateOnesNotAtAll) {
  Share half = fullShare(), none = fullShare();
  half[kLlc] = kShareUnit / 2;
  none[kLlc] = 0;
  EXPECT_LT(speedBeside(bearing(40), 90), 1);
  EXPECT_DOUBLE_EQ(speedBeside(bearing(40), 90, half), 1);
  EXPECT_DOUBLE_EQ(speedBeside(bearing(0), 99, none), 1);
}

TEST(EmulatedTruth, TheEnvironmentTakesThePlaceOfTheProfile) {
  LaunchSpec spec = bearing(0);
  spec.caused[kLlc] = 90;
  spec.env = {{"TARCIL_EMULATE_CAUSED", "llc=33,core=1"}, {"TARCIL_EMULATE_TOLERATED", "llc=66"}};
  const auto nature = natureOf(spec);
  ASSERT_TRUE(nature.ok());
  EXPECT_DOUBLE_EQ(nature->pressure[kLlc], 33.0 / 99);
  EXPECT_DOUBLE_EQ(nature->pressure[0], 1.0 / 99);
  EXPECT_DOUBLE_EQ(nature->need[kLlc], 33.0 / 99);
  EXPECT_DOUBLE_EQ(nature->need[0], 0);
}

TEST(EmulatedTruth, TooFewCoresMakeItSlower) {
  LaunchSpec spec = bearing(99);
  spec.env = {{"TARCIL_EMULATE_CORES", "4"}};
  EXPECT_DOUBLE_EQ(speedBeside(spec, 0, fullShare(), 1), 0.25);
  EXPECT_DOUBLE_EQ(speedBeside(spec, 0, fullShare(), 4), 1);
  EXPECT_DOUBLE_EQ(speedBeside(spec, 0, fullShare(), 8), 1);
}

TEST(EmulatedTruth, NamesAVariableThatCannotBeRead) {
  for (const char* wrong : {"llc", "llc=", "llc=100", "cache=5", "llc=5;core=1", "llc=-1", "llc=5x"}) {
    LaunchSpec spec = bearing(99);
    spec.env = {{"TARCIL_EMULATE_CAUSED", wrong}};
    const auto nature = natureOf(spec);
    ASSERT_FALSE(nature.ok()) << wrong;
    EXPECT_THAT(nature.error().message, HasSubstr("TARCIL_EMULATE_CAUSED: is '")) << wrong;
  }
  for (const char* wrong : {"", "0", "-1", "nan", "many", "5000"}) {
    LaunchSpec spec = bearing(99);
    spec.env = {{"TARCIL_EMULATE_CORES", wrong}};
    EXPECT_FALSE(natureOf(spec).ok()) << wrong;
  }
}

}  // namespace tarcil::emulated_truth_test
