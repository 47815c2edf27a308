#include "monitor/container/disk_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace tarcil::disk_weights_test {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kGuest = TARCIL_RECORDED "/guest-v1/sys";
constexpr const char* kServer = TARCIL_RECORDED "/written-v2/sys";  // sda with BFQ, nvme0n1 with none

std::string ioCostOfServer() {
  std::ostringstream text;
  text << std::ifstream(TARCIL_RECORDED "/written-v2/cgroup/io.cost.qos").rdbuf();
  return text.str();
}

TEST(DiskWeights, TheSchedulerInForceIsTheMarkedOne) {
  EXPECT_EQ(schedulerInForce("none [mq-deadline] kyber bfq"), "mq-deadline");
  EXPECT_EQ(schedulerInForce("[none] mq-deadline"), "none");
  for (const char* text : {"", "none", "]none[", "[none"}) EXPECT_EQ(schedulerInForce(text), "") << text;
}

TEST(DiskWeights, IoCostCountsWhereItIsSwitchedOn) {
  EXPECT_THAT(disksUnderIoCost(ioCostOfServer()), ElementsAre("259:0"));
  EXPECT_THAT(disksUnderIoCost(""), IsEmpty());
  EXPECT_THAT(disksUnderIoCost("\nenable=1\n8:0\n"), IsEmpty());
}

TEST(DiskWeights, AFileDoesNothingOnDisksOfOtherSchedulers) {
  EXPECT_THAT(disksWithout(kWeightFilesV1[0], kGuest, ""), ElementsAre("vda"));
  EXPECT_THAT(disksWithout(kWeightFilesV2[0], kServer, ioCostOfServer()), ElementsAre("nvme0n1"));
  EXPECT_THAT(disksWithout(kWeightFilesV2[1], kServer, ioCostOfServer()), ElementsAre("sda"));
  EXPECT_THAT(disksWithout(kWeightFilesV2[1], kServer, ""), ElementsAre("nvme0n1", "sda"));
}

}  // namespace tarcil::disk_weights_test
