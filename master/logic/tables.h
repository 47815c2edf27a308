// The whole state of a master, and what the handler of an event works with.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "audit/logic/refusals.h"
#include "core/decide/options.h"
#include "identity/logic/member_table.h"
#include "identity/logic/people_table.h"
#include "master/logic/agents/agent_table.h"
#include "master/logic/cron/cron_table.h"
#include "master/logic/events.h"
#include "master/logic/health/violation_table.h"
#include "master/logic/jobs/dependencies.h"
#include "master/logic/jobs/job_table.h"
#include "master/logic/jobs/upload_table.h"
#include "master/logic/jobs/usage_table.h"
#include "master/logic/options.h"
#include "master/logic/outbox.h"
#include "master/logic/servers/server_table.h"
#include "secrets/logic/secret_table.h"

namespace tarcil::master {

// Servers are reserved for this job (reservation.h).
struct ServerReservation {
  JobId job;
  std::vector<ServerId> servers;  // ascending
  uint64_t slots = 0;             // that they are to provide: as many as it needs, or more
  MonotonicTime due{};            // when they are chosen again
  MonotonicTime widenAt{};        // when more are reserved
  uint64_t freeUnits = 0;         // on them, when last counted
};

// What limits the units that monitors may lend to late-bound tasks (pools.h).
struct PoolLimits {
  bool areOffered = false;           // by some server, since the start
  std::vector<ServerId> limited{};   // ascending: limited to what their operators set apart
  uint64_t revision = 0;             // of the limit that monitors were told last
  std::optional<MonotonicTime> due;  // while jobs wait: when limits are decided again
};

// By StoredProfile::owner() and application.
using Profiles = std::map<std::pair<std::string, std::string>, StoredProfile>;
// By application.
using Profilings = std::map<std::string, Profiling>;
// By user and application.
using ObservedProfiles = std::map<std::pair<std::string, std::string>, ObservedProfile>;

struct Tables {
  MasterOptions options;
  Now began;                        // this start of the master
  ClusterRecord cluster;            // as stored
  JobNumber nextJob = 1;            // above cluster.nextJob, or as it is, and above those of all jobs
  AllocationId nextAllocation = 1;  // below cluster.nextAllocation: within the block that is reserved
  QualitySettings settings;
  ServerTable servers;
  JobTable jobs;
  AgentTable agents;
  UsageTable usage;
  Profiles profiles;
  Profilings profilings;
  ObservedProfiles observed;
  UploadTable uploads;
  CronTable crons;
  MemberTable members;
  PeopleTable people;
  SecretTable secrets;
  DependencyTable dependencies{};
  std::optional<MonotonicTime> historyDue;       // when old finished jobs are to be erased
  std::optional<MonotonicTime> wakeAt;           // requested and not come yet
  std::optional<MonotonicTime> offersDue;        // when the offers that are out have been out long enough
  PublishQueue queueTold{};                      // as agents were told last
  std::optional<ServerReservation> reservation;  // as the queue was told last
  MonotonicTime reservationNotBefore{};          // the next search for a job to reserve servers for
  std::set<JobId> preempting{};  // jobs for which servers are reserved until their victims end
  std::optional<MonotonicTime> preemptionDue{};  // when they are looked at again
  std::optional<MonotonicTime> handOverDue{};    // when more jobs of overdue agents go to others
  ViolationTable violations{};
  std::map<AllocationId, Reached> performances{};  // of watched tasks, as their monitors told last
  ThrottleTable throttles{};
  AdjustingCounts adjusted{};         // since the start
  ViolationCounts violationsBegun{};  // since the start
  PoolLimits pools{};
  uint64_t preempted = 0;  // tasks, since the start
  // How long before this start the store changed last, where that is so long that the clock may be wrong; no
  // job is erased for its age until then.
  Duration doubtfulGap{};
  MonotonicTime ageCountsFrom{};
  audit::Refusals refusals{};
  uint64_t freeBytes = UINT64_MAX;  // on the store's disk, when last measured
};

// What the handling of one event works with; lives as long as that.
struct EventContext {
  Tables& tables;
  Now now;
  Outbox& out;
  std::vector<audit::Entry> audited{};  // what is to be said of it
};

// The clock that waiting is counted by: the wall clock at the master's start, and monotonic from there on, so
// that no job gains or loses when the wall clock is set.
inline WallTime queueTime(const EventContext& context) {
  const Now& began = context.tables.began;
  return began.wall + (context.now.steady - began.steady);
}

// Allocation numbers are reserved in the store in blocks of this size, so that few commits write the counter.
inline constexpr AllocationId kAllocationBlock = 10'000;

// Why no new job can be taken, for people; empty where the disk has enough space.
std::string spaceProblem(const Tables& tables);

// A number never used before, also across restarts. May put the cluster's record.
AllocationId newAllocation(EventContext& context);

}  // namespace tarcil::master
