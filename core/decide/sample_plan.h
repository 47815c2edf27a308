// How each policy samples: how many slots it draws, and what it ranks them by.
#pragma once

#include <cstdint>

#include "core/decide/options.h"
#include "core/decide/ranking.h"
#include "core/model/job.h"

namespace tarcil {

// Slots to draw. Sampling goes on from `least` to `most` until enough acceptable ones are found.
struct SamplePlan {
  uint64_t least = 0, most = 0;
};

// The plan for this number of tasks. For kQuality it follows the sample size of Tarcil section 3.3: at least
// the floor, at most cap slots a task, or exactly `ratio` a task. The policies that consider load only draw
// two a task (Sparrow section 3.1: the power of two choices).
SamplePlan samplePlanOf(const JobSpec& spec, const QualitySettings& settings, uint64_t tasks);

Ranking rankingOf(Policy policy);

}  // namespace tarcil
