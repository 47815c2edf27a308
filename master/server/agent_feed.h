// The feed of one agent: the newest state of each changed server, and news of its jobs.
#pragma once

#include <kj/async.h>
#include <kj/function.h>
#include <kj/timer.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/base/rng.h"
#include "core/state/job_state.h"
#include "env/clock.h"
#include "master/logic/servers/published_state.h"
#include "master/server/master_metrics.h"
#include "schema/master.capnp.h"

namespace tarcil {

// What every feed of a master shares; all of it outlives them.
struct FeedSurroundings {
  PublishedState& published;
  kj::Timer& timer;
  const Clock& clock;
  Rng& rng;
  MasterMetrics& metrics;
};

// One message is under way at a time; changes meanwhile are coalesced, so that a slow agent costs bounded
// memory: one mark per server and platform, and the newest state of each task of its own jobs.
//
// Every 5 to 10 seconds, at random so that agents do not all compare at once, a message carries the checksum
// of the whole state. An agent whose copy differs gets the whole state again.
class AgentFeedSender final {
 public:
  // Starts with a full snapshot. `failed`: the agent did not take a message, and nothing more is sent; it may
  // not destroy this at once.
  AgentFeedSender(std::string agent, wire::AgentFeed::Client feed, const FeedSurroundings& surroundings,
                  kj::Function<void(const Error&)> failed);

  const std::string& agent() const { return agent_; }
  // The age of the oldest change that the agent has not confirmed; zero where it has confirmed all.
  Duration behind(MonotonicTime now) const;
  // Servers whose newest states are still to be sent.
  size_t pending() const { return dirty_.size(); }

  // The published state has changed.
  void serverChanged(ServerId server, bool factsChanged);
  void settingsChanged();
  void platformChanged(const std::string& platform);
  void sharesChanged(const std::string& user);

  // As AgentFeed.revoked.
  kj::Promise<void> tellRevoked(const std::vector<uint64_t>& serials);

  void assign(JobAssignment assignment);
  // Sent only after everything that changed until now.
  struct JobOffer {
    JobId job;
    std::optional<Duration> bound;  // how long to wait for a good slot, where that is told
    bool mayUseReserved = true;     // as master::JobOffer
    std::vector<ServerId> usableReserved{};
  };
  void offerJobs(const std::vector<JobOffer>& offers);
  void queueChanged();
  // Another connection speaks for the agent now: its process is to end.
  void supersede();

 private:
  void markEverything();
  void noteChange();
  void kick();
  kj::Promise<void> run();
  bool idle() const;
  kj::Promise<void> sendOne();
  size_t serversToSend() const;
  void writeServers(wire::AgentFeed::UpdateParams::Builder message);
  void writeOthers(wire::AgentFeed::UpdateParams::Builder message);
  void writeAssignments(wire::AgentFeed::UpdateParams::Builder message);
  void writeQueue(wire::AgentFeed::UpdateParams::Builder message);
  void confirmed(bool completesSnapshot);
  kj::Promise<void> compareFromTimeToTime();

  const std::string agent_;
  wire::AgentFeed::Client feed_;
  const FeedSurroundings to_;
  kj::Function<void(const Error&)> failed_;
  std::map<ServerId, bool> dirty_;  // value: with facts
  std::set<std::string> platforms_;
  std::set<std::string> users_;  // whose shares changed
  bool settings_ = false;
  bool queue_ = false;
  bool superseded_ = false;  // and not told
  std::vector<JobOffer> offers_;
  std::map<JobId, JobAssignment> assignments_;
  bool snapshotPending_ = false;
  MonotonicTime snapshotBegun_;
  bool comparisonDue_ = false;
  std::optional<MonotonicTime> unsentSince_;       // of the oldest change that is still to be sent
  std::optional<MonotonicTime> unconfirmedSince_;  // of the oldest one in the message under way
  bool sending_ = false;
  kj::Promise<void> running_ = nullptr;
  kj::Promise<void> comparing_;
};

}  // namespace tarcil
