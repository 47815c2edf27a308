#include "monitor/logic/images/image_removal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace tarcil::image_removal_test {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

const WallTime kNow{std::chrono::hours(24 * 20'000)};
constexpr KeepImages kKeep{24h, 100};

TEST(ImageRemoval, TakesWhatNobodyHasUsedForLong) {
  const std::vector<KeptImage> images = {{"a", 1, kNow - 25h}, {"b", 1, kNow - 24h}, {"c", 1, kNow - 25h}};
  EXPECT_THAT(imagesToRemove(images, {"c"}, kKeep, kNow), ElementsAre("a"));
}

TEST(ImageRemoval, TakesTheOneUsedLongestAgoWhereThereIsTooMuch) {
  const std::vector<KeptImage> images = {{"new", 60, kNow}, {"old", 30, kNow - 2h}, {"older", 30, kNow - 3h}};
  EXPECT_THAT(imagesToRemove(images, {}, kKeep, kNow), ElementsAre("older"));
  EXPECT_THAT(imagesToRemove(images, {"older"}, kKeep, kNow), ElementsAre("old"));
  EXPECT_THAT(imagesToRemove(images, {"older", "old", "new"}, kKeep, kNow), IsEmpty());
}

RC_GTEST_PROP(ImageRemoval, LeavesWhatIsUsedAndNoMoreThanItHasTo, ()) {
  std::vector<KeptImage> images;
  std::set<std::string> inUse;
  const int count = *rc::gen::inRange(0, 8);
  for (int i = 0; i < count; ++i) {
    const auto age = std::chrono::hours(*rc::gen::inRange(0, 48));
    images.push_back({std::to_string(i), *rc::gen::inRange<uint64_t>(0, 80), kNow - age});
    if (*rc::gen::arbitrary<bool>()) inUse.insert(std::to_string(i));
  }
  const auto removed = imagesToRemove(images, inUse, kKeep, kNow);
  uint64_t left = 0, idleLeft = 0;
  for (const KeptImage& image : images) {
    const bool isRemoved = std::ranges::find(removed, image.digest) != removed.end();
    if (!isRemoved) left += image.bytes;
    if (inUse.contains(image.digest)) {
      RC_ASSERT(!isRemoved);
    } else if (!isRemoved) {
      RC_ASSERT(kNow - image.lastUsed <= kKeep.age);
      idleLeft += image.bytes;
    }
  }
  RC_ASSERT(left <= kKeep.bytes || idleLeft == 0);
}

}  // namespace tarcil::image_removal_test
