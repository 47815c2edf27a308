// A late-bound job in the foreground of a terminal: what its tasks write is copied as they end, Ctrl-C
// cancels it, and it gives the exit code.
#pragma once

#include <deque>
#include <optional>

#include "cli/cluster.h"
#include "cli/late_agents.h"
#include "cli/late_watcher.h"
#include "client/late/late_client.h"

namespace tarcil {

class LateForegroundJob final {
 public:
  // Requires: SIGINT and SIGTERM are captured (kj::UnixEventPort). `cluster` outlives this.
  LateForegroundJob(Cluster& cluster, JobSpec spec);
  KJ_DISALLOW_COPY(LateForegroundJob);

  // Submits the job, copies the output of each task that has ended, waits for the last. The exit code: that
  // of the first task in order that failed, kExitOfTarcil where one was lost or the job was refused, 130
  // (143) when SIGINT (SIGTERM) cancelled it. Throws as Cluster does.
  int run();

 private:
  void taskOver(const LateClientResult& result);
  kj::Promise<void> copyOutputs();
  kj::Promise<void> copyStream(TaskIndex task, wire::Stream stream);
  kj::Promise<void> watchSignals();
  int exitCode() const;
  void sayWhyNotExecuted(size_t number, const LateTaskStatus& task) const;

  Cluster& cluster_;
  const JobId id_;
  LateAgents agents_;
  LateJobWatcher watcher_;
  std::deque<TaskIndex> ended_;  // whose output is to be copied
  bool isCopying_ = false;
  bool lacksOutput_ = false;
  int stoppedBy_ = 0;  // exit code of what stopped the job, 0 while nothing has
  kj::Own<kj::PromiseFulfiller<void>> leave_;
  LateClient client_;
  late::ClientJob job_ = 0;
  JobSpec spec_;
  kj::Promise<void> copying_ = kj::READY_NOW;
  kj::Promise<void> signals_ = nullptr;
};

}  // namespace tarcil
