#include "lsh/bucket.h"

#include <algorithm>

namespace tarcil {
namespace {

constexpr size_t kLevels = kSlackLevels.size();
constexpr int kBitsPerLevel = 4;

// Below this nobody looks: what is forgiven to a newcomer is seldom more.
constexpr int kLowest = -2;

constexpr auto kLevelOf = [] {
  std::array<uint8_t, 256> levels{};
  for (size_t raised = 0; raised < levels.size(); ++raised) {
    for (int least : kSlackLevels)
      levels[raised] += static_cast<int>(raised) - Vacancy::kNoSlack >= least ? 1 : 0;
  }
  return levels;
}();

// By level, all ones in the levels that a server of it counts in.
constexpr auto kCounts = [] {
  std::array<std::array<uint32_t, kLevels>, kLevels + 1> masks{};
  for (size_t level = 0; level < masks.size(); ++level) {
    for (size_t below = 0; below < level; ++below) masks[level][below] = UINT32_MAX;
  }
  return masks;
}();

}  // namespace

BucketMember bucketMember(const Vacancy& vacancy) {
  BucketMember member{.contention = vacancy.contention, .free = vacancy.free};
  for (size_t i = 0; i < kResources; ++i) {
    member.slackLevels |= uint64_t{kLevelOf[vacancy.slack[i]]} << (kBitsPerLevel * i);
  }
  return member;
}

Burden burden(const Newcomer& newcomer) {
  Burden made;
  for (size_t i = 0; i < kResources; ++i) {
    const int needed = newcomer.hurts[i] - Vacancy::kNoSlack;
    if (newcomer.hurts[i] == 0 || needed <= kLowest) continue;
    size_t level = 0;  // the first that is above
    while (level < kLevels && kSlackLevels[level] <= needed) ++level;
    const int from = level == 0 ? kLowest : kSlackLevels[level - 1];
    const int to = level == kLevels ? from + 1 : kSlackLevels[level];
    // Level 0 is everybody; beyond the last one nothing more is known.
    const float beyond =
        level == kLevels ? 0 : static_cast<float>(needed - from) / static_cast<float>(to - from);
    made.parts[made.count++] = {static_cast<uint8_t>(i), static_cast<uint8_t>(level), beyond};
  }
  return made;
}

void Bucket::count(const BucketMember& member, uint32_t sign) {
  servers_ += sign;
  for (size_t i = 0; i < kResources; ++i) sum_[i] += sign * member.contention[i];
  if (member.free == 0) return;
  const uint32_t units = sign * member.free;
  free_ += units;
  freeBySize_[static_cast<size_t>(std::bit_width(member.free)) - 1] += units;
  for (size_t i = 0; i < kResources; ++i) {
    const auto& counts = kCounts[member.slackLevels >> (kBitsPerLevel * i) & 0xf];
    for (size_t level = 0; level < kLevels; ++level) bearing_[i][level] += units & counts[level];
  }
}

// Unsigned sums come back to where they were, so adding the negative takes away.
void Bucket::enter(const BucketMember& member) {
  count(member, 1);
}

void Bucket::leave(const BucketMember& member) {
  count(member, UINT32_MAX);
}

Pressure Bucket::mean() const {
  Pressure mean{};
  if (servers_ == 0) return mean;
  // By conversion, since rounding is a call where the processor is not known to do it; no sum is below 0.
  constexpr float kHalf = 0.5F;
  const float share = 1 / static_cast<float>(servers_);
  for (size_t i = 0; i < kResources; ++i) {
    mean[i] = static_cast<uint8_t>(
        static_cast<int32_t>(static_cast<float>(static_cast<int32_t>(sum_[i])) * share + kHalf));
  }
  return mean;
}

PressureSum Bucket::sum() const {
  PressureSum sum{};
  std::copy(sum_.begin(), sum_.end(), sum.begin());
  return sum;
}

uint64_t Bucket::slots(uint32_t rus) const {
  if (rus == 1) return free_;
  uint64_t units = 0;
  for (size_t i = static_cast<size_t>(std::bit_width(rus - 1)); i < kSizes; ++i) units += freeBySize_[i];
  return units / rus;
}

float Bucket::bearing(const Burden& burden) const {
  if (free_ == 0) return 1;
  const auto all = static_cast<float>(free_);
  const float one = 1 / all;
  float share = 1;
  for (size_t k = 0; k < burden.count; ++k) {
    const Burden::Part& part = burden.parts[k];
    const auto& counts = bearing_[part.resource];
    const float here = part.level == 0 ? all : static_cast<float>(counts[part.level - 1]);
    const float next = part.level == kLevels ? here : static_cast<float>(counts[part.level]);
    share *= (here + (next - here) * part.beyond) * one;
  }
  return share;
}

}  // namespace tarcil
