// What one agent is still to be told: the newest state of each changed server, and news of its jobs.
#pragma once

#include <kj/async.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/state/job_state.h"
#include "env/clock.h"
#include "master/master_logic.h"
#include "master/master_metrics.h"
#include "master/published_state.h"
#include "schema/master.capnp.h"

namespace tarcil {

// One message is under way at a time; what happens meanwhile is joined, so that a slow agent costs a bounded
// amount of memory: one mark per server, and the newest of each task of its own jobs.
class AgentFeedSender final {
 public:
  // `published`, `clock` and `metrics` outlive the sender. Starts with a full snapshot.
  AgentFeedSender(std::string agent, wire::AgentFeed::Client feed, const PublishedState& published,
                  const QualitySettings& settings, const std::vector<PlatformRecord>& platforms,
                  const Clock& clock, MasterMetrics& metrics);

  const std::string& agent() const { return agent_; }
  // How far the agent's copy is behind: how long the oldest change that it has not confirmed has been there;
  // zero where it has confirmed all.
  Duration behind(MonotonicTime now) const;
  // Servers whose newest states are still to be sent.
  size_t pending() const { return dirty_.size(); }

  void serverChanged(ServerId server, bool factsChanged);
  void settingsChanged(const QualitySettings& settings);
  void platformChanged(const PlatformRecord& platform);
  void assign(JobAssignment assignment);

 private:
  void noteChange();
  void kick();
  kj::Promise<void> run();
  bool idle() const;
  kj::Promise<void> sendOne();
  void confirmed(bool completesSnapshot);

  const std::string agent_;
  wire::AgentFeed::Client feed_;
  const PublishedState& published_;
  const Clock& clock_;
  MasterMetrics& metrics_;
  std::map<ServerId, bool> dirty_;  // value: with facts
  std::map<std::string, Share> platforms_;
  std::vector<QualitySettings> settings_;  // none or one
  std::map<JobId, JobAssignment> assignments_;
  bool snapshotPending_ = true;
  const MonotonicTime begun_;
  std::optional<MonotonicTime> unsentSince_;       // of the oldest change that is still to be sent
  std::optional<MonotonicTime> unconfirmedSince_;  // of the oldest one in the message under way
  bool sending_ = false;
  kj::Promise<void> running_ = nullptr;
};

}  // namespace tarcil
