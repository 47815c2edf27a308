// An agent of a simulated cluster: AgentLogic on one thread that takes its time for decisions. What comes
// while it decides waits until it is done.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "agent/logic/agent_logic.h"
#include "core/base/rng.h"
#include "sim/policies/decision_time.h"
#include "sim/policies/scheduler.h"
#include "sim/policies/shared_state/feed_log.h"
#include "sim/policies/shared_state/mail.h"

namespace tarcil::sim {

// What agents want of monitors.
class Launcher {
 public:
  // Leaves the agent after so long.
  virtual void launch(uint32_t agent, Duration after, const LaunchSpec& spec) = 0;

 protected:
  ~Launcher() = default;
};

class AgentNode {
 public:
  // What the agents of a cluster share; all of it outlives them.
  struct Surroundings {
    Network& network;
    const FeedLog& feed;
    Launcher& launcher;
    SchedulerCounts& counts;
  };

  // `session` is the master's name for it.
  AgentNode(uint32_t number, SessionId session, const Surroundings& surroundings, const AgentOptions& options,
            const DecisionTime& time, Rng rng);

  // Attached before the simulation begins: the master accepted it and sent this snapshot.
  void attach(uint64_t epoch, const std::vector<agent::Event>& snapshot);

  // An event has come.
  void arrive(agent::Event event);
  // What was published and has arrived is to be read; for agents that may act on it, and to shorten the log.
  void arrive();
  // Its own messages have come.
  void isFree();
  void alarm(uint32_t setting);

  // Whether it acts on news of the master's queue.
  bool waitsForNews() const { return logic_.load().waiting > 0; }
  // Number of the first entry of the log that it has not read.
  size_t read() const { return read_; }

 private:
  struct Arrived {
    SimTime at;
    std::optional<agent::Event> event;  // none: only what was published
  };

  void work();
  // Handles what was published and has arrived by then: of each server, and of the queue, the newest. Returns
  // false where there was none.
  bool readFeed(SimTime by);
  void handle(const agent::Event& event, SimTime arrived);
  // `spent` is the time from now until the action leaves.
  void carryOut(agent::Action& action, Duration spent);

  const uint32_t number_;
  const SessionId session_;
  const Surroundings to_;
  const DecisionTime time_;
  AgentLogic logic_;
  Rng rng_;
  Alarm alarm_;
  size_t read_ = 0;
  agent::Event news_ = agent::ServersUpdated{};  // what it reads at once
  std::vector<uint32_t> places_;                 // by server: where it is among those, if it is
  SimTime busyUntil_{};
  bool isFreeSent_ = false;
  std::deque<Arrived> arrived_;
  std::vector<agent::Action> actions_;
  uint64_t requests_ = 0;
};

}  // namespace tarcil::sim
