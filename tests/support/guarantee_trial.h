// Puts the promise of a sample to the test: on a cluster in use, decision after decision.
#pragma once

#include <cstdint>

#include "tests/support/generated_cluster.h"

namespace tarcil {

struct GuaranteeTrial {
  uint32_t tasks = 1;  // of each job
  uint64_t decisions = 2'000;
  uint64_t scanEvery = 10;  // decisions of which one looks at every free slot too
  QualitySettings settings{};
  uint64_t seed = 1;
};

// Counts are of decisions. The promise covers a scanned decision where the slots that tasks of the job could
// have together are at least that share of the free ones that the rarity says, and enough for the job. It is
// broken where not enough were found.
struct GuaranteeResult {
  uint64_t decisions = 0;
  uint64_t scanned = 0, covered = 0, broken = 0;
  uint64_t limited = 0;        // not found although the limit of draws was reached
  uint64_t everySlotSeen = 0;  // nothing was left to chance

  double p = 0;  // sum over scanned decisions
  // Sums over all decisions.
  double draws = 0, load = 0, tasksPlaced = 0, found = 0;
};

// Decides, places, and ends as many tasks at random as keep the load where it is. Jobs are of random kinds.
// Requires: the cluster is filled.
GuaranteeResult tryGuarantee(GeneratedCluster& cluster, const GuaranteeTrial& trial);

}  // namespace tarcil
