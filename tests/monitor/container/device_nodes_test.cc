#include "monitor/container/device_nodes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tarcil::device_nodes_test {

using testing::HasSubstr;

const Extras kExtras = {{"gpus", 2}, {"tapes", 1}};

std::string problemOf(const std::vector<std::string>& arguments) {
  return findExtraDevices(arguments, kExtras).error().message;
}

TEST(DeviceNodes, AreLookedUp) {
  const auto devices = findExtraDevices({"gpus=/dev/null", "tapes=/dev/full"}, kExtras);
  ASSERT_TRUE(devices) << devices.error().message;
  ASSERT_EQ(devices->size(), 2u);
  EXPECT_EQ((*devices)[0].node.number, (DeviceNumber{false, 1, 3}));
  EXPECT_EQ((*devices)[1].node.number, (DeviceNumber{false, 1, 7}));
  EXPECT_EQ((*devices)[0].node.permissions, 0666u);
  EXPECT_TRUE(findExtraDevices({}, {})->empty());
}

TEST(DeviceNodes, ThatAreNoneAreRefused) {
  EXPECT_THAT(problemOf({"gpus=/dev/null", "gpus=/dev/no-such-{n}"}),
              HasSubstr("/dev/no-such-0 cannot be looked up: No such file or directory"));
  EXPECT_THAT(problemOf({"gpus=/dev/shm"}), HasSubstr("/dev/shm is no device"));
  EXPECT_THAT(problemOf({"gpus"}), HasSubstr("is no pair"));
}

}  // namespace tarcil::device_nodes_test
