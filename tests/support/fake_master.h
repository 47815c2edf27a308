// The master's shell on virtual time: MasterLogic over a store in memory that takes a while to sync, and may
// fail. Every start and every answer is held against what was answered before.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/events.h"
#include "master/master_logic.h"
#include "master/memory_store.h"
#include "master/published_state.h"
#include "monitor/events.h"
#include "tests/support/fake_connection.h"
#include "tests/support/fake_world.h"
#include "tests/support/faulty_store.h"
#include "tests/support/master_ledger.h"

namespace tarcil {

class FakeMaster {
 public:
  // `finished` is told of each job that is over, once that is durable.
  FakeMaster(FakeWorld& world, const MasterOptions& options,
             std::function<void(const JobId&, RunState)> finished);

  void start();
  // Loses every connection, and of what is not synced the later part: how much of it, chance decides.
  void crash();
  // The next write fails, and the process stops; `stopped` is called then. No effect while it is dead.
  void failNextWrite(FaultyStore::Unsynced unsynced, std::function<void()> stopped);
  bool alive() const { return logic_ != nullptr; }
  // Requires: alive().
  const MasterLogic& logic() const { return *logic_; }

  // A connection that is to break when the master dies.
  void add(FakeConnection& connection) { connections_.push_back(&connection); }

  // What comes to the master. A request of a peer names the connection that its answer goes back by.
  using AgentSink = std::function<void(agent::Event)>;
  using MonitorSink = std::function<void(monitor::Event)>;
  void attachAgent(FakeConnection& connection, std::string name, uint64_t epoch, AgentSink sink);
  void attachMonitor(FakeConnection& connection, std::string name, std::vector<ServerFacts> servers,
                     std::vector<KnownTask> tasks, MonitorSink sink);
  void detach(SessionId session);
  void commit(SessionId session, Commit commit);
  void passTurns(SessionId session, std::vector<JobId> jobs, std::vector<JobId> untried);
  void renewLease(SessionId session, std::vector<AllocationId> starting);
  void report(SessionId session, std::vector<TaskReport> reports);
  void cancel(const JobId& job, const Caller& caller);
  void steer(std::vector<std::string> servers, master::ServerChange change, Duration deadline);
  Result<std::vector<InputFile>> files(const JobId& job) { return disk_.files(job); }

 private:
  struct Session {
    FakeConnection* connection = nullptr;
    AgentSink agent;  // one of the two
    MonitorSink monitor;
    bool subscribed = false;  // an agent whose snapshot has left
    std::string name;         // of an agent
    uint64_t epoch = 0;       // that the agent was given
  };

  void take(const master::Event& event);
  void carryOut(std::vector<master::Action> actions);
  void letOut(const master::Action& action);
  void send(SessionId session, agent::Event event);
  void send(SessionId session, monitor::Event event);
  void publish(const agent::Event& event);
  void finishAttaching(SessionId session, const master::AnswerAgentAttached& answer);
  SessionId sessionOf(RequestId request);
  void letOutCommit(const master::AnswerCommit& answer);
  // The batch that was handed over first is synced; false where that fails, and the process has stopped.
  bool sync();
  void expectNone(const std::vector<std::string>& problems);

  FakeWorld& world_;
  const MasterOptions options_;
  const std::function<void(const JobId&, RunState)> finished_;
  MemoryStore disk_;
  FaultyStore store_{disk_, 0, FaultyStore::Unsynced::kForgotten};
  std::function<void()> stopped_;               // when the store fails
  std::deque<std::vector<Mutation>> unsynced_;  // in the order of writing
  MasterLedger ledger_;
  std::unique_ptr<MasterLogic> logic_;
  std::optional<PublishedState> published_;
  uint64_t publications_ = 0;  // of servers
  Rng rng_{0};
  FakeTimer timer_;
  uint64_t life_ = 0;         // of the process
  MonotonicTime syncedBy_{};  // when everything handed to the store so far is synced
  std::vector<FakeConnection*> connections_;
  std::map<SessionId, Session> sessions_;  // attached
  std::map<RequestId, SessionId> requests_;
  std::map<RequestId, Commit> commits_;  // to be answered
};

}  // namespace tarcil
