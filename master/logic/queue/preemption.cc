#include "master/logic/queue/preemption.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "core/decide/chooser.h"
#include "core/decide/margin.h"
#include "core/model/quality.h"
#include "core/state/commit_check.h"
#include "master/logic/jobs/task_life.h"
#include "master/logic/people/account_bounds.h"
#include "master/logic/queue/feasibility.h"
#include "master/logic/queue/spreading.h"
#include "master/logic/servers/job_resident.h"

namespace tarcil::master {
namespace {

// After so long a job that nothing could be done for is looked at again; one that others were ended for in
// vain a second time too, and after twice as long each further time, up to so many doublings.
constexpr Duration kFailedAttemptInterval = std::chrono::seconds(1);
constexpr uint32_t kMaxDoublings = 6;

// For so long after its last victim's end servers stay reserved for a job that no agent tries.
constexpr Duration kPatience = std::chrono::seconds(1);
// Jobs with reserved servers at a time, bounded because agents are told of all these servers.
constexpr size_t kMaxReservedFor = 64;

// Servers with free units that are looked at.
constexpr size_t kMaxFreeLookedAt = 1'024;

struct Victim {
  uint8_t priority = 0;
  AllocationId allocation = 0;  // the higher, the younger

  // Who is to go first.
  bool operator<(const Victim& other) const {
    return std::tuple(priority, ~allocation) < std::tuple(other.priority, ~other.allocation);
  }
};

// What a slot costs. Less is better.
struct Cost {
  size_t victims = 0;
  uint8_t highest = 0;  // priority among them
  auto operator<=>(const Cost&) const = default;
};

// A server as it would be without some of its tasks and with tasks of the job that is helped.
class HypotheticalServer {
 public:
  HypotheticalServer(const EventContext& context, const Server& server, const Job& job)
      : server_(server), status_(server.status), residents_(server.residents) {
    for (const Resident& resident : residents_) {
      const Hold& hold = *context.tables.jobs.holder(resident.allocation);
      const JobSpec& spec = hold.job->record.spec;
      if (!spec.preemptible || spec.priority >= job.record.spec.priority) continue;
      if (!hold.job->tasks[hold.task].stopping) victims_.insert({spec.priority, resident.allocation});
    }
  }

  // The cheapest victims without whom one more task is acceptable; nullopt where all together do not do.
  std::optional<std::vector<Victim>> victimsFor(const JobSpec& spec, const Judging& judging,
                                                double floor) const {
    ServerStatus status = status_;
    std::vector<Resident> residents = residents_;
    std::vector<Victim> gone;
    auto next = victims_.begin();
    while (!accepts(spec, judging, floor, status)) {
      if (next == victims_.end()) return std::nullopt;
      vacate(status, residents, next->allocation, server_.record.facts, server_.share);
      gone.push_back(*next++);
    }
    return fewest(std::move(gone), spec, judging, floor);
  }

  // They go, and a task of the job comes.
  void replace(const std::vector<Victim>& victims, const JobSpec& spec) {
    for (const Victim& victim : victims) {
      vacate(status_, residents_, victim.allocation, server_.record.facts, server_.share);
      victims_.erase(victim);
    }
    occupy(status_, residents_,
           residentOf(spec, UINT64_MAX, status_.free.first(spec.rusPerTask),
                      lowestExtras(status_.freeExtras, spec.extras)),
           server_.record.facts, server_.share);
  }

 private:
  bool accepts(const JobSpec& spec, const Judging& judging, double floor, const ServerStatus& status) const {
    Claim claim = freshClaim(server_, spec.rusPerTask);
    claim.floor = floor;
    return checkClaim(claim, judging, spec, server_.record.facts, status, server_.share) == Verdict::kGranted;
  }

  // Without those who went before it turned out that others matter: the most precious may stay first.
  std::vector<Victim> fewest(std::vector<Victim> gone, const JobSpec& spec, const Judging& judging,
                             double floor) const {
    for (size_t i = gone.size(); i-- > 0;) {
      ServerStatus status = status_;
      std::vector<Resident> residents = residents_;
      for (size_t other = 0; other < gone.size(); ++other) {
        if (other != i)
          vacate(status, residents, gone[other].allocation, server_.record.facts, server_.share);
      }
      if (accepts(spec, judging, floor, status)) gone.erase(gone.begin() + static_cast<ptrdiff_t>(i));
    }
    return gone;
  }

  const Server& server_;
  ServerStatus status_;
  std::vector<Resident> residents_;
  std::set<Victim> victims_;
};

// Where the job can be placed once these victims have ended.
struct PreemptionPlan {
  std::vector<Victim> victims;
  std::set<ServerId> servers;
};

// The search for the job's slots.
class Search {
 public:
  Search(const EventContext& context, const Job& job)
      : context_(context), job_(job), spec_(job.record.spec), placed_(servers(), job) {
    except_ = context.tables.jobs.queue().reservedForOthers(JobTable::queueKeyOf(job));
    // No task is ended for the sake of a margin.
    judging_ = judgingWithoutMargin(spec_, context.tables.settings);
    best_ = bestFactor();
  }

