// A full scan by what is believed of applications, without Q.
#pragma once

#include <memory>

#include "core/base/rng.h"
#include "core/decide/options.h"
#include "sim/ground_truth/ground_truth.h"
#include "sim/policies/server_choice.h"

namespace tarcil::sim {

// Every server with the units free is judged as the policy greedy judges it (E, neighbours' slack, the
// margin), and of the acceptable ones that is taken where E is highest, in bands, and then that with the
// largest part of its units free: not the tightest fit. Where none is acceptable the task waits up to its
// bound (the job's maxWait, or `waitBound`), and takes then what E is highest of those that break no
// neighbour. The first to come goes first among tasks of one application. O(servers) for each task. World and
// belief outlive it.
std::unique_ptr<ServerChoice> fullScan(const World& world, const Belief& belief,
                                       const QualitySettings& settings, Duration waitBound, Rng rng);

}  // namespace tarcil::sim
