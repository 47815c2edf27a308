#include "core/decide/sample_plan.h"

#include <algorithm>

namespace tarcil {
namespace {

constexpr uint64_t kLoadChoices = 2;

}  // namespace

SamplePlan samplePlanOf(const JobSpec& spec, const QualitySettings& settings, uint64_t tasks) {
  switch (spec.policy) {
    case Policy::kRandom:
      return {tasks, tasks};
    case Policy::kPerTask:
    case Policy::kBatch:
      return {kLoadChoices * tasks, kLoadChoices * tasks};
    case Policy::kQuality:
    case Policy::kGreedy:
    case Policy::kLateBinding:  // decided by monitors; what is asked of it here is asked as of quality
      break;
  }
  const uint64_t most = uint64_t{settings.ratio.value_or(settings.cap)} * tasks;
  return {settings.ratio ? most : std::max<uint64_t>(settings.floor, tasks), most};
}

Ranking rankingOf(Policy policy) {
  switch (policy) {
    case Policy::kRandom:
      return Ranking::kChance;
    case Policy::kPerTask:
    case Policy::kBatch:
      return Ranking::kLoad;
    case Policy::kQuality:
    case Policy::kGreedy:
    case Policy::kLateBinding:
      break;
  }
  return Ranking::kQuality;
}

}  // namespace tarcil
