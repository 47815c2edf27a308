// Where the best of some sampled slots stands among all free slots of a cluster, for one job.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "core/base/rng.h"
#include "core/decide/options.h"
#include "core/model/job.h"
#include "core/state/cluster_state.h"

namespace tarcil::bench {

// Ranks by docs/design.md: acceptable slots first, E in bands, Q, load of the server; copies what it needs.
class SlotRanks {
 public:
  // Requires: the best platform gives the job a factor of 1; every server is up.
  SlotRanks(const ClusterState& state, const JobSpec& spec, const QualitySettings& settings);

  // In [0, 1], 0 for the worst: where the best of `ratio` slots stands that were drawn uniformly and without
  // replacement, and of which a slot of this server is one of the best. Slots that rank alike, such as those
  // of one server, stand in an order left to chance (Tarcil section 3.3), and the more of them there are
  // among those drawn, the higher stands the highest of these: its place is drawn from its law. Requires: the
  // server has a free slot.
  double place(ServerId server, uint32_t ratio, Rng& rng) const;

 private:
  // Slots that rank alike.
  struct Equals {
    uint64_t worse;  // slots that rank behind them
    uint64_t slots;
  };

  uint64_t slots_ = 0;
  std::unordered_map<ServerId, Equals> equals_;
};

}  // namespace tarcil::bench
