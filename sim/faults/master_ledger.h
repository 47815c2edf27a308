// What a master has answered, held against what its store has when it starts again and what it makes of it.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "master/logic/master_logic.h"

namespace tarcil::sim {

// Problems of the logic's servers: one whose free units and sums are not what its tasks make them, a task
// that is charged neither by its job's profile nor by measurement.
std::vector<std::string> serverProblems(const MasterLogic& logic);

class MasterLedger {
 public:
  // An answer has left the master, in this epoch of the agent. Problems: a repeat that was answered
  // differently, an allocation that was given before, a part of a gang.
  std::vector<std::string> noteAnswer(const std::string& agent, uint64_t epoch, const Commit& commit,
                                      const CommitAnswer& answer);

  // The store has let go of the job.
  void forget(const JobId& job);

  // Problems of the store and of the logic that runs on it, everything of which is in the store: a grant that
  // was answered and is lost, records that disagree, and those of its servers.
  std::vector<std::string> check(const MasterLogic& logic, Store& store) const;

 private:
  using CommitKey = std::tuple<std::string, uint64_t, uint64_t>;  // agent, epoch, sequence
  using TaskKey = std::pair<JobId, TaskIndex>;

  std::map<CommitKey, CommitAnswer> answers_;  // without states of servers, and not yet taken
  std::map<std::pair<std::string, uint64_t>, uint64_t> taken_;  // by agent and epoch: answers that it has
  std::map<AllocationId, CommitKey> grants_;
  std::map<TaskKey, AllocationId> latest_;  // allocation numbers rise
  std::set<JobId> gone_;
};

}  // namespace tarcil::sim
