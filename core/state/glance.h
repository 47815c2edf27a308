// The judgement of one free slot for one job, made so that thousands of slots take microseconds. The one
// function that agents choose by and that the master checks claims with, so that they can only disagree about
// what has changed (docs/protocol.md).
#pragma once

#include <cstdint>
#include <span>

#include "core/model/quality.h"
#include "core/model/slowdown.h"
#include "core/state/claim.h"
#include "core/state/lanes.h"
#include "core/state/server.h"
#include "core/state/vacancy.h"

namespace tarcil {

// A job as one platform sees it, laid out for judging: vectors of 16 bytes of which the first kResources
// count.
struct Newcomer {
  alignas(16) Lanes order{};      // resource indexes, the most critical first; then 0x80
  alignas(16) Lanes tolerated{};  // then 255
  // What a neighbour feels of it, raised as a vacancy's slack is, saturated at 254, less what is forgiven; 0
  // where it does not count.
  alignas(16) Lanes hurts{};
  // Of ContentionModel::kSlowdowns alone (core/state/neighbours.h): what one task presses with, clamped; that
  // raised by kMaxPressure; and where what it feels begins, then 255.
  alignas(16) Lanes presses{}, raised{}, onsets{};
  bool byNeighbours = false;  // neighbours are judged one by one, and not by `hurts`
  bool protects = false;      // none of them is to be broken
  uint8_t noiseFloor = 0;
  Slowdown mostSlowdown =
      0;               // that neighbours which are not strict may be brought to (Judging::neighbourFloor)
  Encoded target = 0;  // T_W
  uint32_t rus = 1;    // units of one slot
  uint8_t margin = 0;  // withMargin() of each pressure is judged
  QualityModel model = QualityModel::kComponentwise;
  // Of which nothing is known (Profile::isUnknown): any slot satisfies it, and Glance::excess is the highest
  // pressure there, by which slots are told apart (core/decide/ranking.h).
  bool isUnknown = false;
  double platformFactor = 1;
};

Newcomer newcomer(const JobView& job, const Judging& judging, uint32_t rus);

// Why a server has no slot for a newcomer, the first that applies.
enum class Obstacle : uint8_t {
  kNone,
  kNotUsable,
  kNotEnoughFree,
  kNeighbour,
  kMemory,  // these two are not glance()'s to see: what looks at more of the server than its vacancy adds
            // them
  kDisk,
};

// What the next slot of a server is to a newcomer.
struct Glance {
  Encoded encoded = 0;  // C with the margin, in the job's order: U_H = 1 - encoded / kEncodedMax
  uint8_t excess = 0;   // the most by which C with the margin exceeds what is tolerated
  Obstacle obstacle = Obstacle::kNone;
  uint8_t resource = 0;  // kNeighbour: the first on which a resident would be broken
  // Where neighbours are judged one by one: what they lose of their speed, each in S, together, and whether
  // one may not lose that for any price.
  float cost = 0;
  bool isForbidden = false;

  bool operator==(const Glance&) const = default;
};

// Pure. About 5 ns where the processor shuffles bytes (SSSE3), some 20 ns elsewhere, with equal results.
Glance glance(const Newcomer& newcomer, const Vacancy& vacancy);

// The same for many servers: out[i] for vacancies[servers[i]], by newcomers[its platform].
// Requires: out is as long as servers; every platform met has its newcomer.
void glance(std::span<const Newcomer> newcomers, std::span<const Vacancy> vacancies,
            std::span<const ServerId> servers, std::span<Glance> out);

// The portable path of both, for comparison.
Glance glancePortably(const Newcomer& newcomer, const Vacancy& vacancy);

// S in [0, 1] by the newcomer's quality model, E = S * platform factor, and Q * kEncodedMax (docs/design.md).
inline double satisfaction(const Newcomer& newcomer, const Glance& glance) {
  if (newcomer.isUnknown) return 1.0;
  if (newcomer.model == QualityModel::kComponentwise) {
    return static_cast<double>(kMaxPressure - glance.excess) / kMaxPressure;
  }
  const Encoded missed = glance.encoded + newcomer.target;  // U_H < T_W where this exceeds kEncodedMax
  return missed <= kEncodedMax ? 1.0 : normalized(2 * kEncodedMax - missed);
}

inline double expectedPerformance(const Newcomer& newcomer, const Glance& glance) {
  return satisfaction(newcomer, glance) * newcomer.platformFactor;
}

inline Encoded qNumerator(const Newcomer& newcomer, const Glance& glance) {
  const Encoded missed = glance.encoded + newcomer.target;
  // By masks: on which side of the target a slot lies cannot be foretold, and a wrong guess costs more.
  const Encoded within = -Encoded{missed <= kEncodedMax};
  return (missed & within) | ((kEncodedMax - glance.encoded) & ~within);
}

}  // namespace tarcil
