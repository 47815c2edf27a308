// The kernels by themselves; kernel.h chooses among them.
#pragma once

#include "classifier/kernels/kernel.h"

namespace tarcil {

// Chains of integer and floating-point operations of which each waits for the one before it.
std::unique_ptr<Kernel> makeCoreKernel();

// Jumps from line to line through generated code. x86-64 alone.
std::unique_ptr<Kernel> makeCodeKernel(uint64_t cacheBytes);

// Random walks, several at once, over places that lie `stride` bytes apart.
struct WalkPlan {
  uint64_t places = 1;     // of which intensity x walks through x %
  uint64_t stride = 64;    // bytes
  bool largePages = true;  // few TLB entries for many places, or one for each
};
std::unique_ptr<Kernel> makeWalkKernel(const WalkPlan& plan);

// Writes through memory past the caches.
std::unique_ptr<Kernel> makeStreamKernel();

// Holds memory and gives it back when others want it (memory_bound.h).
std::unique_ptr<Kernel> makeMemoryKernel(const KernelSetup& setup);

// Reads and writes past the page cache, in a file without a name.
std::unique_ptr<Kernel> makeDiskKernel(const std::string& folder);

// Sends to itself over a TCP connection on the loopback interface.
std::unique_ptr<Kernel> makeNetworkKernel();

}  // namespace tarcil
