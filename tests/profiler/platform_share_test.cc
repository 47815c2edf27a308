// What calibrations of two servers say of the share of a platform.
#include "profiler/platform_share.h"

#include <gtest/gtest.h>

namespace tarcil::platform_share_test {

CalibratedServer withPeak(double peak) {
  CalibratedServer server;
  server.memoryBytes = uint64_t{1} << 30;
  server.calibration.llcBytes = uint64_t{1} << 20;
  for (ResourceCalibration& resource : server.calibration.resources) resource.peak = peak;
  return server;
}

std::optional<double> share(Resource resource, const CalibratedServer& server,
                            const CalibratedServer& reference) {
  return sharesOf(server, reference)[static_cast<size_t>(resource)].share;
}

TEST(PlatformShares, AreWhatTheReferenceHasByWhatThePlatformHas) {
  CalibratedServer large = withPeak(400);
  const CalibratedServer reference = withPeak(100);
  large.memoryBytes *= 2;
  large.calibration.llcBytes *= 8;
  EXPECT_EQ(share(Resource::kMemoryBandwidth, large, reference), 0.25);
  EXPECT_EQ(share(Resource::kDiskBandwidth, large, reference), 0.25);
  EXPECT_EQ(share(Resource::kMemoryCapacity, large, reference), 0.5);
  EXPECT_EQ(share(Resource::kLlc, large, reference), 0.125);
  EXPECT_EQ(share(Resource::kMemoryBandwidth, reference, reference), 1);
  EXPECT_EQ(share(Resource::kMemoryBandwidth, reference, large), kMaxShare);
  EXPECT_EQ(share(Resource::kMemoryBandwidth, withPeak(1), large), kMaxShare) << "the most there is";
}

TEST(PlatformShares, AreNothingForWhatEachCoreHasToItself) {
  CalibratedServer server = withPeak(100);
  for (Resource resource : {Resource::kCore, Resource::kL1i, Resource::kL1d, Resource::kL2, Resource::kTlb}) {
    EXPECT_EQ(share(resource, server, server), 0);
  }
  server.calibration.hasSiblings = true;
  EXPECT_EQ(share(Resource::kCore, server, server), 1);
  EXPECT_EQ(share(Resource::kL2, server, server), std::nullopt);
}

TEST(PlatformShares, AreNotToldWhereEitherServerSaysNothing) {
  const CalibratedServer server = withPeak(100), silent;
  for (Resource resource : {Resource::kMemoryBandwidth, Resource::kLlc, Resource::kMemoryCapacity}) {
    EXPECT_EQ(share(resource, server, silent), std::nullopt);
    EXPECT_EQ(share(resource, silent, server), std::nullopt);
  }
  CalibratedServer without = withPeak(100);
  without.calibration[Resource::kDiskBandwidth].absent = "no disk";
  const MeasuredShare disk = sharesOf(server, without)[static_cast<size_t>(Resource::kDiskBandwidth)];
  EXPECT_EQ(disk.share, std::nullopt);
  EXPECT_EQ(disk.because, "no disk");
  EXPECT_EQ(share(Resource::kNetworkBandwidth, server, server), std::nullopt) << "loopback is no network";
}

}  // namespace tarcil::platform_share_test
