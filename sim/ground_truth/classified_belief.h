// Profiles as the classifier makes them: from a few probes of the truth, with the errors that come of it.
#pragma once

#include <cstdint>

#include "core/base/rng.h"
#include "sim/ground_truth/ground_truth.h"
#include "sim/ground_truth/measured.h"
#include "sim/ground_truth/parametric.h"

namespace tarcil::sim {

// Every second application is known: all of it was measured. Of each other one little was, and the rest is
// completed from those that are known, as on a cluster (docs/classification.md). A measurement is the best of
// three runs.
struct Classification {
  // What is probed of an application that is not known, chosen by the known ones as what tells most.
  uint32_t probes = 2;
  double noise = 0;  // a run is at 1 - noise to 1 of its speed, by chance
};

inline bool isKnown(ApplicationNumber application) {
  return application % 2 == 0;
}

// A probe is the kernel of a resource, on the reference machine: what of it the application bears, found as
// the profiler does, and what it takes from the kernel. Of platforms, applications that are not known are run
// on one. ProfileCompleter completes both.
Belief classifiedBelief(const ParametricTruth& truth, const Classification& classification, Rng& rng);

// There are no kernels: a probe is a run beside a known program, of which both speeds are measured. Completer
// completes how a program does beside all that are known, and they beside it, and profiles are fitted to
// that. What two programs do to each other of which neither is known, nobody knows.
Belief classifiedBelief(const MeasuredTruth& truth, const Classification& classification, Rng& rng);

}  // namespace tarcil::sim
