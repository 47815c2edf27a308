#include "core/model/byte_resources.h"

#include <gtest/gtest.h>

namespace tarcil::byte_resources_test {

constexpr ByteSupply kSupply{.allocatable = {1000, 100}, .unitShare = {250, 25}};

TEST(ByteResources, AreTheShareOfTheUnitsWhereNothingIsAsked) {
  EXPECT_EQ(claimed({}, 1, kSupply), (ByteResources{250, 25}));
  EXPECT_EQ(claimed({{}, 2}, 3, kSupply), (ByteResources{750, 75}));
  EXPECT_EQ(claimed({}, 0, kSupply), ByteResources{});
}

TEST(ByteResources, AreWhatIsAskedAndTheShareOfUnitsThatCameLater) {
  EXPECT_EQ(claimed({{10, 0}, 2}, 2, kSupply), (ByteResources{10, 50}));
  EXPECT_EQ(claimed({{10, 7}, 2}, 3, kSupply), (ByteResources{260, 32}));
  EXPECT_EQ(claimed({{10, 7}, 2}, 1, kSupply), (ByteResources{10, 7})) << "the server has fewer units now";
}

TEST(ByteResources, AreNotClaimedWhereTheyAreNotCounted) {
  EXPECT_EQ(claimed({{10, 7}, 1}, 1, {.allocatable = {0, 100}, .unitShare = {0, 25}}), (ByteResources{0, 7}));
}

TEST(ByteResources, FitAsOftenAsTheScarcerAllows) {
  EXPECT_EQ(timesFitting({1000, 100}, {500, 0}, {250, 25}), 2u);
  EXPECT_EQ(timesFitting({1000, 100}, {0, 90}, {250, 25}), 0u);
  EXPECT_EQ(timesFitting({1000, 100}, {2000, 0}, {1, 0}), 0u) << "more is claimed than there is";
  EXPECT_EQ(timesFitting({0, 0}, {5, 5}, {1, 1}), UINT64_MAX) << "not counted";
  EXPECT_EQ(timesFitting({1000, 100}, {1000, 100}, {0, 0}), UINT64_MAX);
}

TEST(ByteResources, NameWhatIsShort) {
  EXPECT_EQ(shortage({1000, 100}, {}, {500, 50}, 2), ByteShortage::kNone);
  EXPECT_EQ(shortage({1000, 100}, {}, {500, 50}, 3), ByteShortage::kMemory);
  EXPECT_EQ(shortage({1000, 100}, {}, {100, 50}, 3), ByteShortage::kDisk);
}

TEST(ByteResources, OfTheLargestSizesDoNotOverflow) {
  constexpr uint64_t kExbibyte = uint64_t{1} << 60;
  EXPECT_EQ(shortage({kExbibyte, 0}, {}, {kExbibyte, 0}, 4096), ByteShortage::kMemory);
  EXPECT_EQ(timesFitting({kExbibyte, 0}, {kExbibyte - 1, 0}, {kExbibyte, 0}), 0u);
}

}  // namespace tarcil::byte_resources_test
