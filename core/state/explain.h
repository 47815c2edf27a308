// Why a decision came out as it did. Made by pure code, stored with the job, shown by `tarcil job explain`.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/model/resources.h"
#include "core/state/server.h"

namespace tarcil {

// A server that was judged for a slot.
struct Candidate {
  std::string server;
  std::string platform;
  std::vector<RuIndex> rus;  // the units that were, or would have been, asked for
  Pressure contention{};
  double uH = 0, q = 0, s = 0;
  double platformFactor = 1;
  PressureSum slack{};

  bool operator==(const Candidate&) const = default;
};

// One decision: the placing of some tasks of a job from one sample.
struct Explanation {
  double p = 0;        // share of drawn slots that were feasible and acceptable
  uint32_t drawn = 0;  // slots sampled
  double ratio = 0;    // drawn per slot needed
  // Confidence that drawing on to the cap finds enough acceptable slots, with the lower confidence bound of
  // p. 1 or 0 where every free slot was drawn.
  double guarantee = 0;
  std::map<std::string, uint32_t> dropped;  // slots turned down, by reason
  std::vector<Candidate> best;              // highest ranked first, at most kMaxCandidates
  uint64_t seed = 0;                        // replays the decision on the same state
  uint64_t wanted = 0;                      // tasks that were to be placed
  uint64_t placed = 0;

  static constexpr size_t kMaxCandidates = 5;

  bool operator==(const Explanation&) const = default;
};

}  // namespace tarcil
