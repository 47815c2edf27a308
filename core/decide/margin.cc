#include "core/decide/margin.h"

#include "core/decide/chooser.h"

namespace tarcil {

Judging judgingWithoutMargin(const JobSpec& spec, const QualitySettings& settings) {
  Judging judging = judgingFor(spec, settings);
  judging.margin = 0;
  return judging;
}

Judging judgingToWaitBy(const JobSpec& spec, const QualitySettings& settings) {
  return holdsOutForMargin(spec) ? judgingFor(spec, settings) : judgingWithoutMargin(spec, settings);
}

}  // namespace tarcil
