// How each policy samples: how many slots it draws, and what it ranks them by.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/decide/options.h"
#include "core/decide/ranking.h"
#include "core/model/job.h"
#include "core/state/server.h"

namespace tarcil {

// Slots to draw. Sampling goes on from `least` to `limit` until enough acceptable ones are found.
struct SamplePlan {
  uint64_t least = 0, limit = 0;
  double rarity = 0;  // a smaller share of acceptable slots is rare
};

// Names up to so many distinct servers where acceptable slots are likely, by what is known without looking at
// servers (lsh/; Tarcil section 4); none where they are not rare, or nobody knows.
using AskLikely = std::function<std::vector<ServerId>(size_t atMost)>;

// The limit of kQuality for so many tasks: the smallest n with P[Bin(n, rarity) >= tasks] >= confidence
// (Tarcil section 3.3, Eq. 6), but no more than the cap allows; with a fixed ratio exactly so many a task.
// Requires: tasks >= 1.
uint64_t drawLimit(const QualitySettings& settings, double confidence, uint64_t tasks);

// For so many tasks. kQuality draws at least the floor, or a slot a task. The policies that look at load only
// draw two a task (Sparrow section 3.1: the power of two choices).
SamplePlan samplePlanOf(const JobSpec& spec, const QualitySettings& settings, uint64_t tasks);

Ranking rankingOf(const JobSpec& spec, const QualitySettings& settings);

}  // namespace tarcil
