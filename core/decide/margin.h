// When the margin of QualitySettings applies (docs/evaluation.md, "The defaults of the policy").
#pragma once

#include <cstddef>

#include "core/decide/options.h"
#include "core/model/job.h"
#include "core/state/claim.h"

namespace tarcil {

// Whether the cluster is crowded, so that all slots are judged without the margin: more jobs wait than one
// for every hundred servers, plus one, and rejecting slots costs more than it gains. `waiting` includes the
// job that is being placed.
constexpr bool isCrowded(size_t waiting, size_t servers) {
  return waiting > 1 + servers / 100;
}

// Whether the job waits for a slot with the margin rather than take one without: it has a max_wait.
inline bool holdsOutForMargin(const JobSpec& spec) {
  return spec.maxWait.has_value();
}

// As judgingFor(), where a slot without the margin will do.
Judging judgingWithoutMargin(const JobSpec& spec, const QualitySettings& settings);

// How slots are judged that the job would wait for: with the margin only where it waits for that.
Judging judgingToWaitBy(const JobSpec& spec, const QualitySettings& settings);

}  // namespace tarcil
