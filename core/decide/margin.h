// When the margin of QualitySettings counts (docs/evaluation.md, "The defaults of the policy").
#pragma once

#include <cstddef>

#include "core/model/job.h"

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

}  // namespace tarcil
