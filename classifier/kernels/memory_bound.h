// How much memory the kernel of memory capacity may hold: it never invites the OOM killer. Pure.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tarcil {

// What is left to everybody else, whatever the dial says: a tenth of all, at least 1 GiB, or a quarter where
// that is less, as in a container of a few units.
inline constexpr uint64_t memoryHeadroom(uint64_t totalBytes) {
  return std::max<uint64_t>(totalBytes / 10, std::min<uint64_t>(uint64_t{1} << 30, totalBytes / 4));
}

// Bytes to hold of `wanted`, when `available` are left besides the `held` ones. Less than is held: others
// want it, and it is to be given back.
inline constexpr uint64_t memoryToHold(uint64_t wanted, uint64_t held, uint64_t available, uint64_t total) {
  const uint64_t headroom = memoryHeadroom(total);
  const uint64_t reach = held + available;
  return std::min(wanted, reach > headroom ? reach - headroom : 0);
}

}  // namespace tarcil
