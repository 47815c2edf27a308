#include "classifier/kernels/kernel.h"

#include <algorithm>

#include "classifier/kernels/kernels.h"

namespace tarcil {
namespace {

constexpr uint64_t kLineBytes = 64;
constexpr uint64_t kPageBytes = 4096;

uint64_t bytesOfCache(Resource resource, const Machine& machine) {
  if (resource == Resource::kL1i) return machine.l1iBytes;
  if (resource == Resource::kL1d) return machine.l1dBytes;
  return resource == Resource::kL2 ? machine.l2Bytes : machine.llcBytes;
}

}  // namespace

Dial dialOf(Resource resource) {
  switch (resource) {
    case Resource::kL1i:
    case Resource::kL1d:
    case Resource::kL2:
    case Resource::kLlc:
    case Resource::kTlb:
      return Dial::kFootprint;
    case Resource::kMemoryCapacity:
      return Dial::kHolding;
    default:
      return Dial::kRate;
  }
}

const char* workUnit(Resource resource) {
  switch (resource) {
    case Resource::kCore:
      return "operations";
    case Resource::kL1i:
      return "jumps";
    case Resource::kMemoryCapacity:
      return "byte seconds";
    case Resource::kMemoryBandwidth:
    case Resource::kDiskBandwidth:
    case Resource::kNetworkBandwidth:
      return "bytes";
    default:
      return "accesses";
  }
}

bool isPrivateToACore(Resource resource) {
  return resource == Resource::kCore || resource == Resource::kL1i || resource == Resource::kL1d ||
         resource == Resource::kL2 || resource == Resource::kTlb;
}

std::optional<std::string> whyNot(Resource resource, const Machine& machine) {
#ifndef __x86_64__
  if (resource == Resource::kL1i) return "code is generated for x86-64 alone";
#endif
  const bool isCache = dialOf(resource) == Dial::kFootprint && resource != Resource::kTlb;
  if (isCache && bytesOfCache(resource, machine) == 0)
    return "the machine does not say how large this cache is";
  if (resource == Resource::kMemoryCapacity && machine.memoryBytes == 0) {
    return "the machine does not say how much memory it has";
  }
  return std::nullopt;
}

std::unique_ptr<Kernel> makeKernel(const KernelSetup& setup) {
  const Machine& machine = setup.machine;
  switch (setup.resource) {
    case Resource::kCore:
      return makeCoreKernel();
    case Resource::kL1i:
      return makeCodeKernel(machine.l1iBytes);
    case Resource::kL1d:
      return makeWalkKernel({.places = machine.l1dBytes / kLineBytes});
    case Resource::kL2:
      return makeWalkKernel({.places = machine.l2Bytes / kLineBytes});
    case Resource::kLlc: {
      const auto threads = static_cast<uint64_t>(std::max(setup.threads, 1));
      return makeWalkKernel({.places = machine.llcBytes / kLineBytes / threads});
    }
    case Resource::kTlb:
      // A line more than a page: each place in a page of its own, and not all in the same set of the cache.
      return makeWalkKernel(
          {.places = machine.tlbEntries, .stride = kPageBytes + kLineBytes, .largePages = false});
    case Resource::kMemoryBandwidth:
      return makeStreamKernel();
    case Resource::kMemoryCapacity:
      return makeMemoryKernel(setup);
    case Resource::kDiskBandwidth:
      return makeDiskKernel(setup.scratch);
    case Resource::kNetworkBandwidth:
      return makeNetworkKernel();
  }
  return nullptr;
}

}  // namespace tarcil
