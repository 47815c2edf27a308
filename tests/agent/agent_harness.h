// An agent on a clock that the test moves, its actions sorted into what a test asks about.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/logic/agent_logic.h"
#include "tests/agent/fake_master.h"

namespace tarcil {

JobId jobId(uint8_t number);

// Alice may submit jobs, which run as alice or as "batch".
Caller alice();

class AgentHarness {
 public:
  explicit AgentHarness(const std::vector<ServerBuilder>& servers, const AgentOptions& options = {},
                        uint64_t seed = 1);

  // The master takes the agent in and sends the whole state. attachOnly() leaves the state out.
  void attach(uint64_t epoch = 1);
  void attachOnly(uint64_t epoch = 1);
  void feedSnapshot();
  // As the paper has it: what is not acceptable has no price.
  void rankByQuality();
  void loseMaster() { handle(agent::MasterLost{}); }

  agent::RequestId submit(const JobSpec& spec, const JobId& id = jobId(1), const Caller& caller = alice());
  // Submits, and lets the master take what follows.
  void submitted(const JobSpec& spec, const JobId& id = jobId(1));

  // The master takes the oldest commit sent, or all including those that follow, and the agent gets
  // the answers.
  void takeCommit();
  void takeCommits();
  // The commits sent so far are lost on their way.
  void loseCommits() { commits.clear(); }

  // Tells the agent what the master says of a job or of a server.
  void tell(const JobAssignment& assignment);
  void tellServer(ServerId server);
  // The checksum of what the master has.
  void tellChecksum() { handle(agent::ChecksumTold{master.checksum()}); }
  void tellServers();
  void tellPending(std::optional<uint8_t> priority) { handle(agent::QueueTold{priority}); }
  // As the master does after each of these where jobs wait; takeCommit() does where claims were refused.
  void offerJobs();
  // From here on jobs are offered by offerJobs() only.
  void holdOffers() { holdsOffers_ = true; }
  // A task ends, and agent and copy hear of it.
  void endTask(const JobId& job, TaskIndex task);
  void launchAnswered(AllocationId allocation, agent::LaunchAnswered::Outcome outcome) {
    handle(agent::LaunchAnswered{allocation, outcome});
  }

  // Moves the clock, firing timers when they are due.
  void pass(Duration time);

  void handle(const agent::Event& event);

  // nullopt: not answered.
  std::optional<Status> answer(agent::RequestId request) const;
  // "" for success; "none" where there is no answer.
  std::string answerText(agent::RequestId request) const;

  FakeMaster master;
  AgentLogic agent;
  std::deque<Commit> commits;             // sent and not taken
  std::vector<agent::SendPiece> pieces;   // all so far
  std::vector<agent::Launch> launches;    // all so far
  std::vector<agent::TasksPlaced> waits;  // all so far
  size_t commitsSent = 0;
  size_t snapshotsAsked = 0;
  std::vector<JobId> declined;  // offers, all so far
  std::vector<JobId> untried;   // the same

 private:
  void fire();
  void offerJobsAfterNews();

  bool holdsOffers_ = false;

  Rng rng_;
  Now now_;
  std::optional<MonotonicTime> wake_;
  std::map<agent::RequestId, Status> answers_;
  agent::RequestId nextRequest_ = 1;
};

}  // namespace tarcil
