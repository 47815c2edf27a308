// What becomes of the tasks of a late-bound job that this process hands to agents.
#pragma once

#include <kj/async.h>

#include <functional>

#include "cli/late_job.h"
#include "client/late/late_client.h"

namespace tarcil {

// Listens to the client of one job, and says on stderr when an agent fails.
class LateJobWatcher final : public LateClientListener {
 public:
  using TaskOver = std::function<void(const LateClientResult&)>;

  // Of a job that is submitted now. `onTaskOver`, if any, is called when the end of a task is in the status.
  LateJobWatcher(const JobId& id, const JobSpec& spec, TaskOver onTaskOver = {});

  const LateJobStatus& status() const { return status_; }

  // Resolves when all tasks are over, fails where the token is denied.
  kj::Promise<void> over() { return over_.addBranch(); }

  void taskOver(const LateClientResult& result) override;
  void agentFailed(const std::string& agent, const std::vector<late::ClientTask>& inFlight,
                   const std::string& reason) override;
  void denied(const Error& error) override;

 private:
  LateJobStatus status_;
  size_t left_;
  TaskOver onTaskOver_;
  kj::PromiseFulfillerPair<void> end_ = kj::newPromiseAndFulfiller<void>();
  kj::ForkedPromise<void> over_ = end_.promise.fork();
};

}  // namespace tarcil
