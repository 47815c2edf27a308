// A whole cluster in one thread on virtual time, without RPC: the logic of master, agents and monitors,
// joined by messages that take random time, with faults on demand. One seed, one history.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/faults/agent_process.h"
#include "sim/faults/master_process.h"
#include "sim/faults/monitor_process.h"
#include "sim/faults/task_checker.h"
#include "sim/faults/virtual_world.h"

namespace tarcil::sim {

struct VirtualClusterOptions {
  uint64_t seed = 1;
  Log log = Log::kKept;
  uint32_t agents = 2;
  uint32_t monitors = 3;
  uint32_t serversPerMonitor = 2;
  uint32_t rusPerServer = 4;
  // Of each monitor, in place of the three numbers above; addresses are filled in.
  std::vector<std::vector<ServerFacts>> servers{};
  MasterOptions master{};
  // Beside each other, on an etcd; 0: one, with a disk of its own.
  uint32_t mastersOnEtcd = 0;
  EtcdBug etcdBug = EtcdBug::kNone;
  AgentOptions agent{};
};

class VirtualCluster {
 public:
  // Every process has started and is attached when this returns.
  explicit VirtualCluster(const VirtualClusterOptions& options);

  // --- Clients and operators

  // A client hands the job to this agent, and to the next one where it gets no answer, until it is told that
  // the job is durable or refused. Where the cluster is busy it tries again later, unless it has cancelled
  // the job meanwhile.
  JobId submit(const JobSpec& spec, uint32_t agent = 0, std::vector<InputFile> files = {},
               const std::string& user = "alice");
  // The client submits it to this agent too, without waiting for an answer.
  void submitAgain(const JobId& job, uint32_t agent);
  // Asked until it is answered.
  void cancel(const JobId& job);
  // The user of a job holds it, lets it go or gives it another priority. Asked until it is answered.
  void steer(const JobId& job, master::JobChange change, uint8_t priority = 0);
  // The same for a job that has ended.
  void rerun(const JobId& job);
  // A user has a job made again and again, and changes that. Asked until it is answered.
  void addCron(const CronSpec& cron, const std::string& user);
  void steerCron(const std::string& user, const std::string& name, master::CronChange change);
  // The same as of jobs, one after the other.
  void steer(std::vector<std::string> servers, master::ServerChange change, Duration deadline);
  void request(const MasterProcess::Request& request) { ask(request, nullptr); }
  // An operator drains the servers of this monitor, with a deadline, and uncordons them after so long.
  void drain(uint32_t monitor, Duration deadline, Duration until);

  // --- Faults

  // A process is killed, and started again after so long. No effect while it is dead. Of several masters it
  // is the one that leads.
  void killMaster(Duration away);
  // The master that leads is stopped for so long, cut off from etcd, or gives up its lease. Requires:
  // several.
  void pauseMaster(Duration duration);
  void cutMasterFromEtcd(Duration duration);
  void stepMasterDown();
  void killAgent(uint32_t agent, Duration away);
  void killMonitor(uint32_t monitor, Duration away);
  // With its tasks, which get some grace.
  void shutMonitorDown(uint32_t monitor, Duration grace, Duration away);
  // The same in the middle of what it does next.
  void killAgentMidway(uint32_t agent, Duration away);
  void killMonitorMidway(uint32_t monitor, Duration away);
  // The master's next write to its store fails, whether it is kept or not; the process stops, and starts
  // again after so long. No effect while it is dead.
  void failStore(Duration away);
  // For so long the store's disk has no more room than that. At 0 the next write fails as above, and no
  // master starts before there is room again. No effect while it has too little already.
  void fillDisk(uint64_t freeBytes, Duration duration);
  // The master is killed, and started again after so long with these options. No effect while it is dead.
  void restartMaster(const MasterOptions& options, Duration away);
  // The kernel kills a process for its memory where its queues are longest of what they are within so long.
  // No effect while it is dead.
  void exhaustMaster(Duration within);
  // The master takes no connections for so long.
  void takeDescriptors(Duration duration);
  void exhaustAgent(uint32_t agent, Duration within);
  void exhaustMonitor(uint32_t monitor, Duration within);
  // The machine is lost with its tasks, and comes back empty.
  void loseMachine(uint32_t monitor, Duration away);
  // The network between a process and the master is cut for so long.
  void cutAgent(uint32_t agent, Duration duration);
  void cutMonitor(uint32_t monitor, Duration duration);
  // A connection to the master breaks, and is made anew.
  void breakAgent(uint32_t agent);
  void breakMonitor(uint32_t monitor);
  // For so long another process has the name of this agent.
  void doubleAgent(uint32_t agent, Duration duration);
  // The master is killed, and comes back with the store of the latest backup. Requires: master().hasBackup().
  void restoreBackup(Duration away);
  // Every network is whole, every process is there and none is about to die, no disk is slow or full, there
  // are descriptors and memory, and no task fails to start. Queues stay as short as they are.
  void heal();

