// Which of two slots a job takes (docs/design.md).
#pragma once

#include <bit>
#include <cstdint>

#include "core/model/encoding.h"
#include "core/state/explain.h"

namespace tarcil {

enum class Standing : uint8_t { kAcceptable, kFeasible, kInfeasible };

// How slots are compared once their standing is equal.
enum class Ranking : uint8_t {
  kQuality,  // acceptable: preferred servers, then E in bands of 0.02; others: E; then Q, load, chance
  // For jobs of which nothing is known: as kQuality, with the highest pressure in the place of Q. The
  // tightest fit would take them to the servers that are worst (docs/design.md).
  kLeastContended,
  // Acceptable: preferred servers, then worth in bands of 0.05, then load, chance; others: worth.
  kWorth,
  kLoad,  // load, then chance
  kChance,
};

// What a slot offers a job.
struct Offer {
  Encoded q = 0;           // Q * kEncodedMax
  double performance = 0;  // E; kWorth: E less what neighbours lose, at least 0
  uint64_t key = 0;        // set by seal()
  uint32_t chance = 0;
  uint16_t taken = 0, rus = 1;  // units of the server
  Standing standing = Standing::kInfeasible;
  bool preferred = false;
  uint8_t contention = 0;  // kLeastContended: the highest pressure, with the margin
  uint8_t reason = 0;      // a Dropped: why it is not acceptable, where it is not
};

// Slots whose expected performance, or worth, differs by less than a band count as alike: 0 for the best, at
// most 50. By worth a band is a twentieth, which no user would notice: what is left to load then spares who
// comes later.
inline int bandOf(double performance, Ranking ranking) {
  constexpr double kQualityBands = 1 / 0.02, kWorthBands = 1 / 0.05;
  return static_cast<int>((1.0 - performance) * (ranking == Ranking::kWorth ? kWorthBands : kQualityBands));
}

inline bool looksAtPerformance(Ranking ranking) {
  return ranking == Ranking::kQuality || ranking == Ranking::kLeastContended || ranking == Ranking::kWorth;
}

// Completes an offer that is to be compared by this ranking: its key holds the first digits of what compare()
// looks at, so that a smaller key ranks before and most comparisons are one of two numbers.
inline void seal(Offer& offer, Ranking ranking) {
  // Q * kEncodedMax takes 67 bits; its first 55 fit beside 9 others.
  constexpr int kBitsOfQ = 67, kKeyBitsOfQ = 55, kPreferredShift = 61, kStandingShift = 62;
  offer.key = static_cast<uint64_t>(offer.standing) << kStandingShift;
  if (!looksAtPerformance(ranking)) return;
  // Positive doubles are ordered as their bits are; the last three are left to compare().
  const uint64_t byPerformance = (~std::bit_cast<uint64_t>(offer.performance) & UINT64_MAX >> 1) >> 2;
  constexpr uint64_t kMaxQ = (uint64_t{1} << kKeyBitsOfQ) - 1;
  uint64_t q = 0;
  if (ranking == Ranking::kQuality) q = static_cast<uint64_t>(offer.q >> (kBitsOfQ - kKeyBitsOfQ));
  if (ranking == Ranking::kLeastContended) q = kMaxQ - offer.contention;
  const uint64_t byQuality = uint64_t{!offer.preferred} << kPreferredShift |
                             static_cast<uint64_t>(bandOf(offer.performance, ranking)) << kKeyBitsOfQ |
                             (kMaxQ - q);
  offer.key |= offer.standing == Standing::kAcceptable ? byQuality : byPerformance;
}

struct Comparison {
  bool firstIsBetter = false;
  TieBreak by = TieBreak::kChance;
};

// The whole comparison, and what decided it. Requires: both are sealed for this ranking.
Comparison compare(const Offer& a, const Offer& b, Ranking ranking);

inline bool ranksBefore(const Offer& a, const Offer& b, Ranking ranking) {
  return a.key != b.key ? a.key < b.key : compare(a, b, ranking).firstIsBetter;
}

}  // namespace tarcil
