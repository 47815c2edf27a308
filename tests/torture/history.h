// What agents, monitors and a user asked of a master, and what it answered and told them, in one order that
// is causal: a request stands before it is sent, an answer after it has come.
#pragma once

#include <kj/io.h>

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "core/model/launch.h"
#include "core/state/commit.h"
#include "core/state/job_state.h"

namespace tarcil::torture {

using CallId = uint64_t;  // of a request; its answer carries the same
using LinkId = uint64_t;  // of a connection of an agent

struct Begun {
  uint64_t seed = 0;
  uint64_t keepFinished = 0;  // finished jobs that the master keeps
};
struct MasterStarted {};
struct MasterKilled {};

struct AgentAttaching {
  CallId call = 0;
  LinkId link = 0;
  std::string agent;
  uint64_t epoch = 0;
};
struct AgentAttached {
  CallId call = 0;
  uint64_t epoch = 0;
  std::vector<JobAssignment> jobs;
};
struct CommitSent {
  CallId call = 0;
  LinkId link = 0;
  Commit commit;
};
struct CommitAnswered {
  CallId call = 0;
  CommitAnswer answer;
};
// From the state feed.
struct News {
  LinkId link = 0;
  std::vector<ServerUpdate> servers;
  std::vector<JobAssignment> jobs;
};

struct MonitorAttaching {
  CallId call = 0;
  std::string monitor;
  std::vector<ServerFacts> servers;
  std::vector<KnownTask> tasks;
};
struct MonitorAttached {
  CallId call = 0;
  std::vector<AllocationId> drop, stop;
};
struct ReportsSent {
  CallId call = 0;
  std::vector<TaskReport> reports;
};
struct ReportsAnswered {
  CallId call = 0;
};
struct StopOrdered {
  std::vector<AllocationId> allocations;
};

struct CancelSent {
  CallId call = 0;
  JobId job;
};
struct CancelAnswered {
  CallId call = 0;
};

// Every request has its answer, and none that changes tasks or servers' units follows: what the master tells
// on links that attach from here on is what its store has.
struct Settled {};

using Event = std::variant<Begun, MasterStarted, MasterKilled, AgentAttaching, AgentAttached, CommitSent,
                           CommitAnswered, News, MonitorAttaching, MonitorAttached, ReportsSent,
                           ReportsAnswered, StopOrdered, CancelSent, CancelAnswered, Settled>;

// Throws a kj::Exception where the stream cannot be written.
void writeEvent(const Event& event, kj::OutputStream& to);

// False at the end. Throws a kj::Exception for what is no event, as where the last one was cut short.
bool readEvent(kj::BufferedInputStream& from, Event& event);

// The next event as text, for people; false at the end.
bool printEvent(kj::BufferedInputStream& from, std::string& text);

}  // namespace tarcil::torture
