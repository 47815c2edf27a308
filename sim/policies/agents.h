// The quality policy as the real system makes it: agents that decide on copies of the state and commit
// optimistically to a master. Decisions, checks and buckets are the real code (core/decide, core/state, lsh,
// agent/likely_servers); messages and disk are delays. Also the greedy centralised scheduler: one agent that
// judges every free slot, at a price.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "agent/logic/likely_servers.h"
#include "core/base/rng.h"
#include "core/decide/chooser.h"
#include "core/state/cluster_state.h"
#include "core/state/occupancy.h"
#include "lsh/admission.h"
#include "sim/ground_truth/ground_truth.h"
#include "sim/policies/scheduler.h"
#include "sim/world.h"

namespace tarcil::sim {

// What the time of a decision is made of.
struct DecisionTime {
  Duration fixed = std::chrono::microseconds(2);
  std::chrono::nanoseconds perSlot{30};  // drawn; docs/benchmarks.md has both as measured
  // A greedy scheduler looks at no more slots than it gets through in this time, chosen by chance.
  std::optional<Duration> bound{};
};

struct AgentsOptions {
  Policy policy = Policy::kQuality;  // or kGreedy
  uint32_t agents = 10;
  QualitySettings settings;
  Duration oneWay = std::chrono::microseconds(500);
  Duration durable = std::chrono::microseconds(300);  // until a commit is on disk (docs/benchmarks.md)
  Duration waitBound = std::chrono::seconds(30);      // where neither job nor buckets give one
  DecisionTime decision;
  uint32_t buckets = BucketOptions{}.buckets;  // of each platform
};

class Agents final : public Scheduler {
 public:
  // World and belief outlive it.
  Agents(World& world, const Belief& belief, const AgentsOptions& options, Rng rng);
  ~Agents() override;

  void jobArrived(JobNumber job) override;
  void taskEnded(TaskNumber task, ServerNumber server) override;
  void received(const Message& message) override;
  SchedulerCounts counts() const override { return counts_; }

 private:
  enum Kind : uint8_t { kAgentFree, kCommitArrives, kAnswered, kStart, kEndHeard, kWake, kBoundReached };

  // A job with tasks that have no slot.
  struct Job {
    std::vector<TaskIndex> queued;  // without a slot, and not in a commit
    bool waits = false;             // in waiting_
    bool late = false;              // has waited for its bound: takes the best there is
    std::optional<SimTime> waitingSince;
    uint32_t timesWaited = 0;  // so far: bounds of earlier ones are void
    uint32_t replans = 0;
    SimTime submitted{};  // to its agent, for the decision that comes next
  };

  struct Agent {
    ClusterState state;
    Chooser chooser;
    agent::LikelyServers likely;
    // Servers of which `likely` has not heard yet: it is asked for few decisions only, and most changes are
    // overtaken by then.
    std::vector<ServerId> stale;
    std::vector<bool> isStale;
    size_t read = 0;  // of the log
    bool busy = false;
    std::deque<JobNumber> toDecide;

    void noteChange(ServerId server);
    void bringLikelyUpToDate();
  };

  struct Commit {
    JobNumber job = 0;
    uint32_t agent = 0;
    Judging judging;
    std::vector<Claim> claims;
    std::vector<ClusterState::OverlayId> overlays;
    std::vector<bool> granted;
    std::vector<ServerUpdate> servers;
  };

  // The master's word on a server.
  struct Server {
    ServerFacts facts;
    ServerStatus status;
    std::vector<Resident> residents;
  };
  struct Change {
    SimTime durable;
    ServerUpdate update;
  };

  uint32_t agentOf(JobNumber job) const { return job % options_.agents; }
  // The job as the decision code takes it; valid until the next call.
  const JobSpec& specOf(JobNumber job);
  const Share& shareOf(ServerNumber server) const;

  // --- Agents
  void submit(JobNumber job);
  void decideNext(uint32_t agent);
  QualitySettings settingsNow() const;
  Decision decide(Agent& agent, JobNumber job);
  Decision decideBy(Agent& agent, JobNumber job, const QualitySettings& settings);
  Duration timeOf(const Decision& decision) const;
  void catchUp(Agent& agent);
  void answered(uint32_t commit);

  // --- Master
  void check(uint32_t commit);
  void serverChanged(ServerNumber server);
  void wait(JobNumber job);
  std::optional<Duration> boundOf(const JobSpec& spec, uint32_t slots);
  void wakeSoon();
  void wake();

  World& world_;
  const Belief& belief_;
  const AgentsOptions options_;
  Rng rng_;
  std::vector<JobSpec> specs_;  // by application
  std::vector<Job> jobs_;
  std::vector<Agent> agents_;
  std::vector<Server> servers_;
  std::deque<Change> log_;
  size_t logBegin_ = 0;  // number of its first entry
  std::vector<Commit> commits_;
  std::vector<uint32_t> unusedCommits_;
  BucketIndex buckets_;
  Matching matching_;
  // Kinds are jobs after the same slots: where one failed, others rest until something gets better.
  using KindOfJob = std::tuple<ApplicationNumber, uint32_t, bool>;
  KindOfJob kindOf(JobNumber job) const {
    return {world_.job(job).application, world_.job(job).rus, jobs_[job].late};
  }
  std::set<std::pair<int, JobNumber>> waiting_;  // the highest priority first, then by age
  std::set<KindOfJob> resting_;
  bool wakes_ = false;     // a wake is under way
  bool improved_ = false;  // units came free since the last one
  SchedulerCounts counts_;
};

}  // namespace tarcil::sim
