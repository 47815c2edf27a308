// Which of two slots a job takes (design 3.5).
#pragma once

#include <cstdint>

#include "core/model/encoding.h"
#include "core/state/explain.h"

namespace tarcil {

enum class Standing : uint8_t { kAcceptable, kFeasible, kInfeasible };

// What a slot offers a job.
struct Offer {
  Standing standing = Standing::kInfeasible;
  bool preferred = false;
  uint32_t taken = 0, rus = 1;  // units of the server
  double performance = 0;       // E
  double satisfaction = 0;      // S
  Encoded q = 0;                // Q * kEncodedMax
  uint64_t chance = 0;
};

// How offers are compared once their standing is equal.
enum class Ranking : uint8_t {
  kQuality,  // acceptable: preferred servers, then E in bands of 0.02; others: E; then Q, load, chance
  kLoad,     // load, then chance
  kChance,
};

struct Comparison {
  bool firstIsBetter = false;
  TieBreak by = TieBreak::kChance;
};

Comparison compare(const Offer& a, const Offer& b, Ranking ranking);

inline bool ranksBefore(const Offer& a, const Offer& b, Ranking ranking) {
  return compare(a, b, ranking).firstIsBetter;
}

}  // namespace tarcil
