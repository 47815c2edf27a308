// The master's shell on virtual time: MasterLogic over a disk that takes a while to sync, and may fail, or
// over an etcd that other masters have, too. Every start, every answer and all that is stored is held against
// what was before.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agent/logic/events.h"
#include "master/logic/master_logic.h"
#include "monitor/logic/events.h"
#include "sim/faults/checked_store.h"
#include "sim/faults/connection.h"
#include "sim/faults/late_pools.h"
#include "sim/faults/machine_clock.h"
#include "sim/faults/master_disk.h"
#include "sim/faults/master_etcd.h"
#include "sim/faults/oom_killer.h"
#include "sim/shell/agent_news.h"

namespace tarcil::sim {

// Whether an agent was told of some of its jobs, and what it heard that comes after them all.
struct Attaching {
  bool hasBegun = false;
  std::vector<agent::Event> early;
};

class MasterProcess final : private MasterStorage::Owner {
 public:
  // What it keeps its state in: a disk of its own where there is no etcd.
  struct Place {
    CheckedStore& checked;
    EtcdModel* etcd = nullptr;
  };

  // `finished` is told of each job that is over, once that is durable; `stopped` that the process has ended,
  // by itself or by the kernel.
  MasterProcess(VirtualWorld& world, TaskChecker& tasks, std::string name, Place place,
                const MasterOptions& options, std::function<void(const JobId&, RunState)> finished,
                std::function<void()> stopped);

  // With an etcd it stands by until it leads, and is alive() then; `leads` is told of that. Requires: it does
  // not run, and the disk has room.
  void start(std::function<void()> leads);
  // With the options that it has from its next start on.
  void setOptions(const MasterOptions& options) { options_ = options; }
  // Loses every connection, and what is not synced (MasterDisk::crash).
  void crash();
  bool alive() const { return logic_ != nullptr; }
  bool isOnEtcd() const { return etcd_.has_value(); }
  // The term in which it leads; 0 where it has a disk.
  Term term() const { return etcd_ ? etcd_->term() : 0; }
  // Requires: alive().
  const MasterLogic& logic() const { return *logic_; }
  MachineClock& clock() { return clock_; }
  MasterStorage& storage() { return etcd_ ? static_cast<MasterStorage&>(*etcd_) : disk_; }
  MasterDisk& disk() { return disk_; }
  // The process does not run for so long; what comes waits. Requires: alive(), and there is an etcd.
  void pauseFor(Duration duration);
  // Nothing gets to etcd or back for so long. Requires: there is one.
  void cutFromEtcd(Duration duration) { etcd_->cutFor(duration); }
  void healEtcd() {
    if (etcd_) etcd_->heal();
  }
  // It ends and has another one lead. Requires: alive(), and there is an etcd.
  void stepDown();
  OomKiller& oomKiller() { return oomKiller_; }
  // Tells the process how much room there is, as its shell measures it.
  void measureSpace();
  // For so long it has no descriptor for another connection; those that there are stay. Zero: it has now.
  void runOutOfDescriptors(Duration duration) { noDescriptorsUntil_ = world_.now().steady + duration; }
  // Whether a connection can be made to it.
  bool accepts() const { return alive() && !isPaused() && world_.now().steady >= noDescriptorsUntil_; }
  // Keeps the store as it is now; restoreBackup() later makes a new store of it. Requires for that: a backup,
  // and not alive().
  void takeBackup();
  bool hasBackup() const { return backup_.has_value(); }
  void restoreBackup();

  // What is wrong with the store and the logic. Requires: alive(), and all that was written is synced.
  void check() { expectNone(checked_.ledger.check(*logic_, checked_.store)); }

  // How long a job that waits should still wait; nullopt where it does not, or could start now.
  // Requires: alive().
  std::optional<WaitEstimate> waitOf(const JobId& job) const;

  // Whether input files are stored that no job has.
  bool hasUploads() { return !checked_.store.load()->uploads.empty(); }

  // A connection that is to break when the master dies.
  void add(Connection& connection) { connections_.push_back(&connection); }

