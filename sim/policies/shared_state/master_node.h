// The master of a simulated cluster: MasterLogic, with a disk that takes its time and keeps nothing, since
// nobody ever reads it.
#pragma once

#include <vector>

#include "core/base/rng.h"
#include "master/logic/master_logic.h"
#include "sim/policies/shared_state/feed_log.h"
#include "sim/policies/shared_state/mail.h"
#include "sim/shell/agent_news.h"

namespace tarcil::sim {

class MasterNode {
 public:
  struct Options {
    MasterOptions logic;
    BucketOptions buckets;                              // of admission control
    Duration durable = std::chrono::microseconds(300);  // until a record is on disk
  };

  // Begins with what is on disk, and with what peers have said before the simulation begins: nobody hears
  // what follows from that. News for all agents go to the log, others to the agents, whose sessions are their
  // numbers and `firstAgent`. Network and log outlive it.
  MasterNode(Network& network, FeedLog& feed, SessionId firstAgent, const Options& options,
             StoreContents stored, Rng rng);
  void prepare(const master::Event& event);
  // The last event of those. From now on what leads out of the process leaves.
  void begin();

  const MasterLogic& logic() const { return logic_; }
  // What an agent hears that attached before. Requires: begin() was called.
  std::vector<agent::Event> snapshot() const { return news_->snapshot(); }

  // An event has come.
  void handle(const master::Event& event);
  // Its own messages have come.
  void released(uint32_t outputs);
  void alarm(uint32_t setting);

 private:
  void carryOut();
  void release(master::Action& action);
  uint32_t agentOf(SessionId session) const { return static_cast<uint32_t>(session - firstAgent_); }

  Network& network_;
  FeedLog& feed_;
  const SessionId firstAgent_;
  const Options options_;
  Rng rng_;
  std::vector<master::Action> actions_;
  MasterLogic logic_;
  std::unique_ptr<AgentNews> news_;  // since begin()
  master::PublishQueue queue_;       // as published before
  Alarm alarm_;
  SimTime syncedBy_{};                          // when everything handed to the disk so far is on it
  Slots<std::vector<master::Action>> outputs_;  // that wait for that
};

}  // namespace tarcil::sim
