// The master's shell on virtual time: MasterLogic over a MemoryStore that takes a while to sync.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/events.h"
#include "master/master_logic.h"
#include "master/memory_store.h"
#include "monitor/events.h"
#include "tests/support/fake_connection.h"
#include "tests/support/fake_world.h"

namespace tarcil {

class FakeMaster {
 public:
  // `finished` is told of each job that is over, once that is durable.
  FakeMaster(FakeWorld& world, const MasterOptions& options,
             std::function<void(const JobId&, RunState)> finished);

  void start();
  // Loses what is not synced, and every connection.
  void crash();
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
  void report(SessionId session, std::vector<TaskReport> reports);
  void cancel(const JobId& job, const Caller& caller);
  void steer(std::vector<std::string> servers, master::ServerChange change, Duration deadline);
  Result<std::vector<InputFile>> files(const JobId& job) { return store_.files(job); }

 private:
  struct Session {
    FakeConnection* connection = nullptr;
    AgentSink agent;  // one of the two
    MonitorSink monitor;
    bool subscribed = false;  // an agent whose snapshot has left
  };

  void take(const master::Event& event);
  void carryOut(std::vector<master::Action> actions);
  void letOut(const master::Action& action);
  void send(SessionId session, agent::Event event);
  void send(SessionId session, monitor::Event event);
  void publish(const agent::Event& event);
  void finishAttaching(SessionId session, const master::AnswerAgentAttached& answer);
  SessionId sessionOf(RequestId request);

  FakeWorld& world_;
  const MasterOptions options_;
  const std::function<void(const JobId&, RunState)> finished_;
  MemoryStore store_;
  std::unique_ptr<MasterLogic> logic_;
  Rng rng_{0};
  FakeTimer timer_;
  uint64_t life_ = 0;         // of the process
  MonotonicTime syncedBy_{};  // when everything handed to the store so far is synced
  std::vector<FakeConnection*> connections_;
  std::map<SessionId, Session> sessions_;  // attached
  std::map<RequestId, SessionId> requests_;
};

}  // namespace tarcil
