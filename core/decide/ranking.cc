#include "core/decide/ranking.h"

namespace tarcil {
namespace {

// Slots whose expected performance differs by less count as alike.
constexpr double kBandsPerUnit = 1 / 0.02;

// 0 for the best: E within 0.02 of the best platform's.
int band(const Offer& offer) {
  return static_cast<int>((1.0 - offer.performance) * kBandsPerUnit);
}

}  // namespace

Comparison compare(const Offer& a, const Offer& b, Ranking ranking) {
  if (a.standing != b.standing) return {a.standing < b.standing, TieBreak::kStanding};
  if (ranking == Ranking::kQuality) {
    if (a.standing == Standing::kAcceptable) {
      if (a.preferred != b.preferred) return {a.preferred, TieBreak::kPreferred};
      if (band(a) != band(b)) return {band(a) < band(b), TieBreak::kPerformance};
    } else if (a.performance != b.performance) {
      return {a.performance > b.performance, TieBreak::kPerformance};
    }
    if (a.q != b.q) return {a.q > b.q, TieBreak::kQ};
  }
  if (ranking != Ranking::kChance) {
    const uint64_t loadA = uint64_t{a.taken} * b.rus, loadB = uint64_t{b.taken} * a.rus;
    if (loadA != loadB) return {loadA < loadB, TieBreak::kLoad};
  }
  return {a.chance < b.chance, TieBreak::kChance};
}

}  // namespace tarcil
