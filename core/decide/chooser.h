// Chooses slots for tasks from a sample of the free ones (Tarcil section 3.3).
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "core/base/result.h"
#include "core/decide/options.h"
#include "core/decide/sample_plan.h"
#include "core/model/job.h"
#include "core/state/claim.h"
#include "core/state/cluster_state.h"
#include "core/state/explain.h"

namespace tarcil {

// Whether slots that are not acceptable may be taken.
enum class Standard : uint8_t {
  kAcceptable,   // only slots that satisfy the job well enough
  kBestThereIs,  // the job has waited long enough: the best feasible slot, acceptable or not
};

struct PlacementRequest {
  const JobSpec& spec;
  // Tasks to place, each with its attempt; spec.rusPerTask units each.
  struct Task {
    TaskIndex index = 0;
    uint32_t attempt = 0;
  };
  std::vector<Task> tasks;
  // Tasks of the job that already sit on servers: they count for placement.spread.
  std::vector<ServerId> placedOn;
  Standard standard = Standard::kAcceptable;
  // Most claims; a gang's tasks are no more.
  size_t atMost = kMaxTasks;
  // Most candidates in the explanation. The decision does not depend on it.
  size_t candidates = Explanation::kMaxCandidates;
  // What a slot has to be worth to be acceptable, whatever the target: with RankBy::kWorth
  // (core/decide/price.h).
  double price = 1;
  uint32_t waitingJobs = 0;  // that the price was formed for; only said in the explanation
  // Servers, ascending, that get no task; it outlives the request.
  std::span<const ServerId> except{};
  // Asked where to draw on when acceptable slots prove rare (kQuality); none: everywhere. It outlives the
  // request.
  AskLikely ask{};
};

struct Decision {
  std::vector<Claim> claims;  // at most one per task; distinct tasks
  Explanation explanation;
  // Of the tasks that require servers of their own: how many have no claim, and the first of them.
  size_t unmet = 0;
  TaskIndex firstUnmet = 0;
  double bestWorth = 0;  // RankBy::kWorth: the most that a slot was worth to the job that was looked at
};

// Samples, judges and chooses greedily: after each pick the server is judged again, so that a job's own tasks
// never violate each other's profiles. With schedule gang, claims are for all tasks or none.
//
// spec.policy says how (core/model/job.h). kQuality draws until the tasks have acceptable slots and the floor
// is met, at most drawLimit() of them; with a fixed ratio exactly so many. Slots of servers or racks that
// placement.spread gives no more tasks are drawn besides. Tasks that require servers of their own come first:
// they get the best slots there are on these, or none; where these are not listed by name or rack, they are
// sampled. Slots of the servers in placement.prefer are judged besides, so that data is found by name and not
// by luck; a task with preferences of its own takes the best acceptable slot on its servers, if there is one.
// With placement.pack each drawn slot stands for its server or its rack, which is judged by all the tasks
// that it could take together (Tarcil Fig. 5b). kGreedy judges every free slot.
//
// A chooser serves one state: it caches what follows from that state's platforms.
class Chooser {
 public:
  struct Memory;  // what decisions use again, one after the other

  Chooser();
  ~Chooser();
  Chooser(Chooser&&) noexcept;
  Chooser& operator=(Chooser&&) noexcept;

  // Decides on the current state. Seeds its own generator with `seed` and records the seed: the same
  // arguments give the same decision. Reuses its memory between calls. One task takes about a microsecond
  // whatever the size of the cluster, and each slot drawn some tens of nanoseconds. Requires: the state forms
  // contention by settings.contention.
  Decision choose(const ClusterState& state, const PlacementRequest& request, const QualitySettings& settings,
                  uint64_t seed);

 private:
  std::unique_ptr<Memory> memory_;
};

// One decision with a chooser of its own.
Decision choose(const ClusterState& state, const PlacementRequest& request, const QualitySettings& settings,
                uint64_t seed);

// Whether a policy uses profiles; the others take any slot (core/model/job.h).
bool looksAtQuality(Policy policy);

// How the master is to judge the claims of this job.
Judging judgingFor(const JobSpec& spec, const QualitySettings& settings);

// The servers that the job's slots are drawn from: those that meet its constraints, have its extras and,
// about, the memory and disk that it asks for. O(1) where they were asked for lately, else O(servers). The
// reference holds until the next call with this state. With `required` those that meet these constraints too.
const ServerSet& suitableServers(const ClusterState& state, const JobSpec& spec,
                                 const std::vector<Constraint>& required = {});

// Why the job could never run, or success: constraints that no server meets, a task larger than any server
// that meets them, a gang of more units than such servers have; the same for the tasks that require one
// thing. Servers count whether they are up or not.
Status everFeasible(const ClusterState& state, const JobSpec& spec);

}  // namespace tarcil
