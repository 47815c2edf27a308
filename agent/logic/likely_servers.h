// Where acceptable slots are when they are rare: servers in matching buckets (Tarcil section 4).
#pragma once

#include <memory>
#include <vector>

#include "core/base/rng.h"
#include "core/base/time.h"
#include "core/decide/options.h"
#include "core/decide/sample_plan.h"
#include "core/state/cluster_state.h"
#include "lsh/bucket_index.h"

namespace tarcil::agent {

// Follows the agent's copy of the state. Single-threaded; no clock, no I/O.
//
// In a crowded cluster few free slots are acceptable to a demanding job, and a uniform sample may miss
// all of them. Servers with acceptable slots are alike, so they fall into few buckets, and draws from
// those find them.
class LikelyServers {
 public:
  LikelyServers();

  // The server's state in the copy has changed. A few hundred nanoseconds.
  void update(const ClusterState& state, ServerId server);
  // The state of every server may have changed. O(servers).
  void updateAll(const ClusterState& state);

  // Up to `atMost` distinct servers with free units from buckets that match the job, drawn uniformly; none
  // where the buckets expect a share of acceptable slots of settings.rarity or more. Constraints and extras
  // are not looked at. O(buckets), some 1.5 us; for the servers O(those with free units in matching buckets).
  std::vector<ServerId> draw(const ClusterState& state, const JobSpec& spec, const QualitySettings& settings,
                             size_t atMost, Rng& rng) const;

 private:
  std::unique_ptr<BucketIndex> index_;
};

}  // namespace tarcil::agent
