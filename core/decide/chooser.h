// Chooses slots for tasks from a sample of the free ones (Tarcil section 3.3; design 3.5-3.7).
#pragma once

#include <vector>

#include "core/base/result.h"
#include "core/decide/explain.h"
#include "core/decide/options.h"
#include "core/model/job.h"
#include "core/state/claim.h"
#include "core/state/cluster_state.h"

namespace tarcil {

// Whether slots that are not acceptable may be taken.
enum class Standard : uint8_t {
  kAcceptable,   // only slots that satisfy the job well enough
  kBestThereIs,  // the job has waited long enough: the best feasible slot, acceptable or not
};

struct PlacementRequest {
  const JobSpec& spec;
  // Tasks to place, each with its attempt; spec.rusPerTask units each.
  struct Task {
    TaskIndex index = 0;
    uint32_t attempt = 0;
  };
  std::vector<Task> tasks;
  // Tasks of the job that already sit on servers: they count for placement.spread.
  std::vector<ServerId> placedOn;
  Standard standard = Standard::kAcceptable;
};

struct Decision {
  std::vector<Claim> claims;  // at most one per task, in the order of request.tasks; distinct tasks
  Explanation explanation;
};

// Samples, judges and chooses greedily: after each pick the server is judged again, so a job never breaks
// itself. Seeds its own generator with `seed` and records it. `state` is unchanged on return (picks are laid
// over and lifted). With schedule gang, claims are for all tasks or none.
Decision choose(ClusterState& state, const PlacementRequest& request, const QualitySettings& settings,
                uint64_t seed);

// How the master is to judge the claims of this job.
Judging judgingFor(const JobSpec& spec, const QualitySettings& settings);

// Why no server could ever take this job, or success: constraints that no server meets, a task larger than
// any server that meets them, more units at once than such servers have. Servers count whether up or not.
Status everFeasible(const ClusterState& state, const JobSpec& spec);

}  // namespace tarcil
