// One command's dealings with a cluster: event loop and client, made from flags and context.
#pragma once

#include <kj/async-io.h>
#include <kj/async-unix.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/job_reference.h"
#include "client/client.h"
#include "client/context.h"
#include "core/base/ids.h"
#include "core/model/job.h"
#include "schema/master.capnp.h"

namespace tarcil {

struct FoundJob {
  JobId id{};
  JobNumber number = 0;
  std::optional<TaskIndex> task{};  // that the text names
};

// Everything here throws Failure or a kj::Exception that carries an Error; main turns both into a message and
// an exit code.
class Cluster {
 public:
  // Finds the cluster and reads the token; nothing is sent yet.
  explicit Cluster(const ContextFlags& flags);
  // On an event loop that others use too, and which outlives it.
  Cluster(kj::AsyncIoContext& io, const Trust& trust, std::vector<std::string> agents, std::string token);
  KJ_DISALLOW_COPY(Cluster);

  Client& client() { return client_; }
  kj::Timer& timer() { return io_.provider->getTimer(); }
  // For other ways into the same cluster.
  Net net() {
    return {io_.provider->getNetwork(), *io_.lowLevelProvider, io_.provider->getTimer(), &security_};
  }
  const std::vector<std::string>& agents() const { return agents_; }
  const std::string& token() const { return token_; }
  kj::UnixEventPort& events() { return io_.unixEventPort; }

  // Runs the event loop until the promise is done.
  template <typename T>
  T wait(kj::Promise<T> promise) {
    return promise.wait(io_.waitScope);
  }

  // As Client::ask, waiting for the answer.
  template <typename Send>
  auto ask(Send send) {
    return client_.ask(kj::mv(send)).wait(io_.waitScope);
  }

  // The same for a list that comes in pages, by name: `send(session, after)` asks for what is behind a name,
  // at first the empty one, and `take` is given each answer, whose `next` is the name to go on with.
  template <typename Send, typename Take>
  void askByName(Send send, Take take) {
    std::string after;
    do {
      auto answer = ask([&send, after](Session& session) { return send(session, after.c_str()); });
      take(answer);
      after = answer.getNext().cStr();
    } while (!after.empty());
  }

  // The job that a text names (cli/job_reference.h). Failure with kExitBadInput for a text that can be none,
  // kExitFailed where it names no job or more than one. A whole id may name a job that nobody knows.
  FoundJob job(const std::string& text);
  // Each of them, so that all are known before anything is done to the first.
  std::vector<FoundJob> jobs(const std::vector<std::string>& texts);
  // Of a job that has been accepted; 0 where it has none.
  JobNumber numberOf(const JobId& id);

 private:
  using Jobs = std::map<JobId, JobNumber>;
  // Those that begin with the prefix or have the number, at most a few: enough to see whether it is one.
  Jobs find(const JobReference& reference);
  // Those whose names match and that are not over; where there are none, those that are.
  Jobs named(const std::string& pattern);
  Cluster(std::unique_ptr<kj::AsyncIoContext> io, const Context& context);

  const std::unique_ptr<kj::AsyncIoContext> ownIo_;  // null on the loop of others
  kj::AsyncIoContext& io_;
  Security security_;
  const std::vector<std::string> agents_;
  const std::string token_;
  Client client_;
};

// 128 bits from the kernel.
JobId makeJobId();

// Chance for a decision: short enough to be typed again.
uint32_t makeSeed();

// Hands the job over; done when it is durable. May be repeated with the same id. Where the cluster got out of
// reach on the way, the error says that the job may have been taken and how to find out.
kj::Promise<void> submitJob(Client& client, const JobId& id, JobSpec spec, std::vector<InputFile> files);

// What its user does to a job that was submitted; `priority` is for that change.
kj::Promise<void> steerJob(Client& client, const JobId& id, wire::JobChange change, uint8_t priority = 0);

}  // namespace tarcil
