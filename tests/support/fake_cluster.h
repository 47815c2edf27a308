// A whole cluster in one thread on virtual time, without RPC: the logic of master, agents and monitors,
// joined by messages that take random time, with faults on demand. One seed, one history.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/fake_agent.h"
#include "tests/support/fake_master.h"
#include "tests/support/fake_monitor.h"
#include "tests/support/fake_world.h"

namespace tarcil {

struct FakeClusterOptions {
  uint64_t seed = 1;
  uint32_t agents = 2;
  uint32_t monitors = 3;
  uint32_t serversPerMonitor = 2;
  uint32_t rusPerServer = 4;
  MasterOptions master;
  AgentOptions agent;
};

class FakeCluster {
 public:
  // Every process has started and is attached when this returns.
  explicit FakeCluster(const FakeClusterOptions& options);

  // A client hands the job to this agent, and to the next one where it gets no answer, until it is told that
  // the job is durable or refused.
  JobId submit(const JobSpec& spec, uint32_t agent = 0, std::vector<InputFile> files = {},
               const std::string& user = "alice");
  void cancel(const JobId& job);
  // An operator drains the servers of this monitor, with a deadline, and uncordons them after so long.
  void drain(uint32_t monitor, Duration deadline, Duration until);

  // A process is killed, and started again after so long. No effect while it is dead.
  void killMaster(Duration away);
  // The master's next write to its store fails, whether it is kept or not; the process stops, and starts
  // again after so long. No effect while it is dead.
  void failStore(Duration away);
  void killAgent(uint32_t agent, Duration away);
  void killMonitor(uint32_t monitor, Duration away);
  // The machine is lost with its tasks, and comes back empty.
  void loseMachine(uint32_t monitor, Duration away);
  // The network between a process and the master is cut for so long.
  void cutAgent(uint32_t agent, Duration duration);
  void cutMonitor(uint32_t monitor, Duration duration);

  void run(Duration duration);
  // Until every job is over, and the cluster has come to rest: no task is left anywhere. Returns false where
  // that takes longer than `limit`.
  bool runToRest(Duration limit);

  // As durable at the master; kQueued for a job that it does not know.
  RunState stateOf(const JobId& job) const;
  // Requires: the master is alive and knows the job.
  std::vector<TaskRecord> tasksOf(const JobId& job) const;
  // Of all servers, as the master sees it. Requires: the master is alive.
  uint32_t unitsHeld() const;
  // How often the task was started that was started most.
  uint32_t mostStarts() const;
  bool allAnswered() const;
  bool allDone() const;
  Rng& rng() { return world_.rng(); }
  WallTime now() const { return world_.now().wall; }

  // Every event of every process, a line each: virtual time in microseconds, process, event.
  const std::string& log() const { return world_.log(); }
  // Promises that were broken: an allocation started twice, a unit with two owners.
  const std::vector<std::string>& violations() const { return world_.violations(); }

 private:
  struct Client {
    Caller caller;
    NewJob job;
    uint32_t agent = 0;
    bool answered = false;
    std::string refusal;
    RunState state = RunState::kQueued;  // once over
    bool over() const { return !refusal.empty() || (answered && isFinal(state)); }
  };

  void handIn(const JobId& job);
  void steer(uint32_t monitor, master::ServerChange change, Duration deadline);
  void answered(const JobId& job, const Status& status);
  bool atRest() const;

  FakeWorld world_;
  FakeMaster master_;
  std::vector<std::unique_ptr<FakeMonitor>> monitors_;
  std::vector<std::unique_ptr<FakeAgent>> agents_;
  std::map<JobId, Client> clients_;
};

}  // namespace tarcil