  // What comes to the master. A request of a peer goes by the line that its answer comes back by.
  using Way = std::shared_ptr<Line>;
  struct AgentSinks {
    std::function<void(agent::Event)> events;
    // Another line speaks for the agent.
    std::function<void()> superseded;
    // There are more jobs than it was told.
    std::function<void()> asksForMore;
  };
  struct MonitorSinks {
    std::function<void(monitor::Event)> events;
    std::function<void(PoolNews)> pools;
    // The attachment, or later a message, is refused: the line is of no use.
    std::function<void()> refused;
  };
  void attachAgent(const Way& way, std::string name, uint64_t epoch, AgentSinks sinks);
  void attachMonitor(const Way& way, std::string name, std::vector<ServerFacts> servers,
                     std::vector<KnownTask> tasks, MonitorSinks sinks);
  void attachMore(SessionId session, std::vector<ServerFacts> servers, std::vector<KnownTask> tasks);
  void moreJobs(SessionId session);
  void detach(SessionId session);
  // Of messages that come again nobody hears the answers: an answer is one call's.
  enum class Copy : uint8_t { kFirst, kRepeat };
  void commit(SessionId session, Commit commit, Copy copy = Copy::kFirst);
  void piece(SessionId session, const agent::SendPiece& piece);
  void declineOffers(SessionId session, std::vector<JobId> jobs, std::vector<JobId> untried);
  void askSnapshot(SessionId session);
  void renewLease(SessionId session, std::vector<AllocationId> starting);
  void report(SessionId session, std::vector<TaskReport> reports, Copy copy = Copy::kFirst);
  void resized(SessionId session, AllocationId allocation, std::vector<RuIndex> rus, Status status);
  void throttled(SessionId session, AllocationId allocation, const Throttle& throttle, Status status);
  void violations(SessionId session, std::vector<Violation> violations);
  void pressure(SessionId session, std::vector<ServerPressure> servers);
  void leave(SessionId session) { take(master::MonitorLeaves{session}); }
  void poolReport(SessionId session, const std::string& server, const late::PoolReport& report, Copy copy);
  Result<std::vector<InputFile>> files(const JobId& job) { return checked_.store.files(job); }

  // Requests of users, each by a connection of its own. `answer` is called once it is durable, or with
  // Unavailable where the master takes no connection or dies before.
  using Answer = std::function<void(const Status&)>;
  using Request = std::function<master::Event(RequestId)>;
  void ask(const Request& request, Answer answer);
  void tell(const master::Event& event) { take(event); }

  // The next news of a server does not reach this agent, as if its copy had been spoilt.
  void spoilFeed(const std::string& agent) { spoilt_.insert(agent); }
  // No news is spoilt from now on.
  void mendFeeds() { spoilt_.clear(); }
  // Every agent compares its copy.
  void compareCopies();

 private:
  struct Session {
    Way way;
    AgentSinks agent;  // one of the two
    MonitorSinks monitor;
    bool subscribed = false;               // an agent whose snapshot has left
    std::string name;                      // of the agent or monitor
    uint64_t epoch = 0;                    // that the agent was given
    std::optional<Attaching> attaching{};  // an agent that does not have all of its jobs
  };
  struct Backup {
    MemoryStore store;
    MasterLedger ledger;
    StoreChecker::Picture picture;
  };

  void lead(MemoryStore& store);
  bool isPaused() const { return etcd_ && etcd_->isPaused(); }
  // Whether nobody else leads, whatever it believes.
  bool leadsInTruth() const { return !etcd_ || etcd_->leadsInTruth(); }
  void take(const master::Event& event);
  void noteReach(const master::Event& event, const master::PublishServer& server);
  void noteTaken(const master::Event& event, const std::vector<master::Action>& actions);
  void carryOut(std::vector<master::Action> actions);
  void release(const master::Action& action) override;
  void release(const master::AnswerMonitorAttached& answer);
  void release(const master::AnswerCommit& answer);
  void release(const master::PublishServer& server);
  // Asks the peer to attach anew.
  void refuse(SessionId session);
  void send(SessionId session, agent::Event event);
  void send(SessionId session, monitor::Event event);
  void send(SessionId session, PoolNews news);
  void publish(const agent::Event& event);
  void finishAttaching(SessionId session, const master::AnswerAgentAttached& answer);
  void takeJobs(SessionId session, const master::AgentJobs& told);
  void sendSnapshot(SessionId session);
  SessionId sessionOf(RequestId request);
  void stored(const std::vector<Mutation>& batch) override;
  void writeFailed() override;
  // Violation: an unfinished job lacks some of its input files.
  void checkFiles(const JobRecord& job);
  void expectNone(const std::vector<std::string>& problems);

  VirtualWorld& world_;
  TaskChecker& tasks_;
  const std::string name_;
  MasterOptions options_;
  const std::function<void(const JobId&, RunState)> finished_;
  const std::function<void()> stopped_;
  MachineClock clock_;
  CheckedStore& checked_;
  MasterDisk disk_;
  std::optional<MasterEtcd> etcd_;  // nullopt: it has the disk
  OomKiller oomKiller_;
  MonotonicTime noDescriptorsUntil_{};
  std::optional<Backup> backup_;
  uint64_t toldFree_ = MasterDisk::kPlenty;  // bytes on the disk, as the process knows them
  std::set<std::string> leaving_;            // servers whose monitors are about to end
  std::unique_ptr<MasterLogic> logic_;
  std::unique_ptr<AgentNews> news_;
  uint64_t publications_ = 0;  // of servers
  Rng rng_{0};
  VirtualTimer timer_;
  std::vector<Connection*> connections_;
  std::map<SessionId, Session> sessions_;  // attached
  std::map<RequestId, SessionId> requests_;
  std::map<RequestId, Answer> asked_;
  std::map<RequestId, Commit> commits_;           // to be answered
  std::map<RequestId, agent::UploadId> uploads_;  // whose pieces are to be answered
  std::set<std::string> spoilt_;                  // agents whose copies are to be
  std::set<SessionId> unnoticed_;  // sessions of agents that may not have noticed that theirs are
};

}  // namespace tarcil::sim
