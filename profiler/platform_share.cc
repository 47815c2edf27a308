#include "profiler/platform_share.h"

#include <algorithm>

#include "classifier/kernels/kernel.h"

namespace tarcil {
namespace {

MeasuredShare ofAmounts(const char* what, double here, double there) {
  if (here <= 0 || there <= 0) return {std::nullopt, std::string(what) + ": not known of both"};
  const double share = there / here;
  if (share > kMaxShare) return {kMaxShare, std::string(what) + ": less than a quarter of the reference's"};
  return {share, std::string(what)};
}

MeasuredShare shareOf(Resource resource, const CalibratedServer& server, const CalibratedServer& reference) {
  const Calibration &here = server.calibration, &there = reference.calibration;
  if (isPrivateToACore(resource) && !here.hasSiblings) return {0, "each core has its own"};
  switch (resource) {
    case Resource::kNetworkBandwidth:
      return {std::nullopt, "its kernel does not leave the machine"};
    case Resource::kMemoryCapacity:
      return ofAmounts("bytes of memory", static_cast<double>(server.memoryBytes),
                       static_cast<double>(reference.memoryBytes));
    case Resource::kLlc:
      return ofAmounts("bytes of cache", static_cast<double>(here.llcBytes),
                       static_cast<double>(there.llcBytes));
    case Resource::kCore:
    case Resource::kMemoryBandwidth:
    case Resource::kDiskBandwidth:
      break;
    default:
      return {std::nullopt, "hardware threads of a core share it"};
  }
  for (const Calibration* each : {&here, &there}) {
    if ((*each)[resource].absent) return {std::nullopt, *(*each)[resource].absent};
  }
  return ofAmounts("work a second of all cores", here[resource].peak, there[resource].peak);
}

}  // namespace

std::array<MeasuredShare, kResources> sharesOf(const CalibratedServer& server,
                                               const CalibratedServer& reference) {
  std::array<MeasuredShare, kResources> shares;
  for (size_t i = 0; i < kResources; ++i) shares[i] = shareOf(static_cast<Resource>(i), server, reference);
  return shares;
}

}  // namespace tarcil