  // The victims whose end gives slots to `slots` more tasks, or to fewer where that is not possible and the
  // job is no gang. No victims where a slot can be had without any.
  PreemptionPlan planFor(size_t slots) {
    const bool isGang = spec_.schedule == Schedule::kGang;
    lookAtVictims();
    if (!options_.empty()) lookAtFree();
    PreemptionPlan plan;
    size_t looked = 0;
    for (TaskIndex task = 0; task < spec_.tasks && looked < slots; ++task) {
      if (job_.tasks.state(task) != RunState::kQueued) continue;
      ++looked;
      const auto slot = cheapestFor(task);
      if (slot == options_.end()) {
        if (isGang) return {};
        if (spec_.requirementOf(task) != nullptr) continue;
        return plan;
      }
      Option& option = slot->second;
      if (option.victims->empty() && !isGang) return {};
      plan.victims.insert(plan.victims.end(), option.victims->begin(), option.victims->end());
      plan.servers.insert(slot->first);
      option.vision.replace(*option.victims, spec_);
      placed_.add(servers().at(slot->first));
      judge(slot->first, option);
    }
    return plan;
  }

 private:
  // What a server can be made to offer.
  struct Option {
    HypotheticalServer vision;
    std::optional<std::vector<Victim>> victims{};  // that the next task costs; nullopt: it is not acceptable
  };
  using Options = std::map<ServerId, Option>;

  const ServerTable& servers() const { return context_.tables.servers; }

  // On the platforms of the servers that meet the job's constraints, as the agent judges it.
  double bestFactor() const {
    double best = 0;
    if (spec_.placement.constraints.empty()) {
      for (const auto& [platform, count] : servers().platforms()) {
        best = std::max(best, platformFactor(spec_.profile, platform));
      }
      return best;
    }
    for (ServerId id = 0; id < servers().size(); ++id) {
      const Server& server = servers().at(id);
      if (!isFeasible(server, spec_)) continue;
      best = std::max(best, platformFactor(spec_.profile, server.record.facts.platform));
    }
    return best;
  }

  void lookAt(const Server& server) {
    const ServerId id = server.record.id;
    if (options_.contains(id) || !isFeasible(server, spec_) || std::ranges::binary_search(except_, id))
      return;
    judge(id, options_.emplace(id, Option{HypotheticalServer(context_, server, job_)}).first->second);
  }

  // As the agent judges: E = S * factor reaches the target's part of the best platform's (docs/design.md).
  void judge(ServerId id, Option& option) const {
    const double factor = platformFactor(spec_.profile, servers().at(id).record.facts.platform);
    const double target =
        looksAtQuality(spec_.policy) ? spec_.target.value_or(context_.tables.settings.target) : 0;
    const double floor = target * best_ / factor;
    option.victims.reset();
    if (floor <= 1) option.victims = option.vision.victimsFor(spec_, judging_, floor);
  }

  void lookAtVictims() {
    size_t looked = 0;
    for (const auto& [priority, allocations] : context_.tables.jobs.preemptible()) {
      if (priority >= spec_.priority) return;
      for (auto youngest = allocations.rbegin(); youngest != allocations.rend(); ++youngest) {
        if (++looked > kMaxVictimsLookedAt) return;
        lookAt(servers().at(context_.tables.jobs.holder(*youngest)->server));
      }
    }
  }

  void lookAtFree() {
    size_t looked = 0;
    for (ServerId id = 0; id < servers().size() && looked < kMaxFreeLookedAt; ++id) {
      const Server& server = servers().at(id);
      if (server.status.free.size() < spec_.rusPerTask) continue;
      lookAt(server);
      ++looked;
    }
  }

  // The server that this task, as the next, costs least on.
  Options::iterator cheapestFor(TaskIndex task) {
    const std::vector<Constraint>* const required = spec_.requirementOf(task);
    auto best = options_.end();
    Cost least;
    for (auto option = options_.begin(); option != options_.end(); ++option) {
      const auto& victims = option->second.victims;
      const Server& server = servers().at(option->first);
      if (!victims || placed_.isFull(server)) continue;
      if (required != nullptr && !meets(server.record.facts, *required)) continue;
      Cost cost{.victims = victims->size()};
      for (const Victim& victim : *victims) cost.highest = std::max(cost.highest, victim.priority);
      if (best != options_.end() && least <= cost) continue;
      best = option;
      least = cost;
    }
    return best;
  }

