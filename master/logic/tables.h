// Everything the master knows, and what a handler of an event gets to work with.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/decide/options.h"
#include "master/logic/agents/agent_table.h"
#include "master/logic/events.h"
#include "master/logic/health/violation_table.h"
#include "master/logic/jobs/job_table.h"
#include "master/logic/jobs/usage_table.h"
#include "master/logic/options.h"
#include "master/logic/outbox.h"
#include "master/logic/servers/server_table.h"

namespace tarcil::master {

// Room is kept for this job (reservation.h).
struct RoomReservation {
  JobId job;
  std::vector<ServerId> servers;  // ascending
  uint64_t slots = 0;             // that they are to give it: as many as it needs, or more
  MonotonicTime due{};            // when they are to be chosen anew
  MonotonicTime widenAt{};        // when more are to be kept
  uint64_t freeUnits = 0;         // on them, when that was asked last
};

// How far monitors may go with the units of late-bound tasks (pools.h).
struct PoolLimits {
  bool areOffered = false;           // by a server, since the start
  std::vector<ServerId> limited{};   // ascending: their pools have what operators set apart, and no more
  uint64_t revision = 0;             // of the limit that was told last
  std::optional<MonotonicTime> due;  // while jobs wait: when the next look is taken
};

// By application.
using Profiles = std::map<std::string, StoredProfile>;
using Profilings = std::map<std::string, Profiling>;

struct Tables {
  MasterOptions options;
  Now began;                        // this start of the master
  ClusterRecord cluster;            // as stored
  AllocationId nextAllocation = 1;  // below cluster.nextAllocation: within the block that is reserved
  QualitySettings settings;
  ServerTable servers;
  JobTable jobs;
  AgentTable agents;
  UsageTable usage;
  Profiles profiles;
  Profilings profilings;
  std::optional<MonotonicTime> historyDue;     // when finished jobs are to be looked through for old ones
  std::optional<MonotonicTime> wakeAt;         // asked for and not come yet
  std::optional<MonotonicTime> offersDue;      // when the turns that are out have been out long enough
  PublishQueue queueTold{};                    // to agents, last
  std::optional<RoomReservation> reservation;  // as the queue was told last
  MonotonicTime reservationNotBefore{};        // a job to keep servers for is looked for
  std::set<JobId> preempting{};                // jobs that servers are kept for till their victims have ended
  std::optional<MonotonicTime> preemptionDue{};  // when they are to be looked at
  ViolationTable violations{};
  AdjustingCounts adjusted{};  // since the start
  PoolLimits pools{};
  uint64_t preempted = 0;           // tasks, since the start
  uint64_t freeBytes = UINT64_MAX;  // where the store is kept, when it was measured last
};

struct EventContext {
  Tables& tables;
  Now now;
  Outbox& out;
};

// What waiting is counted by: as the clock for people was at the master's start, and monotonic from there on.
// When that clock is set, nobody comes first or last for it.
inline WallTime queueTime(const EventContext& context) {
  const Now& began = context.tables.began;
  return began.wall + (context.now.steady - began.steady);
}

// Allocation numbers are reserved in the store this many at a time, so that a commit seldom writes the
// counter.
inline constexpr AllocationId kAllocationBlock = 10'000;

// Why no new job can be taken, for people; empty where the disk has room.
std::string spaceProblem(const Tables& tables);

// A number never given out before, also across restarts. May put the cluster's record.
AllocationId newAllocation(EventContext& context);

}  // namespace tarcil::master
