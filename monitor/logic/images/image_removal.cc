#include "monitor/logic/images/image_removal.h"

#include <algorithm>
#include <tuple>

namespace tarcil {

std::vector<std::string> imagesToRemove(std::vector<KeptImage> images, const std::set<std::string>& inUse,
                                        const KeepImages& keep, WallTime now) {
  std::ranges::sort(images, [](const KeptImage& one, const KeptImage& other) {
    return std::tie(one.lastUsed, one.digest) < std::tie(other.lastUsed, other.digest);
  });
  uint64_t bytes = 0;
  for (const KeptImage& image : images) bytes += image.bytes;
  std::vector<std::string> removed;
  for (const KeptImage& image : images) {
    const bool isOld = now - image.lastUsed > keep.age;
    if (inUse.contains(image.digest) || (!isOld && bytes <= keep.bytes)) continue;
    removed.push_back(image.digest);
    bytes -= image.bytes;
  }
  return removed;
}

}  // namespace tarcil
