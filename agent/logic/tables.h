// Everything an agent knows, and what the handler of an event works with.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "agent/logic/arrival.h"
#include "agent/logic/commits_in_flight.h"
#include "agent/logic/events.h"
#include "agent/logic/job_table.h"
#include "agent/logic/launches.h"
#include "agent/logic/likely_servers.h"
#include "agent/logic/options.h"
#include "agent/logic/state_copy.h"
#include "agent/logic/uploads.h"
#include "core/base/rng.h"
#include "core/base/time.h"
#include "core/decide/chooser.h"
#include "core/decide/options.h"
#include "core/decide/price.h"
#include "core/decide/utilisation.h"

namespace tarcil::agent {

struct Tables {
  explicit Tables(const AgentOptions& options) : options(options), launches(options.launchRetry) {}

  const AgentOptions options;

  // --- The attachment to the master (attachment.h)
  uint64_t epoch = 0;            // of the last attachment; 0: none yet
  bool attached = false;         // and told of all its jobs
  bool submitsUnlisted = false;  // then jobs are submitted anew that the master does not list
  bool hasSnapshot = false;      // since the attachment, or since the copy was dropped
  // While it is not attached: when the clients whose commits are under way are told so (submissions.h).
  std::optional<MonotonicTime> unansweredUntil;

  // --- The copy of the shared state (state_feed.h)
  StateCopy copy;
  LikelyServers likely;
  QualitySettings settings;
  uint64_t comparisons = 0;  // of the copy with the master's checksum
  uint64_t mismatches = 0;   // comparisons that showed a difference

  // --- Work
  std::deque<Arrival> arrivals;  // by deadline
  Uploads uploads;               // admitted ones, while their files are sent ahead
  JobTable jobs;
  QueueTold queueTold;  // the latest
  Chooser chooser;
  Price price;              // of slots, where they are ranked by worth
  Utilisation utilisation;  // as jobs found it that came here
  uint64_t decisions = 0;   // that sampled slots
  uint64_t drawn = 0;       // slots, for these
  CommitsInFlight inFlight;
  Launches launches;
  std::optional<MonotonicTime> wakeAt;  // TimerFired was requested for then and has not come
};

// Whether decisions can be made: the agent is attached and has a complete snapshot.
inline bool isReady(const Tables& tables) {
  return tables.attached && tables.hasSnapshot;
}

// Lives for one event.
struct EventContext {
  Tables& tables;
  Now now;
  Rng& rng;
  std::vector<Action>& actions;
  // For one DeclineOffers, sent when the event has been handled.
  std::vector<JobId> declined{};
  std::vector<JobId> untried{};
};

// Ends the offer of the job, if there is one. A commit for the job ends it too.
inline void decline(EventContext& context, Job& job) {
  if (std::exchange(job.isOffered, false)) context.declined.push_back(job.id());
}
// The same, because the job has no task to place.
inline void declineUntried(EventContext& context, Job& job) {
  if (std::exchange(job.isOffered, false)) context.untried.push_back(job.id());
}

}  // namespace tarcil::agent
