// The client's side of late binding: which agent to use, and what to do when it falls silent (Sparrow
// section 6.3).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/base/time.h"
#include "latebinding/late_job.h"
#include "latebinding/options.h"

namespace tarcil::late {

// A position in the client's list of agents.
using AgentIndex = uint32_t;
// A job of this client's; its own number.
using ClientJob = uint64_t;
// Numbers the connections that a client has made; messages of an earlier one are ignored.
using SessionNumber = uint64_t;

// When an agent is considered dead, what becomes of tasks that it may have launched already.
enum class OnFailure : uint8_t {
  kAtMostOnce,  // they are lost: they may have run
  kRelaunch,    // they are submitted again, and may run twice: they have to bear that
};

struct ClientTask {
  ClientJob job = 0;
  TaskIndex task = 0;
  auto operator<=>(const ClientTask&) const = default;
};

// --- What the client is to do
struct ConnectTo {
  SessionNumber session = 0;
  AgentIndex agent = 0;
};
struct Heartbeat {
  SessionNumber session = 0;
};
// These tasks of the job, by the job's own numbers; the agent numbers them from 0 in this order.
struct SubmitTasks {
  SessionNumber session = 0;
  ClientJob job = 0;
  std::vector<TaskIndex> tasks;
};
// The callback of the application: an agent is considered dead, and these tasks were submitted to it.
struct AgentFailed {
  AgentIndex agent = 0;
  std::vector<ClientTask> inFlight;
};
// Once for each task.
struct ClientTaskOver {
  ClientTask task;
  Outcome outcome = Outcome::kDone;
  int32_t code = 0;
};

// Appended to; the caller empties and reuses it.
struct ClientActions {
  std::vector<AgentFailed> failed;
  std::vector<ConnectTo> connects;
  std::vector<Heartbeat> heartbeats;
  std::vector<SubmitTasks> submits;
  std::vector<ClientTaskOver> over;

  void clear();
};

// Uses one agent after the other in the order of its list, round robin. An agent that sends nothing for
// `deadAfter`, connecting included, is dead; so is one whose connection breaks. Its tasks in flight are named
// to the application and submitted to the next agent, or lost; jobs that were never sent to it simply go to
// the next.
//
// Single-threaded; no I/O.
class ClientSession {
 public:
  // Requires: options without problems, at least one agent.
  ClientSession(const ClientOptions& options, uint32_t agents) : options_(options), agents_(agents) {}

  // Connects for the first time.
  void start(MonotonicTime now, ClientActions& actions) { connect(now, actions); }
  // Requires: a number never used before, tasks >= 1.
  void submit(ClientJob job, uint32_t tasks, OnFailure onFailure, ClientActions& actions);

  // --- What happens. Each with its session; those of another than the present one are ignored.
  void connected(SessionNumber session, MonotonicTime now, ClientActions& actions);
  // The connection broke, or could not be made.
  void disconnected(SessionNumber session, MonotonicTime now, ClientActions& actions);
  // Anything came from the agent, answers to heartbeats among it.
  void heard(SessionNumber session, MonotonicTime now);
  // The agent says that a task is over; the task by the job's own number.
  void taskOver(SessionNumber session, const ClientTaskOver& over, ClientActions& actions);

  // Called at nextWake(), or a little later.
  void advance(MonotonicTime now, ClientActions& actions);
  MonotonicTime nextWake() const;

  AgentIndex agent() const { return agent_; }
  SessionNumber session() const { return session_; }
  bool isConnected() const { return state_ == State::kConnected; }
  // Jobs with tasks that are not over.
  size_t jobs() const { return jobs_.size(); }
  bool holds(ClientJob job) const { return jobs_.contains(job); }
  // What to send of the job when its agent requests it again; none if the job is over or there is
  // no connection.
  std::optional<SubmitTasks> tasksOf(ClientJob job) const;

 private:
  enum class State : uint8_t { kIdle, kConnecting, kConnected };
  struct Job {
    OnFailure onFailure = OnFailure::kAtMostOnce;
    bool wasSent = false;  // to the present agent
    std::vector<bool> isOver;
    uint32_t left = 0;  // tasks that are not over
  };

  void connect(MonotonicTime now, ClientActions& actions);
  void fail(MonotonicTime now, ClientActions& actions);
  SubmitTasks tasksOf(ClientJob number, const Job& job) const;
  void send(ClientJob number, Job& job, ClientActions& actions);

  const ClientOptions options_;
  const uint32_t agents_;
  State state_ = State::kIdle;
  AgentIndex agent_ = 0;
  SessionNumber session_ = 0;
  uint32_t failures_ = 0;  // in a row, without a word from any agent
  MonotonicTime heard_{};
  MonotonicTime beat_{};       // last heartbeat
  MonotonicTime pauseEnds_{};  // while idle
  std::map<ClientJob, Job> jobs_;
};

}  // namespace tarcil::late
