#include "core/state/explain.h"

#include <numeric>

#include "core/model/sample_size.h"

namespace tarcil {

Dropped droppedAs(size_t reason) {
  constexpr auto kFirst = static_cast<size_t>(Dropped::kNeighbour);
  const bool isNeighbour = reason >= kFirst && reason < kFirst + kResources;
  return isNeighbour ? Dropped::kNeighbour : static_cast<Dropped>(reason);
}

std::string dropName(size_t reason) {
  switch (droppedAs(reason)) {
    case Dropped::kConstraint:
      return "constraint";
    case Dropped::kNotEnoughFree:
      return "not_enough_free";
    case Dropped::kSpread:
      return "spread";
    case Dropped::kQuality:
      return "quality";
    case Dropped::kTaken:
      return "taken";
    case Dropped::kNeighbour:
      return "neighbour:" + std::string(kResourceNames[reason - static_cast<size_t>(Dropped::kNeighbour)]);
    case Dropped::kMemory:
      return "memory";
    case Dropped::kDisk:
      return "disk";
  }
  return "unknown";
}

const char* name(TieBreak tieBreak) {
  switch (tieBreak) {
    case TieBreak::kNone:
      return "first";
    case TieBreak::kStanding:
      return "standing";
    case TieBreak::kPreferred:
      return "preferred";
    case TieBreak::kPerformance:
      return "performance";
    case TieBreak::kQ:
      return "q";
    case TieBreak::kLoad:
      return "load";
    case TieBreak::kChance:
      return "chance";
    case TieBreak::kContention:
      return "contention";
  }
  return "unknown";
}

double shareAcceptable(const Explanation& explanation) {
  if (explanation.drawn == 0) return 0;
  return static_cast<double>(explanation.acceptable) / explanation.drawn;
}

double ratio(const Explanation& explanation) {
  if (explanation.wanted == 0) return 0;
  return static_cast<double>(explanation.drawn) / static_cast<double>(explanation.wanted);
}

double guarantee(const Explanation& explanation) {
  const bool mayDrawAll = explanation.allSeen || explanation.limit >= explanation.freeSlots;
  if (mayDrawAll || explanation.sought == 0) return 1;
  return guarantee(explanation.rarity, explanation.limit, static_cast<uint32_t>(explanation.sought));
}

uint32_t droppedFor(const Explanation& explanation, Dropped reason) {
  const auto at = static_cast<size_t>(reason);
  if (reason != Dropped::kNeighbour) return explanation.dropped[at];
  return std::accumulate(explanation.dropped.begin() + static_cast<std::ptrdiff_t>(at),
                         explanation.dropped.end(), 0U);
}

}  // namespace tarcil
