#include "core/decide/options.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

namespace tarcil::decide_options_test {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

TEST(QualitySettings, DefaultsAreValid) {
  EXPECT_THAT(problems(QualitySettings{}), IsEmpty());
}

TEST(QualitySettings, NamesFieldValueAndRemedy) {
  QualitySettings settings;
  settings.target = 1.5;
  EXPECT_THAT(problems(settings),
              ElementsAre("target: 1.5 is out of range; write a number above 0 and at most 1, such as 0.95"));
  settings = {};
  settings.cap = 0;
  EXPECT_THAT(problems(settings),
              ElementsAre("cap: 0 is out of range; write a whole number from 1 to 10000"));
}

TEST(QualitySettings, ReportsEverythingAtOnce) {
  QualitySettings settings;
  settings.target = 0;
  settings.rarity = 0.00009;
  settings.confidence = 1;
  settings.cap = 10'001;
  settings.floor = 0;
  settings.ratio = 100'001;
  settings.margin = -1;
  settings.noiseFloor = 100;
  settings.neighbourFloor = 0;
  EXPECT_THAT(problems(settings),
              ElementsAre(StartsWith("target: 0 "), StartsWith("confidence: 1 "), StartsWith("rarity: "),
                          StartsWith("cap: 10001 "), StartsWith("floor: 0 "), StartsWith("ratio: 100001 "),
                          StartsWith("margin: -1 "), StartsWith("noise_floor: 100 "),
                          StartsWith("neighbour_floor: 0 ")));
}

TEST(QualitySettings, AcceptsTheEdgesOfEveryRange) {
  QualitySettings settings;
  settings.target = 1;
  settings.rarity = 1;
  settings.confidence = std::nextafter(1.0, 0.0);
  settings.cap = 10'000;
  settings.floor = 100'000;
  settings.ratio = 100'000;
  settings.margin = 99;
  settings.noiseFloor = 99;
  EXPECT_THAT(problems(settings), IsEmpty());
  settings.target = std::numeric_limits<double>::min();
  settings.confidence = std::numeric_limits<double>::min();
  settings.rarity = 0.0001;
  settings.cap = 1;
  settings.floor = 1;
  settings.ratio = 1;
  settings.margin = settings.noiseFloor = 0;
  EXPECT_THAT(problems(settings), IsEmpty());
}

TEST(QualitySettings, RefusesWhatIsNotANumber) {
  QualitySettings settings;
  settings.target = std::nan("");
  settings.confidence = std::numeric_limits<double>::infinity();
  EXPECT_THAT(problems(settings), ElementsAre(AllOf(StartsWith("target: nan"), HasSubstr("write a number")),
                                              StartsWith("confidence: inf")));
}

TEST(QualitySettings, RefusesARatioOfZeroRatherThanTakingItForUnset) {
  QualitySettings settings;
  settings.ratio = 0;
  EXPECT_THAT(problems(settings), ElementsAre(StartsWith("ratio: 0 ")));
}

}  // namespace tarcil::decide_options_test
