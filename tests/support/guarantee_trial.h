// Puts the guarantee that an explanation states to the test: on a cluster in use, decision after decision.
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

// Counts are of decisions. A decision is promised where the guarantee after its first block reaches the
// confidence, and broken where it then did not find enough acceptable slots. Where every free slot was drawn
// the explanation states what was found, which is no promise.
struct GuaranteeResult {
  uint64_t decisions = 0;
  uint64_t promised = 0, broken = 0;
  // Of the broken ones: even looking at every free slot does not place all tasks. Acceptable slots were
  // there, but not together: the job's own tasks take them from each other.
  uint64_t brokenForWant = 0;
  // The same with the decision made a second time, on the same state, from draws of its own: the first block
  // of the one says nothing about those of the other but through p.
  uint64_t brokenAgain = 0;
  // As the explanation states it in the end, by all draws: decisions for which that reaches the confidence,
  // and those of them that did not find enough when made a second time.
  uint64_t stated = 0, statedBroken = 0;
  uint64_t capped = 0;         // not found although the cap was reached
  uint64_t everySlotSeen = 0;  // nothing was left to chance

  // Scanned decisions: those in which p was below its lower bound, at the confidence used for the
  // guarantee and at 0.95; and those for which the cap suffices at the p there is: P[Bin(cap m, p) >= m]
  // reaches the confidence.
  uint64_t scanned = 0, belowBound = 0, belowBound95 = 0, capSuffices = 0;
  double p = 0, guaranteeOfCap = 0;  // sums over them

  // Sums over all decisions; `promise` is of the guarantees stated, to be held against `found`.
  double draws = 0, load = 0, tasksPlaced = 0, promise = 0, found = 0;
};

// Decides, places, and ends as many tasks at random as keep the load where it is. Jobs are of random kinds.
// Requires: the cluster is filled.
GuaranteeResult tryGuarantee(GeneratedCluster& cluster, const GuaranteeTrial& trial);

}  // namespace tarcil
