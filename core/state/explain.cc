#include "core/state/explain.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/model/sample_size.h"

namespace tarcil {

namespace {

// Different servers that drawing to the cap reaches in the mean. Of the N slots of S servers n are drawn: a
// server with N / S of them is missed with a chance of (1 - n/N)^(N/S).
uint64_t serversReached(const Explanation& explanation) {
  const double slots = explanation.freeSlots, servers = explanation.freeServers;
  const auto most = static_cast<double>(explanation.most);
  if (most >= slots) return explanation.freeServers;
  return static_cast<uint64_t>(servers * (1 - std::pow(1 - most / slots, slots / servers)));
}

double guaranteeFrom(const Explanation& explanation, uint32_t acceptable, uint32_t drawn) {
  if (explanation.wanted == 0) return 0;
  if (explanation.allSeen || drawn == 0) return explanation.enoughFound ? 1.0 : 0.0;
  // Either may fail, the bound or the draws: each gets half of what may be left to chance.
  const double half = (1 - explanation.confidence) / 2;
  const double p = lowerBound(acceptable, drawn, 1 - half);
  const bool countsServers = explanation.wanted > 1 && explanation.freeServers > 0;
  const uint64_t draws =
      countsServers ? std::min(explanation.most, serversReached(explanation)) : explanation.most;
  return std::max(0.0, guarantee(p, draws, static_cast<uint32_t>(explanation.wanted)) - half);
}

}  // namespace

std::string dropName(size_t reason) {
  static constexpr const char* kNames[] = {"constraint", "not_enough_free", "spread", "quality", "taken"};
  constexpr auto kFirstNeighbour = static_cast<size_t>(Dropped::kNeighbour);
  if (reason < kFirstNeighbour) return kNames[reason];
  return "neighbour:" + std::string(kResourceNames[reason - kFirstNeighbour]);
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

double guaranteePromised(const Explanation& explanation) {
  return guaranteeFrom(explanation, explanation.firstAcceptable, explanation.firstDrawn);
}

double guaranteeReached(const Explanation& explanation) {
  return guaranteeFrom(explanation, explanation.acceptable, explanation.drawn);
}

uint32_t droppedFor(const Explanation& explanation, Dropped reason) {
  const auto at = static_cast<size_t>(reason);
  if (reason != Dropped::kNeighbour) return explanation.dropped[at];
  return std::accumulate(explanation.dropped.begin() + static_cast<std::ptrdiff_t>(at),
                         explanation.dropped.end(), 0U);
}

}  // namespace tarcil
