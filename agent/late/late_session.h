// A client's session for late-bound jobs at an agent: takes its jobs and tells it of their tasks.
#pragma once

#include <kj/async.h>
#include <kj/function.h>

#include <string>
#include <vector>

#include "core/state/caller.h"
#include "latebinding/late_job.h"
#include "rpc/port_server.h"
#include "schema/late_binding.capnp.h"

namespace tarcil {

class LateBindingAgent;
struct LateSubmission;

// The port that the client calls; the session lasts as long. Single-threaded.
class LateSession final : public UserPortServer<wire::LateClientPort>, private kj::TaskSet::ErrorHandler {
 public:
  // `mostUntold`: results that the client may leave untaken, before it is told nothing more; as many as the
  // tasks that an agent holds of one user.
  LateSession(LateBindingAgent& agent, kj::Own<FairCalls::User> user, Caller caller,
              wire::LateClient::Client client, size_t mostUntold = 1'000'000)
      : UserPortServer(kj::mv(user), caller.role),
        agent_(&agent),
        caller_(std::move(caller)),
        client_(kj::mv(client)),
        mostUntold_(mostUntold),
        calls_(*this) {}
  ~LateSession() noexcept(false);

  kj::Promise<void> submit(SubmitContext context) override;
  kj::Promise<void> heartbeat(HeartbeatContext) override { return kj::READY_NOW; }
  kj::Promise<void> cancel(CancelContext context) override;

  // --- For the agent
  const Caller& caller() const { return caller_; }
  void forgetAgent() { agent_ = nullptr; }
  // Task `task` of the client's job `number`; goes out with the next flush().
  void over(uint64_t number, TaskIndex task, const late::TaskOver& over, std::string server);
  void flush();

 private:
  struct Over {
    uint64_t number = 0;
    TaskIndex task = 0;
    late::TaskOver over;
    std::string server;
  };

  void take(std::vector<LateSubmission> jobs, SubmitContext context);
  void cancel(const std::vector<uint64_t>& jobs);
  // At once, or after `first` and the calls before that wait.
  kj::Promise<void> inTurn(kj::Maybe<kj::Promise<void>> first, kj::Function<void()> act);
  void taskFailed(kj::Exception&& exception) override;
  void end(const char* why);

  LateBindingAgent* agent_;  // none once it is gone
  const Caller caller_;
  wire::LateClient::Client client_;
  const size_t mostUntold_;
  std::vector<Over> pending_;
  bool isCalling_ = false;
  bool isDeaf_ = false;                                                     // it is told nothing more
  size_t waiting_ = 0;                                                      // calls
  kj::ForkedPromise<void> last_ = kj::Promise<void>(kj::READY_NOW).fork();  // of these, when it is over
  kj::TaskSet calls_;
};

// As told to clients.
void write(const late::TaskOver& over, TaskIndex task, const std::string& server,
           wire::LateTaskOver::Builder to);

}  // namespace tarcil
