// What a task wrote, for GET /api/v1/jobs/JOB/logs.
#pragma once

#include <kj/async-io.h>
#include <kj/function.h>
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
  bool isAll = false;   // nothing follows
  bool isLate = false;  // of a late-bound task: all that it wrote comes when it is over
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

// The same of a late-bound task: `read` is asked each second for what there is from an offset on. On the
// event loop.
class LateLogStream final {
 public:
  using Read = kj::Function<kj::Promise<LogPiece>(uint64_t offset)>;
  LateLogStream(kj::Timer& timer, kj::Duration writeTime, kj::Own<kj::AsyncOutputStream> to, Read read)
      : timer_(timer), writeTime_(writeTime), to_(kj::mv(to)), read_(kj::mv(read)) {}
  KJ_DISALLOW_COPY(LateLogStream);

  // Begins with what has been read.
  kj::Promise<void> run(LogPiece piece);

 private:
  kj::Timer& timer_;
  const kj::Duration writeTime_;
  kj::Own<kj::AsyncOutputStream> to_;
  Read read_;
};

}  // namespace tarcil::gateway
