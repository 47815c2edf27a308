// Which images of a server's store go.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "core/base/time.h"

namespace tarcil {

// What stays of images that no task uses.
struct KeepImages {
  Duration age = std::chrono::hours(7 * 24);  // since it was used last
  uint64_t bytes = uint64_t{32} << 30;        // of all images together
};

struct KeptImage {
  std::string digest;
  uint64_t bytes = 0;  // of its files
  WallTime lastUsed = kNever;

  bool operator==(const KeptImage&) const = default;
};

// Digests of those to be removed: those that have not been used for too long, and as many more as it takes to
// come down to the bound, the one that was used longest ago first. Never one of `inUse`, which count too, so
// that what stays may be more than the bound. O(n log n).
std::vector<std::string> imagesToRemove(std::vector<KeptImage> images, const std::set<std::string>& inUse,
                                        const KeepImages& keep, WallTime now);

}  // namespace tarcil
