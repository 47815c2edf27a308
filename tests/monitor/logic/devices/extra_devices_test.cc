#include "monitor/logic/devices/extra_devices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tarcil::extra_devices_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const Extras kExtras = {{"gpus", 3}, {"tapes", 1}};

std::string problemOf(const std::vector<std::string>& arguments, const Extras& extras = kExtras) {
  std::vector<ExtraDevice> devices;
  for (const std::string& argument : arguments) {
    if (Status added = addExtraDevices(argument, extras, devices); !added) return added.error().message;
  }
  return "";
}

ExtraDevice device(const std::string& kind, std::optional<uint16_t> extra, const std::string& path,
                   DeviceNumber number) {
  return {kind, extra, {path, number}};
}

// gpus 0 and 1 with a device each and one that comes with any of them, and a tape with two names.
const std::vector<ExtraDevice> kDevices = {
    device("gpus", 0, "/dev/nvidia0", {false, 195, 0}),
    device("gpus", 1, "/dev/nvidia1", {false, 195, 1}),
    device("gpus", std::nullopt, "/dev/nvidiactl", {false, 195, 255}),
    device("tapes", std::nullopt, "/dev/st0", {true, 9, 0}),
    device("tapes", std::nullopt, "/dev/tape", {true, 9, 0}),
};

TEST(ExtraDevices, AreOneForEachExtraOrOneForAllOfAKind) {
  std::vector<ExtraDevice> devices;
  ASSERT_TRUE(addExtraDevices("gpus=/dev/dri/gpu{n}", kExtras, devices));
  ASSERT_TRUE(addExtraDevices("gpus=/dev/a=b", kExtras, devices));
  EXPECT_THAT(
      devices,
      ElementsAre(device("gpus", 0, "/dev/dri/gpu0", {}), device("gpus", 1, "/dev/dri/gpu1", {}),
                  device("gpus", 2, "/dev/dri/gpu2", {}), device("gpus", std::nullopt, "/dev/a=b", {})));
}

TEST(ExtraDevices, ThatCannotBeMeantAreRefused) {
  EXPECT_THAT(problemOf({"/dev/nvidia0"}), HasSubstr("'/dev/nvidia0' is no pair; write KIND=PATH"));
  EXPECT_THAT(problemOf({"disks=/dev/sda"}),
              HasSubstr("no extras of the kind 'disks'; give them too, as --extra disks=COUNT"));
  for (const std::string path :
       {"", "nvidia0", "/nvidia0", "/dev", "/dev/", "/dev//x", "/dev/../etc/x", "/dev/./x", "/dev/x/",
        "/dev/x/..", "/dev/a\nb", "/device", "/proc/self/fd/3"}) {
    EXPECT_THAT(problemOf({"gpus=" + path}), HasSubstr("is no path of a device; write one below /dev"))
        << path;
  }
  EXPECT_THAT(problemOf({"gpus=/dev/" + std::string(kMaxDevicePathBytes, 'x')}), HasSubstr("is no path"));
}

TEST(ExtraDevices, HaveEachPathOnce) {
  EXPECT_EQ(problemOf({"gpus=/dev/x", "gpus=/dev/x"}),
            "'/dev/x' is given twice, for any of gpus and any of gpus; keep one");
  EXPECT_EQ(problemOf({"gpus=/dev/x{n}", "tapes=/dev/x1"}),
            "'/dev/x1' is given twice, for gpus 1 and any of tapes; keep one");
}

TEST(ExtraDevices, AreBounded) {
  const Extras many = {{"gpus", kMaxExtra}};
  EXPECT_EQ(problemOf({"gpus=/dev/x{n}"}, many), "there are more than 1024 devices; leave some out");
  EXPECT_EQ(problemOf({"gpus=/dev/x{n}"}, {{"gpus", kMaxExtraDevices}}), "");
}

TEST(ExtraDevices, HaveOneOwnerEach) {
  EXPECT_TRUE(checkOwners(kDevices));
  std::vector<ExtraDevice> devices = kDevices;
  devices.push_back(device("gpus", 1, "/dev/st1", {true, 9, 0}));
  EXPECT_EQ(checkOwners(devices).error().message,
            "/dev/st1 (gpus 1) is the same device as /dev/st0 (any of tapes); keep one");
  devices.back() = device("gpus", std::nullopt, "/dev/one", {false, 195, 1});
  EXPECT_FALSE(checkOwners(devices)) << "of one kind, but of one and of any";
  devices.back() = device("gpus", 1, "/dev/block", {true, 195, 0});
  EXPECT_TRUE(checkOwners(devices)) << "a block device is no character device";
}

TEST(ExtraDevices, AreDeniedToWhoDoesNotHoldTheirExtra) {
  const DeviceNumber first{false, 195, 0}, second{false, 195, 1}, control{false, 195, 255}, tape{true, 9, 0};
  EXPECT_THAT(deniedDevices(kDevices, {}), ElementsAre(first, second, control, tape));
  EXPECT_THAT(deniedDevices(kDevices, {{"gpus", {1}}}), ElementsAre(first, tape));
  EXPECT_THAT(deniedDevices(kDevices, {{"gpus", {0, 1}}, {"tapes", {0}}}), IsEmpty());
  EXPECT_THAT(deniedDevices(kDevices, {{"gpus", {}}, {"tapes", {0}}}), ElementsAre(first, second, control));
  EXPECT_THAT(deniedDevices({}, {}), IsEmpty());
}

TEST(ExtraDevices, OfItsExtrasAreThereForATask) {
  EXPECT_THAT(grantedNodes(kDevices, {}), IsEmpty());
  EXPECT_THAT(grantedNodes(kDevices, {{"gpus", {1}}}), ElementsAre(kDevices[1].node, kDevices[2].node));
  EXPECT_THAT(grantedNodes(kDevices, {{"tapes", {0}}}), ElementsAre(kDevices[3].node, kDevices[4].node));
}

}  // namespace tarcil::extra_devices_test
