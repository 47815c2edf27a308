// The disk of a slice: a file of this machine as a block device of limited bandwidth, with a file system.
//
// The limit is on the device, whoever reads and writes: tarcil-limited-disk shows the file through FUSE, and
// a loop device is on top of that. (A limit of a cgroup holds under version 1 for each cgroup by itself.)
#pragma once

#include <cstdint>
#include <string>

#include "core/base/result.h"

namespace tarcil {

struct SliceDiskPlan {
  std::string folder;   // <folder>/image holds the files, from one start to the next
  std::string mounted;  // folder where the file system appears; made if it is missing
  uint64_t bytes = 0;
  double bytesPerSecond = 0;  // of reading and writing together
};

struct SliceDisk {
  std::string device;  // the block device, as "loop3"
  int process = 0;     // tarcil-limited-disk: without it the disk fails
};

// Of the same build as this program.
std::string limitedDiskProgram();

// Bytes of the image that is there; 0: none.
uint64_t imageBytes(const std::string& folder);

// Makes it, from the image where there is one. Blocks.
Result<SliceDisk> makeSliceDisk(const SliceDiskPlan& plan);

// Takes it away but for the image; nothing where it is not there. Fails where something uses it. Blocks.
Status removeSliceDisk(const std::string& folder, const std::string& mounted);

}  // namespace tarcil
