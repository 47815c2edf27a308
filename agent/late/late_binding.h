// The agent's shell of late binding: sessions with monitors and clients around the scheduler
// (latebinding/job_scheduler.h). Nothing here waits for the master.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "agent/late/late_grants.h"
#include "agent/late/late_jobs.h"
#include "agent/late/late_link.h"
#include "agent/late/late_loads.h"
#include "agent/late/late_numbers.h"
#include "agent/late/late_servers.h"
#include "agent/late/late_session.h"
#include "agent/server/agent_metrics.h"
#include "core/base/result.h"
#include "core/base/rng.h"
#include "env/alarm.h"
#include "env/clock.h"
#include "env/stop.h"
#include "latebinding/job_scheduler.h"
#include "rpc/wait_list.h"
#include "schema/agent.capnp.h"
#include "schema/late_binding.capnp.h"

namespace tarcil {

struct LateBindingOptions {
  late::SchedulerOptions scheduler;
  LateLoad most = kMaxLateLoad;
  // Of jobs that are over, for those who ask what became of them.
  LateLoad kept = {.tasks = 100'000, .bytes = size_t{256} << 20};
};

// A job as a client submits it.
struct LateSubmission {
  uint64_t number = 0;  // the client's own
  JobId id{};
  JobSpec spec;
  std::vector<TaskIndex> tasks;  // only these, ascending; empty: all
  std::optional<double> probeRatio;
  std::vector<std::string> executor;
  std::vector<std::string> descriptions;  // by task of `spec`
  bool detached = false;
};

// Links to the monitor of every server that takes late-bound tasks, as soon as it hears of one. What follows
// from what comes together goes out together, one message for each monitor and client.
//
// Single-threaded; outlives its sessions' connections or is told of their end.
class LateBindingAgent final {
 public:
  // `clock` and `metrics` outlive it. `token`: with which monitors are logged in at.
  // `lease`: asks the master for numbers of jobs. `grant`: for grants.
  LateBindingAgent(Net net, const Clock& clock, Rng rng, std::string token, AgentMetrics& metrics,
                   const LateBindingOptions& options, LateNumbers::Lease lease, LateGrants::Ask grant);
  ~LateBindingAgent() noexcept(false);

  // What the master tells of a server, of a platform, and of a user: the shares of jobs from now on.
  void note(const ServerUpdate& update);
  void note(const std::string& platform, const Share& share);
  void note(const std::string& user, uint32_t shares);

  // The link to the master stands.
  void masterAttached() { grants_.masterAttached(); }

  // A client opens a session. The capability may outlive this object.
  wire::LateClientPort::Client open(kj::Own<FairCalls::User> user, const Caller& caller,
                                    wire::LateClient::Client client);

  // --- For users who ask, of the jobs that it holds or held and that the caller may see; NotFound where
  // there is no such job (late_queries.cc)
  // Of the tasks that are over, a page from `firstOver` on.
  Status describe(const Caller& caller, const JobId& id, uint32_t firstOver,
                  wire::LateJobDetails::Builder to) const;
  // Newest first.
  void list(const Caller& caller, uint32_t limit, wire::JobFilter::Reader filter,
            wire::ClientPort::LateJobsResults::Builder to) const;
  // Those whose digits begin so, or with the number where one is given, at most two; by id, with their
  // numbers. Answered once all of them that can be have numbers.
  using Found = std::map<JobId, JobNumber>;
  kj::Promise<Found> find(const Caller& caller, const std::string& prefix, JobNumber number);
  // Its state before.
  Result<RunState> cancel(const Caller& caller, const JobId& id);
  // Its state when every task is over.
  kj::Promise<RunState> untilOver(const Caller& caller, const JobId& id);
  // Where what a task wrote is; at address "" where it is not over, or never ran. With `wait`, once it
  // is over.
  struct OutputLocation {
    std::string server, address;  // the latter of its monitor; empty: there is no output
    late::SlotLeaseId lease = 0;
    bool isOver = false;
  };
  kj::Promise<OutputLocation> outputLocation(const Caller& caller, const JobId& id, TaskIndex task,
                                             bool wait);

  // --- For sessions with clients
  // Asks the master for the grants that the jobs need and this agent does not have; none where it has them
  // all.
  kj::Maybe<kj::Promise<void>> grantsFor(const Caller& caller, const std::vector<LateSubmission>& jobs);
  Status submit(LateSession& session, LateSubmission submission);
  void cancel(LateSession& session, uint64_t number);
  void sessionEnded(LateSession& session);

  // --- For links to monitors
  void sessionBegan(LateLink& link);
  void sessionEnded(LateLink& link);
  void take(LateLink& link, wire::LateMonitorNews::Reader news);
  // Everything in the link's outbox but gives that need more grants than go into one message.
  void write(LateLink& link, wire::LateAgentNews::Builder to);

 private:
  struct LinkEntry {
    LateLink* link = nullptr;
    uint32_t index = 0;  // in the monitor's list
  };

  MonotonicTime now() const { return clock_.now().steady; }
  // `load` is the job's, without its pairs of tasks and servers, which are added.
  Result<late::LateJob> lateJobOf(const LateSubmission& submission, const Caller& caller, LateLoad& load);
  Status hasUnitsFor(const ServerNeeds& needs) const;
  void join(LateLink& link, uint32_t index, const LateServer& server);
  void leave(ServerId server);
  void tellSurroundings(ServerId server);
  void writeGives(LateLink& link, wire::LateAgentNews::Builder to);
  // What the scheduler wants is on its way to whom it concerns.
  void carryOut();
  void carryOut(const late::TaskOver& over);
  const LateHeld* find(const Caller& caller, const JobId& id) const;
  Found foundAtOnce(const Caller& caller, const std::string& prefix, JobNumber number) const;
  LateProgress progressOf(const LateHeld& job) const;
  void flushSoon();
  void setAlarm();

  const Net net_;
  const Clock& clock_;
  Rng rng_;
  const std::string token_;
  AgentMetrics& metrics_;
  late::JobScheduler scheduler_;
  late::SchedulerActions actions_;
  LateServers servers_;
  std::map<std::string, Share> shares_;            // by platform
  std::map<std::string, uint16_t> sharesOfUsers_;  // of those who have more than one
  LateJobs jobs_;
  LateNumbers numbers_;
  LateGrants grants_;
  LateLoads held_;                                                       // of jobs that are not over
  WaitList<std::pair<late::JobNumber, std::optional<TaskIndex>>> over_;  // one of its tasks; none: the job
  std::vector<LinkEntry> places_;                                        // by server
  std::map<std::string, std::unique_ptr<LateLink>> links_;               // by address
  std::set<LateLink*> toSend_;                                           // have something in their outbox
  std::set<LateSession*> sessions_;
  std::set<LateSession*> toTell_;  // have something pending
  bool isFlushing_ = false;        // soon
  std::optional<MonotonicTime> wake_;
  Alarm alarm_;
  StopsIfFailed stops_{"sending what late binding has to say"};
  kj::TaskSet flushes_;
};

}  // namespace tarcil
