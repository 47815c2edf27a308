// The agents of a cluster, each asked by itself: a late-bound job is known to the one that holds it, or held
// it lately, and to nobody else.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/cluster.h"
#include "cli/late_job.h"
#include "cli/task_output.h"

namespace tarcil {

// An agent that is out of reach is passed over; what was not found may be known to it. Single-threaded.
class LateAgents final {
 public:
  // `cluster` outlives it. Nothing is sent yet.
  explicit LateAgents(Cluster& cluster);
  KJ_DISALLOW_COPY(LateAgents);

  // Nothing where no agent knows the job.
  std::optional<LateJobStatus> find(const JobId& id);
  // The state that it had before.
  std::optional<RunState> cancel(const JobId& id);
  // Its state when all of its tasks are over. This outlives the promise.
  kj::Promise<std::optional<RunState>> wait(const JobId& id);
  // Those with this number or whose digits begin so: enough to see that a prefix is not unique. By agent.
  using Found = capnp::Response<wire::ClientPort::FindLateJobsResults>;
  std::vector<Found> find(const JobReference& reference);
  // Those that pass, as each agent gives them.
  using Jobs = capnp::Response<wire::ClientPort::LateJobsResults>;
  std::vector<Jobs> list(uint32_t limit, wire::JobFilter::Reader filter);

  // Fails as NotFound where no agent knows the job or its output is gone.
  kj::Promise<void> copyOutput(const OutputSource& source, Follow follow, Sink sink);

  // Some of it from `offset` on, at most 1 MiB; nothing of a task that is not over. Fails as copyOutput()
  // does.
  struct Piece {
    std::string text;
    uint64_t next = 0;   // the offset behind it
    bool isAll = false;  // nothing follows
  };
  kj::Promise<Piece> readOutput(const OutputSource& source, uint64_t offset);

  // NotFound: what a job that nobody knows was asked for fails as.
  kj::Exception unknown(const JobId& id) const;

 private:
  template <typename Send>
  auto ask(Send send);
  template <typename Send>
  auto askAll(Send send);
  kj::Promise<void> copyFrom(size_t agent, OutputSource source, Follow follow, Sink sink);
  kj::Promise<Piece> readFrom(size_t agent, OutputSource source, uint64_t offset);
  // Whether the next agent may know what this one fails at.
  bool mayKnow(size_t nextAgent, const kj::Exception& exception) const;

  Cluster& cluster_;
  std::vector<std::unique_ptr<Client>> clients_;  // by agent
  std::set<std::string> silent_;                  // agents that did not answer
};

}  // namespace tarcil
