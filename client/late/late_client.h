// Submits late-bound jobs to one agent after the other and is told what becomes of their tasks: the
// session of latebinding/client_session.h over RPC. For programs that have an event loop; others
// use tarcil/late_binding.h.
#pragma once

#include <kj/async.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/job.h"
#include "env/alarm.h"
#include "env/clock.h"
#include "latebinding/client_session.h"
#include "rpc/connection.h"
#include "schema/agent.capnp.h"

namespace tarcil {

struct LateClientJob {
  JobId id{};    // under which agents know it
  JobSpec spec;  // policy kLateBinding; at most once or not
  std::optional<double> probeRatio{};
  std::vector<std::string> executor{};  // command of the process that runs the tasks; empty: each is its own
  std::vector<std::string> descriptions{};  // by task, for the executor; empty: the command
  bool detached = false;                    // goes on when this client has gone
};

struct LateClientResult {
  late::ClientTask task;
  late::Outcome outcome = late::Outcome::kDone;
  int32_t code = 0;
  uint32_t attempts = 0;
  late::Phases phases{};  // kDone only
  std::string server;     // that it was given to last; empty: none, or not known
  std::string problem;    // kCancelled, where the job was refused: why
};

// Told on the event loop. It may submit and cancel.
class LateClientListener {
 public:
  // Once for each task.
  virtual void taskOver(const LateClientResult& result) = 0;
  // An agent is considered dead, for this reason, and these tasks were submitted to it; those that may run
  // again are submitted to the next.
  virtual void agentFailed(const std::string& agent, const std::vector<late::ClientTask>& inFlight,
                           const std::string& reason) = 0;
  // No agent will ever accept the client: the token is wrong.
  virtual void denied(const Error& error) = 0;

 protected:
  ~LateClientListener() = default;
};

// Messages that come together are sent as one. Single-threaded.
class LateClient final : private kj::TaskSet::ErrorHandler {
 public:
  // Connects at once, and retries for ever. `clock` and `listener` outlive it. Requires: options without
  // problems, at least one agent.
  LateClient(Net net, const Clock& clock, std::vector<std::string> agents, std::string token,
             const late::ClientOptions& options, LateClientListener& listener);
  ~LateClient() noexcept(false);

  // The job's number here.
  late::ClientJob submit(LateClientJob job);
  // The job's tasks are reported as cancelled, running ones once they have been stopped, unless they end by
  // themselves before.
  void cancel(late::ClientJob job);
  // Jobs with tasks that are not over.
  size_t jobs() const { return session_.jobs(); }
  // Whether some agent has this client's session.
  bool isConnected() const { return session_.isConnected(); }
  // Resolves when every job submitted so far has been taken or refused by an agent, or is over.
  kj::Promise<void> handedOver();

 private:
  class Port;
  struct Held {
    LateClientJob job;
    bool isTaken = false;   // by the present agent
    MonotonicTime since{};  // its submission, or the latest failure of an agent
  };

  MonotonicTime now() const { return clock_.now().steady; }
  void over(late::SessionNumber session, wire::LateClient::OverParams::Reader params);
  void connectTo(const late::ConnectTo& action);
  void failed(late::SessionNumber session, const kj::Exception& exception);
  void takeSubmitted(late::SessionNumber session, const std::vector<late::ClientJob>& jobs,
                     wire::LateClientPort::SubmitResults::Reader answer);
  void refuse(late::SessionNumber session, late::ClientJob job, const Error& error);
  void deliver(const LateClientResult& result);
  void carryOut();
  void flushSoon();
  void flush();
  void wake();
  void checkHandedOver();
  void taskFailed(kj::Exception&& exception) override;

  const Net net_;
  const Clock& clock_;
  const std::vector<std::string> agents_;
  const std::string token_;
  const late::ClientOptions options_;
  LateClientListener& listener_;
  std::optional<Error> lost_;  // while that is told: how the connection ended
  late::ClientSession session_;
  late::ClientActions actions_;
  std::map<late::ClientJob, Held> jobs_;
  late::ClientJob lastJob_ = 0;
  std::vector<late::SubmitTasks> toSubmit_;
  bool isFlushing_ = false;  // soon
  bool wasLate_ = false;     // the last wake-up
  std::vector<kj::Own<kj::PromiseFulfiller<void>>> handedOver_;
  Alarm alarm_;
  std::optional<MonotonicTime> wake_;
  // Of the present session; the connection is dropped after what came over it.
  kj::Own<Connection> connection_;
  kj::Maybe<wire::LateClientPort::Client> port_;
  Port* listening_ = nullptr;
  kj::Promise<void> connecting_ = nullptr;
  kj::TaskSet calls_;
};

}  // namespace tarcil