  // --- Time

  void run(Duration duration);
  // Until every job is over and the cluster is idle: no task is left anywhere. Returns false where
  // that takes longer than `limit`, or more than so many events.
  bool runUntilIdle(Duration limit, uint64_t events = UINT64_MAX);
  // What must hold once it is at rest and everybody is there; what does not is a violation. Takes some time.
  void checkRest();

  // --- What came of it

  // As durable at the master; kQueued for a job that it does not know.
  RunState stateOf(const JobId& job) const;
  // Requires: the master is alive and knows the job.
  std::vector<TaskRecord> tasksOf(const JobId& job) const;
  // How long a job that waits should still wait (MasterProcess::waitOf).
  std::optional<WaitEstimate> waitOf(const JobId& job) const { return master().waitOf(job); }
  // Of all servers, as the master sees it. Requires: the master is alive.
  uint32_t unitsHeld() const;
  // How often the task was started that was started most.
  uint32_t mostStarts() const;
  bool allAnswered() const;
  bool allDone() const;
  uint64_t tasksStarted() const { return tasks_.started(); }
  size_t jobs() const { return clients_.size(); }
  Rng& rng() { return world_.rng(); }
  WallTime now() const { return world_.now().wall; }

  VirtualWorld& world() { return world_; }
  // The one that leads; some other where none does.
  MasterProcess& master() const;
  const Masters& masters() const { return masters_; }
  // What the store has.
  const StoreChecker& stored() const { return checked_.checker; }
  uint32_t agents() const { return static_cast<uint32_t>(agents_.size()); }
  AgentProcess& agent(uint32_t number) { return *agents_[number]; }
  uint32_t monitors() const { return static_cast<uint32_t>(monitors_.size()); }
  MonitorProcess& monitor(uint32_t number) { return *monitors_[number]; }
  // What operators still ask of servers.
  size_t steers() const { return steers_.size(); }
  // Jobs of clients that are not over.
  const std::vector<JobId>& unfinished();

  // Every event of every process, a line each: virtual time in microseconds, process, event.
  const std::vector<std::string>& log() const { return world_.log(); }
  // Promises that were broken: an allocation started twice, a unit with two owners.
  const std::vector<std::string>& violations() const { return world_.violations(); }

 private:
  struct Client {
    Caller caller;
    NewJob job;
    uint32_t agent = 0;
    uint32_t requests = 0;  // how often it was submitted
    uint32_t underWay = 0;  // that still asks, or waits to ask again
    bool answered = false;
    bool told = false;     // that it is over
    bool isVoid = false;   // taken by a master whose store was replaced by an older one
    bool givesUp = false;  // where the cluster is busy
    std::string refusal;
  };

  struct Steer {
    std::vector<std::string> servers;
    master::ServerChange change;
    Duration deadline;
  };

  void startRoles(const VirtualClusterOptions& options);
  void startMaster(MasterProcess& master);
  void makeMasters(const VirtualClusterOptions& options);
  bool anyMasterAccepts() const;
  // That takes connections; some other where none does.
  MasterProcess& anyMaster();
  void setFreeBytes(uint64_t freeBytes);
  void submit(const JobId& job, uint32_t agent);
  void request(const JobId& job, uint32_t agent);
  void answered(const JobId& job, const Status& status, uint64_t restores);
  void ask(const MasterProcess::Request& request, MasterProcess::Answer answer);
  void askAgain(std::function<void()> ask);
  void masterAccepts();
  void steerNext();
  bool isOver(const JobId& id, const Client& client) const;
  bool atRest();
  bool anyRevived();
  void expect(bool holds, const std::string& what);

  VirtualWorld world_;
  TaskChecker tasks_;
  CheckedStore checked_;
  std::optional<EtcdModel> etcd_;  // nullopt: one master, which has a disk
  Masters masters_;
  std::vector<std::unique_ptr<MonitorProcess>> monitors_;
  std::vector<std::unique_ptr<AgentProcess>> agents_, doubles_;
  std::map<JobId, Client> clients_;
  std::vector<JobId> open_;                       // clients that were not over when it was looked last
  std::vector<std::function<void()>> forMaster_;  // what is asked of the next one
  std::deque<Steer> steers_;                      // the first is under way
  uint64_t restores_ = 0;
  std::optional<MonotonicTime> restored_;  // last
  uint64_t fillings_ = 0;                  // of the disk: the latest counts
  Duration masterAway_;                    // when it stops by itself
};

}  // namespace tarcil::sim
