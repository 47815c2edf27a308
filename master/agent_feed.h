// What one agent is still to be told: the newest state of each changed server, and news of its jobs.
#pragma once

#include <kj/async.h>

#include <map>
#include <vector>

#include "core/state/job_state.h"
#include "master/master_logic.h"
#include "schema/master.capnp.h"

namespace tarcil {

// Released server states, shared by every feed: what agents may see. Index is the ServerId; facts always
// present.
using PublishedServers = std::vector<ServerUpdate>;

// One message is under way at a time; what happens meanwhile is joined, so that a slow agent costs a bounded
// amount of memory: one mark per server, and the newest of each task of its own jobs.
class AgentFeedSender final {
 public:
  // `published` outlives the sender. Starts with a full snapshot.
  AgentFeedSender(wire::AgentFeed::Client feed, const PublishedServers& published,
                  const QualitySettings& settings, const std::vector<PlatformRecord>& platforms);

  void serverChanged(ServerId server, bool factsChanged);
  void settingsChanged(const QualitySettings& settings);
  void platformChanged(const PlatformRecord& platform);
  void assign(JobAssignment assignment);

 private:
  void kick();
  kj::Promise<void> run();
  bool idle() const;
  kj::Promise<void> sendOne();

  wire::AgentFeed::Client feed_;
  const PublishedServers& published_;
  std::map<ServerId, bool> dirty_;  // value: with facts
  std::map<std::string, Share> platforms_;
  std::vector<QualitySettings> settings_;  // none or one
  std::map<JobId, JobAssignment> assignments_;
  bool snapshotPending_ = true;
  bool sending_ = false;
  kj::Promise<void> running_ = nullptr;
};

}  // namespace tarcil
