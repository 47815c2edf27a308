// When the margin of QualitySettings counts (docs/evaluation.md, "The defaults of the policy").
#pragma once

#include <cstddef>

#include "core/decide/options.h"
#include "core/model/job.h"
#include "core/state/claim.h"

namespace tarcil {

// Whether slots are judged without it for everybody: more jobs wait for a place than one for every hundred
// servers, and one besides, so that turning places down costs more than it gains. `waiting` counts the one
// that asks, too.
constexpr bool isCrowded(size_t waiting, size_t servers) {
  return waiting > 1 + servers / 100;
}

// Whether the job waits for a slot with the margin rather than take one without where there is none: it says
// for how long it may.
inline bool holdsOutForMargin(const JobSpec& spec) {
  return spec.maxWait.has_value();
}

// judgingFor() where a place without the margin will do.
Judging judgingWithoutMargin(const JobSpec& spec, const QualitySettings& settings);

// How places are judged that the job would wait for: with the margin only where it holds out for it.
Judging judgingToWaitBy(const JobSpec& spec, const QualitySettings& settings);

}  // namespace tarcil
