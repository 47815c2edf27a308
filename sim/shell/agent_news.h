// What a master's shell tells agents: the actions of MasterLogic as the events that AgentLogic handles. In
// place of master/server, its feeds and the wire between them, for shells on virtual time.
#pragma once

#include <vector>

#include "agent/logic/events.h"
#include "core/base/time.h"
#include "master/logic/master_logic.h"
#include "master/logic/queue/forecast.h"
#include "master/logic/servers/published_state.h"

namespace tarcil::sim {

// Holds what was published so far, so actions are to be taken in their order, and only once they may leave.
class AgentNews {
 public:
  // What the logic would tell an agent that attaches now; `logic` outlives it.
  AgentNews(const MasterLogic& logic, MonotonicTime now, const BucketOptions& buckets = {});

  // --- News for every agent

  agent::ServersUpdated take(const master::PublishServer& server, MonotonicTime now);
  agent::SettingsUpdated take(const master::PublishSettings& settings, MonotonicTime now);
  agent::PlatformUpdated take(const master::PublishPlatform& platform, MonotonicTime now);
  agent::QueueTold take(const master::PublishQueue& queue);

  // --- For one agent

  // With how long each job is to wait, where the master counted what is ahead of it.
  agent::JobsOffered offers(const master::OfferJobs& offers, MonotonicTime now);
  // All that was published, in the order in which it is to arrive.
  std::vector<agent::Event> snapshot() const;

  // As Forecast has it, on what was published.
  std::optional<WaitEstimate> waitOf(const WaitingJob& job, MonotonicTime now);
  StateChecksum checksum() { return published_.checksum(); }

 private:
  const MasterLogic& logic_;
  PublishedState published_;
  Forecast forecast_;
};

}  // namespace tarcil::sim
