// Which of two slots a job takes (design 3.5).
#pragma once

#include <cstdint>

#include "core/model/encoding.h"
#include "core/state/explain.h"

namespace tarcil {

enum class Standing : uint8_t { kAcceptable, kFeasible, kInfeasible };

// How slots are compared once their standing is equal.
enum class Ranking : uint8_t {
  kQuality,  // acceptable: preferred servers, then E in bands of 0.02; others: E; then Q, load, chance
  kLoad,     // load, then chance
  kChance,
};

// What a slot offers a job.
struct Offer {
  Encoded q = 0;           // Q * kEncodedMax
  double performance = 0;  // E
  uint64_t key = 0;        // set by seal()
  uint32_t chance = 0;
  uint16_t taken = 0, rus = 1;  // units of the server
  Standing standing = Standing::kInfeasible;
  bool preferred = false;
};

// Completes an offer that is to be compared by this ranking: most comparisons are then one of two numbers.
void seal(Offer& offer, Ranking ranking);

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
