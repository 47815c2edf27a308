// What must change in a backup of a store before a master may start on it: agents, monitors and clients
// remember what happened after the backup was taken, and must not take the master for the one that they
// knew (docs/protocol.md).
#pragma once

#include <vector>

#include "core/base/rng.h"
#include "core/base/time.h"
#include "master/store/store.h"

namespace tarcil {

// Raises the cluster's epoch to one that no earlier start had, also where the same backup was restored
// before, and the clock set back meanwhile: agents start new epochs of their own. Moves the counter of
// allocations past whatever may have been given out since. Tasks that were starting count as running: a
// monitor that does not know one may have forgotten its end, and then it is lost, not launched again. Queued
// tasks of exclusive jobs may have been started since: they wait for one server timeout (kOneServerTimeout).
// Tokens that expire are revoked, all of them.
// Invalid where the contents are no store's, or the counter is used up.
Result<std::vector<Mutation>> changesOfRestore(const StoreContents& contents, WallTime now, Rng& rng);

// As a task's mayRunFor: as long as the master waits for servers, which it knows at its start.
inline constexpr Duration kOneServerTimeout = Duration::max();

// Epochs that agents were given in earlier epochs of the cluster are not above this: in one, no agent starts
// anew 2^20 times, and the cluster's epochs are below 2^44 for some centuries.
inline uint64_t lastEpochOfAgentsBefore(const ClusterRecord& cluster) {
  return (cluster.epoch - 1) << 20;
}

}  // namespace tarcil
