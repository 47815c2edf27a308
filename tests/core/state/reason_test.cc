#include "core/state/reason.h"

#include <gtest/gtest.h>

namespace tarcil::reason_test {

TEST(AReason, IsCutToItsBoundInFrontOfACharacter) {
  EXPECT_EQ(asReason("no free unit"), "no free unit");
  EXPECT_EQ(asReason(std::string(kMaxReasonBytes, 'x')), std::string(kMaxReasonBytes, 'x'));
  const std::string cut = asReason(std::string(kMaxReasonBytes + 1, 'x'));
  EXPECT_EQ(cut, std::string(kMaxReasonBytes - 3, 'x') + "...");
  std::string wide = "x";
  while (wide.size() <= kMaxReasonBytes) wide += "\u00fc";
  const std::string whole = asReason(wide);
  EXPECT_EQ(whole, wide.substr(0, kMaxReasonBytes - 3) + "...") << "a character ends there";
  const std::string shifted = asReason("x" + wide);
  EXPECT_EQ(shifted, ("x" + wide).substr(0, kMaxReasonBytes - 4) + "...");
}

}  // namespace tarcil::reason_test
