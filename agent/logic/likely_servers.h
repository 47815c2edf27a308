// Where to look on when a sample found too few slots: servers of matching buckets (Tarcil section
// 4).
#pragma once

#include <memory>
#include <vector>

#include "core/base/rng.h"
#include "core/base/time.h"
#include "core/decide/options.h"
#include "core/state/cluster_state.h"
#include "lsh/bucket_index.h"

namespace tarcil::agent {

// Follows the agent's copy of the state. Single-threaded; no clock, no I/O.
//
// In a crowded cluster few free slots suit a demanding job, and a sample of them all finds none with a
// probability that the job's cap on draws sets. Servers that it suits are alike, so they lie in few buckets,
// and draws inside those find them.
class LikelyServers {
 public:
  LikelyServers();

  // What the copy holds of the server has changed. Some hundred nanoseconds.
  void update(const ClusterState& state, ServerId server);
  // The same of every server. O(servers).
  void updateAll(const ClusterState& state);

  // Servers with free units in buckets that match the job, distinct and by chance, at most so many: all there
  // are where they are no more. O(buckets + servers with free units in those that match).
  std::vector<ServerId> draw(const ClusterState& state, const JobSpec& spec, const QualitySettings& settings,
                             size_t atMost, Rng& rng) const;

 private:
  std::unique_ptr<BucketIndex> index_;
};

}  // namespace tarcil::agent
