// What a task wrote, for GET /api/v1/jobs/JOB/logs.
#pragma once

#include <kj/async-io.h>
#include <kj/timer.h>

#include <cstdint>
#include <string>
#include <vector>

#include "cli/cluster.h"
#include "client/client.h"
#include "gateway/logic/routes.h"

namespace tarcil::gateway {

struct LogPiece {
  JobId job{};
  std::string text{};  // bytes as the task wrote them
  uint64_t next = 0;
  bool isAll = false;  // nothing follows
};
// On a worker thread; at most 1 MiB from `offset` on. Nothing of a task that has not started. Failure where
// there is no such job or task.
LogPiece readLog(Cluster& cluster, const Arguments& arguments);

// What follows, as server-sent events, until the task has ended. On the event loop, and over a connection of
// its own.
class LogStream final {
 public:
  LogStream(Net net, std::vector<std::string> agents, std::string token, kj::Duration writeTime,
            kj::Own<kj::AsyncOutputStream> to, const LogPiece& begin, const Arguments& arguments);
  KJ_DISALLOW_COPY(LogStream);

  kj::Promise<void> run();

 private:
  kj::Promise<void> ask();
  kj::Promise<void> writeAndGoOn(std::string text, bool isAll);

  kj::Timer& timer_;
  Client client_;
  const kj::Duration writeTime_;
  kj::Own<kj::AsyncOutputStream> to_;
  const JobId job_;
  const TaskIndex task_;
  const wire::Stream stream_;
  uint64_t offset_;
  AllocationId allocation_ = 0;
  std::string begin_;
  bool isAll_;
};

}  // namespace tarcil::gateway
