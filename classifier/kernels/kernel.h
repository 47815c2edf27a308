// A contention kernel: presses on one of the ten resources (docs/design.md), as hard as its dial says, and
// disturbs the others as little as can be (after iBench, Delimitrou and Kozyrakis 2013).
//
// The dial goes from 0 to 99, in the unit of a profile: 99 is all that the machine has of the resource.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "classifier/kernels/machine.h"
#include "classifier/kernels/memory_left.h"
#include "core/base/result.h"
#include "core/model/resources.h"

namespace tarcil {

// What the dial of a kernel stands for.
enum class Dial : uint8_t {
  kRate,       // x % of the most work a second that all cores together can do
  kFootprint,  // x % of a cache or TLB, walked through at full speed
  kHolding,    // x % of the memory, held
};

Dial dialOf(Resource resource);

// Of what one unit of a kernel's work is, for people: "bytes", "accesses", "byte seconds", ...
const char* workUnit(Resource resource);

// Only hardware threads of one core have it in common, so it can be contended for where there are two
// of them.
bool isPrivateToACore(Resource resource);

// A kernel that waits for it, or holds it, rather than working all the time; it has one thread.
inline bool isWaitedFor(Resource resource) {
  return resource == Resource::kDiskBandwidth || resource == Resource::kMemoryCapacity;
}

// Why this kernel cannot run on this machine; nullopt where it can.
std::optional<std::string> whyNot(Resource resource, const Machine& machine);

// Files of a kernel's own are at most so large, for each of its threads.
inline constexpr uint64_t kScratchBytes = uint64_t{64} << 20;

struct KernelSetup {
  Resource resource = Resource::kCore;
  Machine machine;
  // The threads that press together: each takes its part of what they share.
  int threads = 1;
  // Folder for the file of the disk's kernel, which has no name there and vanishes with the process.
  std::string scratch = ".";
  // How long the kernel of memory capacity may take to fill memory; what it holds then is what it presses
  // with. Memory that a hypervisor has to find first comes slowly.
  std::chrono::seconds fillWithin{10};
  MemoryPaths memory = {};  // where it looks how much is left; tests name others
};

// One thread's part in pressing. Used on that thread alone. Failures of the machine (no memory, no space) are
// std::runtime_error with a text for people.
class Kernel {
 public:
  virtual ~Kernel() = default;

  // Gets ready to press so hard: when it returns, the cache is walked through, the memory is held. 1 to 99;
  // above, for calibration: a footprint larger than the cache.
  virtual void set(int intensity) = 0;

  // Gives back what presses without working. The next call is set().
  virtual void rest() {}

  // Works for up to a few milliseconds; returns how much it did, in workUnit().
  virtual double burst() = 0;
};

// Requires: !whyNot(setup.resource, setup.machine).
std::unique_ptr<Kernel> makeKernel(const KernelSetup& setup);

// What an intensity is in this resource's own measure.
inline double partOf(double whole, int intensity) {
  return whole * intensity / kMaxPressure;
}

}  // namespace tarcil
