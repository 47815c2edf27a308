// Identities used everywhere. Plain values: ordered, hashable, printable.
#pragma once

#include <array>
#include <bit>
#include <boost/container/flat_map.hpp>
#include <compare>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tarcil {

// A job's identity, made by the client (128 random bits), so that a repeated submission finds the first one.
// Text form: 32 lower-case hexadecimal digits.
struct JobId {
  std::array<uint8_t, 16> bytes{};

  bool operator==(const JobId&) const = default;
  // By bytes, eight at once: tables of jobs are searched all the time.
  std::strong_ordering operator<=>(const JobId& other) const {
    const uint64_t mine = half(0), others = other.half(0);
    return mine != others ? mine <=> others : half(1) <=> other.half(1);
  }

 private:
  // The first or the last eight bytes as a number of the same order.
  uint64_t half(size_t which) const {
    uint64_t number;
    std::memcpy(&number, bytes.data() + 8 * which, sizeof number);
    return std::endian::native == std::endian::little ? __builtin_bswap64(number) : number;
  }
};

std::string toString(const JobId& id);

// Accepts exactly the text form; nullopt for anything else.
std::optional<JobId> parseJobId(std::string_view text);

// A job's number, for people: in the order in which the cluster accepted its jobs, from 1. 0: it has none
// (yet).
using JobNumber = uint64_t;

// Position of a task within its job, from 0.
using TaskIndex = uint32_t;

// One grant of a slot to one attempt of one task. Made by the master, never used twice, rises with time.
// 0 means "no allocation".
using AllocationId = uint64_t;

// Position of a resource unit within its server, from 0.
using RuIndex = uint16_t;

// By the kind of a server's countable things, in the order of their names. Most servers and tasks have none,
// and none has many: in place of 48 bytes for an empty one, 24.
template <typename T>
using ByKind = boost::container::flat_map<std::string, T>;

// Which of a server's countable things a task holds: by kind their numbers, ascending, from 0 within each
// kind.
using ExtraNumbers = ByKind<std::vector<uint16_t>>;

}  // namespace tarcil

template <>
struct std::hash<tarcil::JobId> {
  size_t operator()(const tarcil::JobId& id) const noexcept {
    // The id is random already; its first bytes are as good as any hash of it.
    size_t value = 0;
    for (size_t i = 0; i < sizeof value; ++i) value = value << 8 | id.bytes[i];
    return value;
  }
};