  const EventContext& context_;
  const Job& job_;
  const JobSpec& spec_;
  std::vector<ServerId> except_;  // reserved for other jobs
  Judging judging_;
  double best_ = 0;  // factor of the job's best platform
  Options options_;
  Spreading placed_;
};

// Whether units are on their way to the job: those of victims that have not ended yet.
bool areVictimsEnding(const JobTable& jobs, Job& job) {
  auto& victims = job.preemption.victims;
  while (!victims.empty() && jobs.holder(victims.back()) == nullptr) victims.pop_back();
  return !victims.empty();
}

void reserveServers(EventContext& context, Job& job) {
  Tables& tables = context.tables;
  if (!tables.preempting.contains(job.record.id) && tables.preempting.size() >= kMaxReservedFor) return;
  tables.preempting.insert(job.record.id);
  job.preemption.reservedAs = JobTable::queueKeyOf(job);
  tables.jobs.queue().reserve(
      WaitingQueue::Purpose::kPreemption,
      WaitingQueue::Reservation{.job = job.preemption.reservedAs, .servers = job.preemption.servers});
}

// The servers that were reserved for it are there for others.
void release(EventContext& context, const JobId& id) {
  if (context.tables.preempting.erase(id) == 0) return;
  WaitingQueue& queue = context.tables.jobs.queue();
  queue.release(WaitingQueue::Purpose::kPreemption, id);
  queue.wakeAll();
}

void lookNoLaterThan(EventContext& context, MonotonicTime when) {
  std::optional<MonotonicTime>& due = context.tables.preemptionDue;
  due = std::min(due.value_or(when), when);
}

// The job was tried when all its victims had ended, and still waits. It may be that its agent will not have
// what they left: they are not to be ended for it again at once.
void noteFailedPreemption(EventContext& context, Job& job) {
  if (const uint32_t before = job.preemption.failedPreemptions++; before > 0) {
    const uint32_t doublings = std::min(before - 1, kMaxDoublings);
    job.preemption.notBefore = context.now.steady + kFailedAttemptInterval * (1u << doublings);
  }
  job.preemption.servers.clear();
  release(context, job.record.id);
}

// Updates the job's reservation; false where it is to end.
bool isStillReserved(EventContext& context, Job& job) {
  if (!job.waits()) {
    job.preemption.failedPreemptions = 0;
    return false;
  }
  if (job.preemption.reservedAs != JobTable::queueKeyOf(job)) reserveServers(context, job);
  if (areVictimsEnding(context.tables.jobs, job)) return true;
  MonotonicTime& until = job.preemption.reservedUntil;
  if (until == MonotonicTime()) until = context.now.steady + kPatience;
  if (context.now.steady >= until) return false;
  lookNoLaterThan(context, until);
  return true;
}

// Tasks that are ended for it: of a gang all, since the others can do nothing without it and start
// again together.
size_t preempt(EventContext& context, const Hold& hold, const std::string& why) {
  const JobTable& jobs = context.tables.jobs;
  if (hold.job->record.spec.schedule != Schedule::kGang) {
    moveTask(context, hold, why);
    return 1;
  }
  size_t ended = 0;
  hold.job->tasks.forEachRecord([&context, &jobs, &why, &ended](const TaskRecord& task) {
    if (task.stopping || !isActive(task.state)) return;
    moveTask(context, *jobs.holder(task.allocation), why);
    ++ended;
  });
  return ended;
}

}  // namespace

void preemptFor(EventContext& context, Job& job) {
  JobTable& jobs = context.tables.jobs;
  const JobSpec& spec = job.record.spec;
  if (areVictimsEnding(jobs, job)) return;
  if (!job.preemption.servers.empty()) noteFailedPreemption(context, job);
  if (job.placeable() == 0 || !job.waits() || !mayStart(context.tables, job)) return;
  if (jobs.preemptible().empty() || jobs.preemptible().begin()->first >= spec.priority) return;
  if (context.now.steady < job.preemption.notBefore) {
    return lookNoLaterThan(context, job.preemption.notBefore);
  }
  const PreemptionPlan plan = Search(context, job).planFor(job.placeable());
  if (plan.victims.empty()) {
    job.preemption.notBefore = context.now.steady + kFailedAttemptInterval;
    return;
  }
  const std::string why = "preempted by " + spec.name + " (job " + std::to_string(job.record.number) +
                          ", priority " + std::to_string(spec.priority) + ")";
  size_t ended = 0;
  for (const Victim& victim : plan.victims) {
    job.preemption.victims.push_back(victim.allocation);
    ended += preempt(context, *jobs.holder(victim.allocation), why);
  }
  context.tables.preempted += ended;
  job.progress.reason = "room is being made: " + std::to_string(ended) + (ended == 1 ? " task" : " tasks") +
                        " of lower priority " + (ended == 1 ? "is" : "are") + " being ended";
  jobs.noteProgress(job);
  job.preemption.servers.assign(plan.servers.begin(), plan.servers.end());
  job.preemption.reservedUntil = {};
  reserveServers(context, job);
}

void updatePreemptions(EventContext& context) {
  Tables& tables = context.tables;
  if (tables.preemptionDue && *tables.preemptionDue <= context.now.steady) {
    tables.preemptionDue.reset();
    tables.jobs.queue().wakeAll();
  }
  for (const JobId& id : std::set<JobId>(tables.preempting)) {
    Job* job = tables.jobs.find(id);
    if (job != nullptr && isStillReserved(context, *job)) continue;
    if (job != nullptr) job->preemption.servers.clear();
    release(context, id);
  }
}

}  // namespace tarcil::master
