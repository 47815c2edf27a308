// A set of resource units of one server.
#pragma once

#include <algorithm>
#include <bit>
#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <vector>

#include "core/base/ids.h"

namespace tarcil {

class RuSet {
 public:
  // Lowest unit in the lowest bit of the first. Sets are copied with each news of a server, most of which
  // have no more than 64 units: such a set takes nothing from the heap.
  using Words = boost::container::small_vector<uint64_t, 1>;

  RuSet() = default;

  // All of 0 .. count-1.
  static RuSet all(uint32_t count) {
    RuSet set;
    for (uint32_t ru = 0; ru < count; ++ru) set.insert(static_cast<RuIndex>(ru));
    return set;
  }

  bool contains(RuIndex ru) const {
    return ru / 64 < words_.size() && (words_[ru / 64] >> (ru % 64) & 1) != 0;
  }

  void insert(RuIndex ru) {
    if (ru / 64u >= words_.size()) words_.resize(ru / 64 + 1);
    words_[ru / 64] |= uint64_t{1} << (ru % 64);
  }

  void erase(RuIndex ru) {
    if (ru / 64u < words_.size()) words_[ru / 64] &= ~(uint64_t{1} << (ru % 64));
  }

  uint32_t size() const {
    uint32_t count = 0;
    for (uint64_t word : words_) count += static_cast<uint32_t>(std::popcount(word));
    return count;
  }

  // The first `count` members, lowest first; fewer where the set is smaller.
  std::vector<RuIndex> first(uint32_t count) const {
    std::vector<RuIndex> members;
    members.reserve(std::min(count, size()));
    for (size_t w = 0; w < words_.size(); ++w) {
      for (uint64_t word = words_[w]; word != 0 && members.size() < count; word &= word - 1) {
        members.push_back(static_cast<RuIndex>(w * 64 + static_cast<size_t>(std::countr_zero(word))));
      }
    }
    return members;
  }

  // Trailing zero words may be missing.
  const Words& words() const { return words_; }
  static RuSet fromWords(Words words) {
    RuSet set;
    set.words_ = std::move(words);
    return set;
  }

  // Sets are equal where their members are, whatever the number of trailing zero words.
  bool operator==(const RuSet& other) const {
    const auto& longer = words_.size() >= other.words_.size() ? words_ : other.words_;
    const auto& shorter = words_.size() >= other.words_.size() ? other.words_ : words_;
    for (size_t i = 0; i < longer.size(); ++i) {
      if (longer[i] != (i < shorter.size() ? shorter[i] : 0)) return false;
    }
    return true;
  }

 private:
  Words words_;
};

}  // namespace tarcil
