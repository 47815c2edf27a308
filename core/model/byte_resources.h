// Memory and disk: what tasks claim of a server by the byte, beside its units.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace tarcil {

struct ByteResources {
  uint64_t memory = 0;
  uint64_t disk = 0;

  ByteResources& operator+=(const ByteResources& other) {
    memory += other.memory;
    disk += other.disk;
    return *this;
  }
  // Not below 0.
  ByteResources& operator-=(const ByteResources& other) {
    memory -= std::min(memory, other.memory);
    disk -= std::min(disk, other.disk);
    return *this;
  }
  friend ByteResources operator*(uint64_t times, const ByteResources& each) {
    return {times * each.memory, times * each.disk};
  }
  auto operator<=>(const ByteResources&) const = default;
};

// What a job asks for each of its tasks, beside `rus` units.
struct ByteRequest {
  ByteResources bytes{};  // 0: the share of the task's units
  uint32_t rus = 1;

  bool operator==(const ByteRequest&) const = default;
};

// What a server gives its tasks by the byte.
struct ByteSupply {
  ByteResources allocatable;  // to all of them together; 0: not counted
  ByteResources unitShare;    // what comes with each unit

  auto operator<=>(const ByteSupply&) const = default;
};

// What a task with this request claims there that has `units` units: for each beyond those that its job asks
// for their share more. 0 of what is not counted.
ByteResources claimed(const ByteRequest& request, size_t units, const ByteSupply& supply);

// How many tasks that each claim `each` fit where `allocated` is taken; UINT64_MAX where none of it is
// counted.
uint64_t timesFitting(const ByteResources& allocatable, const ByteResources& allocated,
                      const ByteResources& each);

// The first of which there is too little.
enum class ByteShortage : uint8_t { kNone, kMemory, kDisk };

// Whether `times` tasks that each claim `each` fit where `allocated` is taken.
ByteShortage shortage(const ByteResources& allocatable, const ByteResources& allocated,
                      const ByteResources& each, uint64_t times = 1);

}  // namespace tarcil
