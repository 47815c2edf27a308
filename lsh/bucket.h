// Statistics of the servers of one bucket: counts and sums, updated as servers enter and leave.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "core/model/resources.h"
#include "core/state/glance.h"
#include "core/state/vacancy.h"

namespace tarcil {

// Slack in levels: level l stands for a slack of at least kSlackLevels[l - 1], level 0 for less than any.
inline constexpr std::array<int, 8> kSlackLevels = {0, 2, 4, 7, 12, 20, 35, 60};

// Sizes of slots are powers of two: of so many units, rounded up, as an exponent.
constexpr size_t slotSize(uint32_t rus) {
  return static_cast<size_t>(std::bit_width(rus - 1));
}

// As much of a server as its bucket counts.
struct BucketMember {
  Pressure contention{};
  uint16_t free = 0;         // units
  uint64_t slackLevels = 0;  // four bits for each resource, the first one lowest

  bool operator==(const BucketMember&) const = default;
};

BucketMember bucketMember(const Vacancy& vacancy);

// The pressure that a newcomer causes, laid out for comparison with buckets: only the resources that count.
struct Burden {
  struct Part {
    uint8_t resource = 0;
    uint8_t level = 0;  // the share that bears it lies between those of this level and of the next
    float beyond = 0;   // and so far from the former to the latter, in [0, 1]
  };
  std::array<Part, kResources> parts{};
  size_t count = 0;
};

Burden burden(const Newcomer& newcomer);

// Exact after any number of changes, since all arithmetic is on integers: equal to a bucket that the same
// members have just entered. Holds up to 2^32 free units and 20 million servers.
class Bucket {
 public:
  // A few tens of nanoseconds.
  void enter(const BucketMember& member);
  // Requires: an equal member has entered and not left.
  void leave(const BucketMember& member);

  uint32_t servers() const { return servers_; }
  uint32_t free() const { return free_; }  // units

  // Mean contention of its servers, rounded; 0 where there are none.
  Pressure mean() const;
  // Exact sums, by resource.
  PressureSum sum() const;

  // Free slots of so many units. Exact for 1; above, at most so many where `rus` is a power of two, and
  // servers that may have too few units are left out where it is not.
  uint64_t slots(uint32_t rus) const;

  // Share of the free units on servers whose residents bear the newcomer; 1 where there are none. As if what
  // is left on one resource said nothing of another, and by levels, between which it is interpolated.
  float bearing(const Burden& burden) const;

  bool operator==(const Bucket&) const = default;

 private:
  static constexpr size_t kSizes = std::bit_width(kMaxServerRus);

  void count(const BucketMember& member, uint32_t sign);

  // By resource and level: free units on servers of this level and above. First, since most is done to it.
  alignas(16) std::array<std::array<uint32_t, kSlackLevels.size()>, kResources> bearing_{};
  alignas(16) std::array<uint32_t, kResources> sum_{};
  uint32_t servers_ = 0;
  uint32_t free_ = 0;
  std::array<uint32_t, kSizes>
      freeBySize_{};  // on servers with at least 2^i free units, and fewer than twice
};

}  // namespace tarcil
