// Draws free slots of the servers that suit a job (design 3.6: free ones, uniformly, without replacement).
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/base/rng.h"
#include "core/model/job.h"
#include "core/state/cluster_state.h"

namespace tarcil {

// A server with f free units holds floor(f / rusPerTask) slots; it is drawn once for each. Draws at random
// from all servers while most draws hit, so that a decision costs what it samples and not the size of the
// cluster. Once many draws have missed (few servers suit, or most slots are drawn), lists the slots that are
// left and draws from the list: a rare set of servers is found by index and not by luck, and the end is
// always reached. `state` and `spec` must not change while it lives.
class SlotSampler {
 public:
  SlotSampler(const ClusterState& state, const JobSpec& spec, Rng& rng)
      : state_(state), spec_(spec), rng_(rng) {}

  // The server of the next slot; nullopt once every slot has been drawn.
  std::optional<ServerId> next();

  // Takes a slot of this server out of what next() draws from; false where it has none left.
  // Requires: state.known(server), and next() was not called yet.
  bool take(ServerId server);

  // Servers that were looked at and hold no slot: they do not meet the constraints, or have too few free
  // units.
  uint32_t unsuited() const { return unsuited_; }
  uint32_t tooFull() const { return tooFull_; }

 private:
  struct Seen {
    uint32_t left = 0;  // slots not drawn yet
  };

  Seen& look(ServerId server);
  void listWhatIsLeft();

  const ClusterState& state_;
  const JobSpec& spec_;
  Rng& rng_;
  std::unordered_map<ServerId, Seen> seen_;
  uint32_t unsuited_ = 0, tooFull_ = 0;
  uint64_t misses_ = 0;
  bool listed_ = false;
  std::vector<ServerId> left_;  // once listed: one entry per slot
};

}  // namespace tarcil
