// Everything the master knows, and what a handler of an event gets to work with.
#pragma once

#include <string>

#include "core/decide/options.h"
#include "master/agent_table.h"
#include "master/events.h"
#include "master/job_table.h"
#include "master/options.h"
#include "master/outbox.h"
#include "master/server_table.h"
#include "master/usage_table.h"

namespace tarcil::master {

// Room is kept for this gang (reservation.h).
struct GangReservation {
  JobId gang;
  WallTime expectedStart = kNever;  // by the timeouts of what runs; kNever where they do not tell
  MonotonicTime due{};              // when that is to be found out anew
};

struct Tables {
  MasterOptions options;
  ClusterRecord cluster;            // as stored
  AllocationId nextAllocation = 1;  // below cluster.nextAllocation: within the block that is reserved
  QualitySettings settings;
  ServerTable servers;
  JobTable jobs;
  AgentTable agents;
  UsageTable usage;
  std::optional<MonotonicTime> historyDue;     // when finished jobs are to be looked through for old ones
  std::optional<MonotonicTime> wakeAt;         // asked for and not come yet
  std::optional<MonotonicTime> turnsDue;       // when the turns that are out have been out long enough
  PublishQueue queueTold{};                    // to agents, last
  std::optional<GangReservation> reservation;  // as the queue was told last
  uint64_t freeBytes = UINT64_MAX;             // where the store is kept, when it was measured last
};

struct Context {
  Tables& tables;
  Now now;
  Outbox& out;
};

// Allocation numbers are reserved in the store this many at a time, so that a commit seldom writes the
// counter.
inline constexpr AllocationId kAllocationBlock = 10'000;

// Why no new job can be taken, for people; empty where the disk has room.
std::string spaceProblem(const Tables& tables);

// A number never given out before, also across restarts. May put the cluster's record.
AllocationId newAllocation(Context& context);

}  // namespace tarcil::master
