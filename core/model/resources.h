// The ten shared resources that jobs fight over (docs/design.md) and vectors over them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tarcil {

inline constexpr int kResources = 10;

enum class Resource : uint8_t {
  kCore,  // functional units
  kL1i,
  kL1d,
  kL2,
  kLlc,  // last-level cache capacity
  kMemoryBandwidth,
  kMemoryCapacity,
  kTlb,
  kDiskBandwidth,
  kNetworkBandwidth,
};

// Names in the order of the enumeration; they are the keys of profiles and of JSON.
inline constexpr std::array<std::string_view, kResources> kResourceNames = {"core",
                                                                            "l1i",
                                                                            "l1d",
                                                                            "l2",
                                                                            "llc",
                                                                            "memory_bandwidth",
                                                                            "memory_capacity",
                                                                            "tlb",
                                                                            "disk_bandwidth",
                                                                            "network_bandwidth"};

std::optional<Resource> resourceNamed(std::string_view name);

inline constexpr int kMaxPressure = 99;

// Pressure on each resource, in [0, 99]; 99 is all that a server of the reference platform has.
using Pressure = std::array<uint8_t, kResources>;

// Sums of pressures, unclamped; slack may be negative.
using PressureSum = std::array<int32_t, kResources>;

// How much of a reference-server pressure arrives on a platform, per resource, in 1/256: 256 is all of it, 0
// a resource that is private to a resource unit.
using Share = std::array<uint16_t, kResources>;

inline constexpr uint16_t kShareUnit = 256;
// The most that a share may be: a platform on which a pressure weighs four times what it does on the
// reference.
inline constexpr double kMaxShare = 4;

inline constexpr Share fullShare() {
  Share share{};
  share.fill(kShareUnit);
  return share;
}

}  // namespace tarcil
