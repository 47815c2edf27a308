// Slices of this machine, each of which a monitor can take for a server of its own: cores, a file system on a
// disk of a given bandwidth, and a network of a given bandwidth (docs/slices.md). So several servers on one
// machine are each measured honestly for core, memory, disk and network.
//
// A slice's cores and memory are for its monitor to keep tasks to; disk and network are made here, by the
// programs losetup, mkfs.ext4, ip and tc. Takes root.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "deploy/slices/slice_disk.h"

namespace tarcil {

// Of each slice.
struct SliceSize {
  uint64_t memoryBytes = 0;  // 0: an equal part of most of the machine's
  uint64_t diskBytes = uint64_t{1} << 30;
  double diskBytesPerSecond = 50e6;     // of reading and writing together
  double networkBytesPerSecond = 50e6;  // in each direction
};

inline constexpr uint32_t kMaxSlices = 250;
inline constexpr uint64_t kMinSliceMemory = uint64_t{64} << 20;
inline constexpr uint64_t kMinSliceDisk = uint64_t{64} << 20;
inline constexpr double kMinSliceBandwidth = 100e3;
inline constexpr double kMaxSliceBandwidth = 100e9;

struct Slice {
  std::vector<uint32_t> cores;  // no other slice has them
  SliceDisk disk;
  std::string networkNamespace;  // path that setns() takes
  std::string interface;         // of that, to the other slices and to this machine
};

struct SlicesPlan {
  std::string data;                // they leave nothing outside of it but what removeSlices() takes away
  std::vector<std::string> names;  // of the servers, in the order in which they get cores
  std::vector<uint32_t> cores;     // shared out evenly, neighbours together
  SliceSize size;
};

// Whether it can be made: cores, earlier disks, and the programs that are needed. Makes nothing. kInvalid
// names the option of `tarcil up` to change.
Status checkSlices(const SlicesPlan& plan);

// Makes them; what an earlier start left of them is taken away before, but for the files on their disks.
// After an error nothing is left. Blocks for some tenths of a second for each. Requires: checkSlices().
Result<std::vector<Slice>> makeSlices(const SlicesPlan& plan);

// Takes away all that makeSlices() made for `data`; files on their disks stay in <data>/slices. Nothing where
// there is none. Fails where something still uses one.
Status removeSlices(const std::string& data);

}  // namespace tarcil
