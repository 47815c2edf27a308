// The shares of a cluster's platforms, by calibrating a server of each: `tarcil profile calibrate
// --on-cluster`.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "cli/cluster.h"
#include "formats/json.h"
#include "profiler/platform_share.h"

namespace tarcil {

struct ClusterCalibration {
  struct Platform {
    std::string name, server;
    std::array<MeasuredShare, kResources> shares;
  };
  std::string reference;            // name of a platform, among `platforms`
  std::vector<Platform> platforms;  // the reference first, then by name
};

// Runs one job after the other, each with all units of a server of another platform, that calibrates the
// kernels there; the reference first. A platform whose job fails, or none of whose servers can do it, is left
// out with a warning. Empty `reference`: the only platform there is. `seconds`: about how long each may take.
// SIGINT and SIGTERM cancel the job and throw Failure; so does what keeps the reference from being measured.
// Requires: SIGINT and SIGTERM were captured (kj::UnixEventPort) before `cluster` was made.
ClusterCalibration calibrateCluster(Cluster& cluster, const std::string& reference, uint32_t seconds);

// Sets the shares that could be told; the others stay as they are set.
void setShares(Cluster& cluster, const ClusterCalibration& calibration);

// Keys: reference, platforms, of each: name, server, share and because, both by resource; a share is null
// where it cannot be told.
Json jsonOf(const ClusterCalibration& calibration);
std::string textOf(const ClusterCalibration& calibration);

}  // namespace tarcil
