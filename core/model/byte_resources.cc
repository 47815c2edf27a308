#include "core/model/byte_resources.h"

namespace tarcil {
namespace {

uint64_t fitting(uint64_t allocatable, uint64_t allocated, uint64_t each) {
  if (allocatable == 0 || each == 0) return UINT64_MAX;
  return allocated < allocatable ? (allocatable - allocated) / each : 0;
}

}  // namespace

ByteResources claimed(const ByteRequest& request, size_t units, const ByteSupply& supply) {
  const size_t more = units > request.rus ? units - request.rus : 0;
  const auto one = [&](uint64_t ByteResources::*of) -> uint64_t {
    if (supply.allocatable.*of == 0) return 0;
    const uint64_t asked = request.bytes.*of, share = supply.unitShare.*of;
    return asked > 0 ? asked + more * share : units * share;
  };
  return {one(&ByteResources::memory), one(&ByteResources::disk)};
}

uint64_t timesFitting(const ByteResources& allocatable, const ByteResources& allocated,
                      const ByteResources& each) {
  return std::min(fitting(allocatable.memory, allocated.memory, each.memory),
                  fitting(allocatable.disk, allocated.disk, each.disk));
}

ByteShortage shortage(const ByteResources& allocatable, const ByteResources& allocated,
                      const ByteResources& each, uint64_t times) {
  if (fitting(allocatable.memory, allocated.memory, each.memory) < times) return ByteShortage::kMemory;
  if (fitting(allocatable.disk, allocated.disk, each.disk) < times) return ByteShortage::kDisk;
  return ByteShortage::kNone;
}

}  // namespace tarcil
