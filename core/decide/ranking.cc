#include "core/decide/ranking.h"

namespace tarcil {
Comparison compare(const Offer& a, const Offer& b, Ranking ranking) {
  if (a.standing != b.standing) return {a.standing < b.standing, TieBreak::kStanding};
  if (looksAtPerformance(ranking)) {
    if (a.standing == Standing::kAcceptable) {
      if (a.preferred != b.preferred) return {a.preferred, TieBreak::kPreferred};
      const int bandA = bandOf(a.performance, ranking), bandB = bandOf(b.performance, ranking);
      if (bandA != bandB) return {bandA < bandB, TieBreak::kPerformance};
    } else if (a.performance != b.performance) {
      return {a.performance > b.performance, TieBreak::kPerformance};
    }
    if (ranking == Ranking::kQuality) {
      if (a.q != b.q) return {a.q > b.q, TieBreak::kQ};
    } else if (ranking == Ranking::kLeastContended && a.contention != b.contention) {
      return {a.contention < b.contention, TieBreak::kContention};
    }
  }
  if (ranking != Ranking::kChance) {
    const uint32_t loadA = uint32_t{a.taken} * b.rus, loadB = uint32_t{b.taken} * a.rus;
    if (loadA != loadB) return {loadA < loadB, TieBreak::kLoad};
  }
  return {a.chance < b.chance, TieBreak::kChance};
}

}  // namespace tarcil
