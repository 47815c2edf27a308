#include "core/decide/ranking.h"

#include <bit>

namespace tarcil {
namespace {

// Slots whose expected performance differs by less count as alike.
constexpr double kBandsPerUnit = 1 / 0.02;
// Q * kEncodedMax takes 67 bits; its first 55 fit into a key beside 9 others.
constexpr int kBitsOfQ = 67;
constexpr int kKeyBitsOfQ = 55;
constexpr int kStandingShift = 62;
constexpr int kPreferredShift = 61;

// 0 for the best: E within 0.02 of the best platform's; at most 50.
int band(const Offer& offer) {
  return static_cast<int>((1.0 - offer.performance) * kBandsPerUnit);
}

}  // namespace

// The first digits of what compare() looks at, so that a smaller key ranks before.
void seal(Offer& offer, Ranking ranking) {
  offer.key = static_cast<uint64_t>(offer.standing) << kStandingShift;
  if (ranking != Ranking::kQuality) return;
  if (offer.standing != Standing::kAcceptable) {
    // Positive doubles are ordered as their bits are; the last three are left to compare().
    const uint64_t falling = ~std::bit_cast<uint64_t>(offer.performance) & UINT64_MAX >> 1;
    offer.key |= falling >> 2;
    return;
  }
  const auto q = static_cast<uint64_t>(offer.q >> (kBitsOfQ - kKeyBitsOfQ));
  offer.key |= uint64_t{!offer.preferred} << kPreferredShift;
  offer.key |= static_cast<uint64_t>(band(offer)) << kKeyBitsOfQ;
  offer.key |= (uint64_t{1} << kKeyBitsOfQ) - 1 - q;
}

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
    const uint32_t loadA = uint32_t{a.taken} * b.rus, loadB = uint32_t{b.taken} * a.rus;
    if (loadA != loadB) return {loadA < loadB, TieBreak::kLoad};
  }
  return {a.chance < b.chance, TieBreak::kChance};
}

}  // namespace tarcil
