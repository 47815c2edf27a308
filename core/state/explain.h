// Why a decision came out as it did. Made by pure code, stored with the job, shown by `tarcil job explain`.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/model/job.h"
#include "core/model/resources.h"
#include "core/state/server.h"

namespace tarcil {

// Why servers or slots were left out of a choice. The first two count servers of the whole cluster, the
// others slots that were looked at.
enum class Dropped : uint8_t {
  kConstraint,     // servers that do not meet the constraints, or never have the extras
  kNotEnoughFree,  // servers with some free units, but fewer than a slot has
  kSpread,         // the server or rack has as many tasks of the job as placement.spread allows
  kQuality,        // below the target
  kTaken,          // good enough until the job's own tasks took other slots of the server
  kNeighbour,      // a resident could not bear the job; one such reason per resource
  kMemory = kNeighbour + kResources,  // less memory is left than a task claims
  kDisk,                              // the same of the disk of work folders
};

inline constexpr size_t kDropReasons = static_cast<size_t>(Dropped::kDisk) + 1;

// kNeighbour for those of every resource. Requires: reason < kDropReasons.
Dropped droppedAs(size_t reason);

// "constraint", "quality", "neighbour:llc", "memory". Requires: reason < kDropReasons.
std::string dropName(size_t reason);

// What put a candidate after the one before it.
enum class TieBreak : uint8_t { kNone, kStanding, kPreferred, kPerformance, kQ, kLoad, kChance, kContention };

inline constexpr uint16_t kTieBreaks = 8;

const char* name(TieBreak tieBreak);

// A server that was judged for a slot, as it was before the job took anything of it.
struct Candidate {
  ServerId server = 0;
  // The units that were, or would have been, asked for; of larger slots the first.
  std::array<RuIndex, 4> rus{};
  uint8_t rusCount = 0;
  Pressure contention{};  // C, without the margin
  Pressure slack{};       // at least 0; Vacancy::kUnbounded where residents bear anything
  double q = 0, s = 0;
  float cost = 0;  // what those there would lose, each in S, together; 0 where nobody asked
  TieBreak after = TieBreak::kNone;

  bool operator==(const Candidate&) const = default;
};

// One decision: the placing of some tasks of a job from one sample. Small, because one is stored for each; p,
// ratio and guarantee follow from what it holds.
struct Explanation {
  uint32_t drawn = 0;        // slots sampled
  uint32_t acceptable = 0;   // of them feasible and good enough
  uint64_t limit = 0;        // most slots that would have been sampled
  uint32_t freeSlots = 0;    // what was drawn from; at most a quarter too high where slots are large
  double rarity = 0;         // share of acceptable slots for which enough were to be found,
  double confidence = 0;     // and with which probability
  bool allSeen = false;      // every free slot was drawn: nothing was left to chance
  bool enoughFound = false;  // as many acceptable slots as were wanted
  int margin = 0;            // pressure added to each contention when it was judged
  // Where slots are ranked by worth: of which worth on one would have been taken that is not acceptable, as
  // so many jobs waited. 1: none would.
  double price = 1;
  uint32_t waitingJobs = 0;
  std::array<uint32_t, kDropReasons> dropped{};
  std::vector<Candidate> best;  // highest ranked first; at most kMaxCandidates, but in plans
  uint64_t seed = 0;            // replays the decision on the same state
  uint64_t wanted = 0;          // tasks that were to be placed
  uint64_t sought = 0;          // of them, those for which slots were sampled: not placed by name
  uint64_t placed = 0;

  static constexpr size_t kMaxCandidates = 5;

  bool operator==(const Explanation&) const = default;
};

// Share of drawn slots that were feasible and acceptable; 0 where none was drawn.
double shareAcceptable(const Explanation& explanation);

// Slots drawn per slot needed.
double ratio(const Explanation& explanation);

// Probability that sampling to the limit finds enough acceptable slots where they are no rarer than `rarity`
// (Tarcil section 3.3, Eq. 6). 1 where the limit reaches every free slot, or every task was placed by name.
// Where several tasks take slots of one server from each other, those that they can have together are what
// counts as acceptable. Some microseconds.
double guarantee(const Explanation& explanation);

// How many were dropped for this reason, over all resources for kNeighbour.
uint32_t droppedFor(const Explanation& explanation, Dropped reason);

}  // namespace tarcil
