#include "core/decide/sample_plan.h"

#include <algorithm>

#include "core/model/sample_size.h"

namespace tarcil {
namespace {

constexpr uint64_t kLoadChoices = 2;

}  // namespace

uint64_t drawLimit(const QualitySettings& settings, double confidence, uint64_t tasks) {
  if (settings.ratio) return *settings.ratio * tasks;
  // The bounds of rarity leave no case without a number.
  const uint64_t needed =
      drawsNeeded(settings.rarity, confidence, static_cast<uint32_t>(tasks)).value_or(UINT64_MAX);
  return settings.cap ? std::min(needed, *settings.cap * tasks) : needed;
}

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
  if (tasks == 0) return {};
  const uint64_t limit = drawLimit(settings, spec.confidence.value_or(settings.confidence), tasks);
  if (settings.ratio) return {limit, limit};
  return {std::min(std::max<uint64_t>(settings.floor, tasks), limit), limit, settings.rarity};
}

Ranking rankingOf(const JobSpec& spec, const QualitySettings& settings) {
  switch (spec.policy) {
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
  if (spec.profile.isUnknown()) return Ranking::kLeastContended;
  return settings.ranking == RankBy::kWorth ? Ranking::kWorth : Ranking::kQuality;
}

}  // namespace tarcil
