// Agents that have attached, up to kMaxAgents: each one's epoch, the jobs it owns, and the answers that it
// may not have received.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/state/commit.h"
#include "master/logic/events.h"
#include "master/store/store.h"

namespace tarcil::master {

struct Agent {
  AgentRecord record;
  std::string address;
  std::optional<SessionId> session;  // while attached
  // While away: when its jobs go to another; of one that is overdue, when it is to be forgotten.
  std::optional<MonotonicTime> deadline;
  bool overdue = false;  // away beyond its deadline
  bool silent = false;   // did not answer offers in time
  std::set<JobId> jobs;  // unfinished ones that it owns
  // While it attaches: its jobs from this id on are still to be told, each as a whole.
  std::optional<JobId> untoldFrom;
  // Of the current epoch. Sequences come without gaps, so the last answer stored says which is next.
  std::map<uint64_t, CommitAnswer> answers;  // by sequence; without server states
  uint64_t lastSequence = 0;                 // of the latest commit that was applied; 0: none

  // News of such a job would come before the job, and say less.
  bool isUntold(const JobId& job) const { return untoldFrom && job >= *untoldFrom; }
};

// Beyond that, one that is overdue and has no jobs is forgotten for each new one.
inline constexpr size_t kMaxAgents = 1'000;
// An overdue one that has no jobs is forgotten after so long.
inline constexpr Duration kForgetAgentsAfter = std::chrono::hours(24);

// References to an agent hold until it is forgotten.
class AgentTable {
 public:
  // Every agent is away until `deadline` at the latest. Answers of other epochs are ignored.
  AgentTable(std::vector<AgentRecord> records, std::vector<AnswerRecord> answers, MonotonicTime deadline);
  AgentTable(const AgentTable&) = delete;
  AgentTable& operator=(const AgentTable&) = delete;

  // The agent of this name; a new one has epoch 0 and is away without a deadline.
  Agent& named(const std::string& name);
  size_t attached() const { return sessions_.size(); }
  // The agent whose current session this is, or null.
  Agent* attached(SessionId session);
  bool knows(const std::string& name) const { return agents_.contains(name); }
  // One that is overdue and has no jobs, or null. O(agents).
  const Agent* forgettable() const;
  // One of them that has been overdue for kForgetAgentsAfter, or null. O(1) unless there is one with jobs,
  // which gets as long again.
  const Agent* longOverdue(MonotonicTime now);
  // Requires: it is away, and overdue.
  void forget(const Agent& agent);
  // By name.
  const std::map<std::string, Agent>& all() const { return agents_; }
  std::map<std::string, Agent>& all() { return agents_; }

  // This session speaks for the agent from now on, and an earlier one no longer does.
  void attach(Agent& agent, SessionId session, const std::string& address);
  // Does nothing where the session speaks for no agent.
  void detach(SessionId session, MonotonicTime deadline);

  // The attached agent with the fewest jobs (ties: by name), or null where none is attached. O(agents).
  Agent* leastLoaded();

  std::optional<MonotonicTime> nextDeadline() const;
  // Marks agents whose deadline has passed as overdue; whether there was one that was not before.
  bool markOverdue(MonotonicTime now);

 private:
  void setDeadline(Agent& agent, std::optional<MonotonicTime> deadline);

  std::map<std::string, Agent> agents_;
  std::unordered_map<SessionId, Agent*> sessions_;
  std::set<std::pair<MonotonicTime, std::string>> deadlines_;
};

}  // namespace tarcil::master
