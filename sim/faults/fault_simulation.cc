#include "sim/faults/fault_simulation.h"

#include <algorithm>
#include <exception>
#include <numeric>
#include <set>

#include "sim/chance.h"
#include "sim/faults/mixed_jobs.h"

namespace tarcil::sim {
namespace {

using namespace std::chrono_literals;

constexpr size_t kMaxUnfinished = 25;
// A cluster that is whole again becomes idle within that; if it does not, it never will.
constexpr Duration kPatience = 3h;
constexpr uint64_t kMaxEventsUntilIdle = 1'000'000;
constexpr int kTimes = 10;  // that endless jobs are cancelled meanwhile: one may be taken late
// Far more than it takes until everybody is back, and what was slow has ended.
constexpr Duration kMendingTime = 2min;

class FaultSimulation {
 public:
  FaultSimulation(const FaultSimulationOptions& options, const std::function<void(uint64_t)>& watch)
      : options_(options),
        watch_(watch),
        clusterOptions_(clusterOf(options)),
        cluster_(clusterOptions_),
        injector_(cluster_, clusterOptions_.servers, clusterOptions_.master),
        began_(cluster_.world().now().steady) {
    addCrons();
  }

  FaultSimulationResult run() {
    try {
      while (cluster_.world().events() < options_.events && isWell()) phase();
    } catch (const std::exception& problem) {
      cluster_.world().violated(std::string("an exception: ") + problem.what());
    }
    FaultSimulationResult result{
        options_.seed,      cluster_.world().events(), cluster_.jobs(), cluster_.tasksStarted(), {},
        injector_.faults(), cluster_.violations(),     cluster_.log()};
    result.virtualTime = cluster_.world().now().steady - began_;
    return result;
  }

 private:
  static VirtualClusterOptions clusterOf(const FaultSimulationOptions& options) {
    VirtualClusterOptions cluster = randomCluster(options.seed, options.log);
    if (options.mastersOnEtcd > 0) cluster.mastersOnEtcd = options.mastersOnEtcd;
    cluster.etcdBug = options.etcdBug;
    return cluster;
  }
  bool isWell() const { return cluster_.violations().empty(); }

  // Things break for a while; then all is whole, and what there was to do gets done.
  void phase() {
    Rng& rng = cluster_.rng();
    injector_.changeMood();
    steerCrons(master::CronChange::kRelease);
    const Duration pace = Duration(static_cast<int64_t>(logBetween(1e3, 2e6, rng)));
    const uint64_t jobsPercent = 5 + rng.below(60), faultsPercent = 1 + rng.below(30);
    const uint64_t length = 500 + rng.below(8'000);
    const uint64_t until = cluster_.world().events() + length;
    const MonotonicTime atMost = cluster_.world().now().steady + 1h;
    while (cluster_.world().events() < until && cluster_.world().now().steady < atMost && isWell()) {
      if (rng.below(100) < jobsPercent) clientDoesSomething();
      if (rng.below(100) < faultsPercent) injector_.breakSomething();
      if (rng.below(100) < 3) injector_.steerSomething();
      if (!crons_.empty() && rng.below(100) < 2) steerSomeCron();
      runFor(cluster_.world().upTo(pace));
    }
    if (isWell()) becomeIdle();
    if (watch_) watch_(cluster_.world().events() - std::exchange(told_, cluster_.world().events()));
  }

  void becomeIdle() {
    injector_.makeGood();
    runFor(kMendingTime);
    // By now nobody's earlier wish is under way.
    steerCrons(master::CronChange::kHold);
    runFor(1s);
    bool isIdle = false;
    for (int time = 0; time < kTimes && !isIdle && isWell(); ++time) {
      releaseHeld();
      cancelEndless();
      isIdle = cluster_.runUntilIdle(kPatience / kTimes, kMaxEventsUntilIdle / kTimes);
    }
    if (!isWell()) return;
    if (!isIdle) {
      if (isWell())
        cluster_.world().violated("nothing is broken, and the cluster does not become idle: " + waiting());
      return;
    }
    if (isWell()) cluster_.checkRest();
  }

  // Also those that nobody waits for any more, as below; their time may never come by a clock that was set
  // back.
  void releaseHeld() {
    for (const JobId& job : mayBeHeld_) {
      if (!isFinal(cluster_.stateOf(job))) cluster_.steer(job, master::JobChange::kRelease);
    }
  }

  // Also those that nobody waits for any more: a job may be taken by one agent and refused by another.
  void cancelEndless() {
    for (const JobId& job : endless_) {
      if (!isFinal(cluster_.stateOf(job))) cluster_.cancel(job);
    }
  }

  std::string waiting() {
    const auto& jobs = cluster_.unfinished();
    std::string text = std::to_string(jobs.size()) + " jobs are not over";
    for (const JobId& job : jobs) {
      text += ", " + toString(job).substr(0, 8) + " is " + std::string(name(cluster_.stateOf(job)));
      if (!cluster_.master().alive()) continue;
      if (const auto details = cluster_.master().logic().job(job)) text += ": " + details->progress.reason;
    }
    if (cluster_.steers() > 0) text += ", " + std::to_string(cluster_.steers()) + " wishes of operators";
    for (const JobId& job : cluster_.stored().unfinishedCronJobs()) {
      text +=
          ", a cron's job " + toString(job).substr(0, 8) + " is " + std::string(name(cluster_.stateOf(job)));
    }
    for (uint32_t i = 0; i < cluster_.monitors(); ++i) {
      if (!cluster_.monitor(i).idle()) text += ", " + cluster_.monitor(i).name() + " has tasks";
    }
    return text;
  }

  void runFor(Duration duration) {
    const MonotonicTime until = cluster_.world().now().steady + duration;
    while (isWell() && cluster_.world().step(until)) {
    }
  }

  void clientDoesSomething() {
    Rng& rng = cluster_.rng();
    const auto& unfinished = cluster_.unfinished();
    const uint64_t what = rng.below(12);
    if (what == 11 && !submitted_.empty()) return rerunOne();
    if (what >= 3 || unfinished.empty()) {
      if (unfinished.size() < kMaxUnfinished) submit();
      return;
    }
    const JobId job = unfinished[rng.below(unfinished.size())];
    if (what == 0) return cluster_.cancel(job);
    if (what == 1) {
      const auto change = static_cast<master::JobChange>(rng.below(3));
      mayBeHeld_.insert(job);
      return cluster_.steer(job, change, static_cast<uint8_t>(rng.below(kMaxPriority + 1)));
    }
    cluster_.submitAgain(job, static_cast<uint32_t>(rng.below(cluster_.agents())));
  }

  void submit() {
    Rng& rng = cluster_.rng();
    MixedJob job = mixedJob(clusterOptions_, cluster_.world().now().wall, rng);
    const auto agent = static_cast<uint32_t>(rng.below(cluster_.agents()));
    const char* user = std::array{"alice", "bob", "carol"}[rng.below(3)];
    if (rng.below(100) < kAfterPercent) startAfterOthers(user, job.spec);
    if (rng.below(100) < kItemsPercent) giveItems(job.spec);
    const bool startsLater = job.spec.startAfter != kNever || job.spec.hold || !job.spec.after.empty();
    const JobId id = cluster_.submit(job.spec, agent, std::move(job.files), user);
    submitted_.push_back({id, user, job.spec.tasks});
    if (submitted_.size() > kRemembered) submitted_.pop_front();
    if (startsLater) mayBeHeld_.insert(id);
    if (job.isEndless) endless_.push_back(id);
  }

  // Some of the jobs that the user submitted last.
  void startAfterOthers(const std::string& user, JobSpec& spec) {
    Rng& rng = cluster_.rng();
    for (const Submitted& other : submitted_) {
      if (other.user != user || rng.below(3) > 0) continue;
      const uint64_t how = rng.below(8);
      if (how < 4) spec.after.ok.push_back(other.id);
      if (how == 4) spec.after.any.push_back(other.id);
      if (how == 5) spec.after.failed.push_back(other.id);
      if (how < 6 || spec.after.each) continue;
      spec.after.each = other.id;
      spec.tasks = other.tasks;
      spec.concurrency = 0;
      spec.schedule = Schedule::kIncremental;
      spec.placement.preferOfTask.clear();
      spec.placement.requireOfTask.clear();
    }
    if (rng.below(2) == 0) spec.after.unmet = After::Unmet::kHold;
  }

  // A few in some clusters, all by UTC: their jobs are small, and the time between them is short.
  void addCrons() {
    Rng& rng = cluster_.rng();
    if (rng.below(3) > 0) return;
    for (uint64_t i = 0; i <= rng.below(3); ++i) {
      CronSpec cron{.id = {},
                    .name = "cron-" + std::to_string(i),
                    .schedule = "*/" + std::to_string(1 + rng.below(20)) + " * * * *",
                    .zone = "UTC",
                    .ifRunning = static_cast<IfRunning>(rng.below(4)),
                    .deadline = 1min + cluster_.world().upTo(10min),
                    .job = {}};
      for (uint8_t& byte : cron.id.bytes) byte = static_cast<uint8_t>(rng.below(256));
      cron.job.name = cron.name;
      cron.job.command = {"sleep", std::to_string(rng.below(300))};
      cron.job.tasks = static_cast<uint32_t>(1 + rng.below(3));
      crons_.push_back({std::array{"alice", "bob", "carol"}[rng.below(3)], cron});
      cluster_.addCron(cron, crons_.back().user);
    }
  }

  void steerCrons(master::CronChange change) {
    for (const KnownCron& cron : crons_) cluster_.steerCron(cron.user, cron.spec.name, change);
  }

  // One that a backup does not have is added again.
  void steerSomeCron() {
    Rng& rng = cluster_.rng();
    const KnownCron& cron = crons_[rng.below(crons_.size())];
    const uint64_t what = rng.below(10);
    if (what == 0) return cluster_.addCron(cron.spec, cron.user);
    cluster_.steerCron(cron.user, cron.spec.name,
                       what == 1  ? master::CronChange::kHold
                       : what < 5 ? master::CronChange::kRelease
                                  : master::CronChange::kRun);
  }

  // Whatever became of it: it may have ended well, or not at all.
  void rerunOne() {
    const JobId job = submitted_[cluster_.rng().below(submitted_.size())].id;
    if (!isFinal(cluster_.stateOf(job))) return;
    mayBeHeld_.insert(job);
    cluster_.rerun(job);
  }

  struct KnownCron {
    std::string user;
    CronSpec spec;
  };
  struct Submitted {
    JobId id;
    std::string user;
    uint32_t tasks;
  };
  static constexpr size_t kRemembered = 20;
  static constexpr uint64_t kAfterPercent = 15;
  static constexpr uint64_t kItemsPercent = 10;

  const FaultSimulationOptions options_;
  const std::function<void(uint64_t)>& watch_;
  const VirtualClusterOptions clusterOptions_;
  VirtualCluster cluster_;
  FaultInjector injector_;
  const MonotonicTime began_;
  std::vector<JobId> endless_;
  std::vector<KnownCron> crons_;
  std::set<JobId> mayBeHeld_;        // by users, for others, or until a time
  std::deque<Submitted> submitted_;  // the last ones
  uint64_t told_ = 0;
};

}  // namespace

uint64_t FaultSimulationResult::faultsInAll() const {
  return std::accumulate(faults.begin(), faults.end(), uint64_t{0});
}

FaultSimulationResult simulation(const FaultSimulationOptions& options,
                                 const std::function<void(uint64_t)>& watch) {
  return FaultSimulation(options, watch).run();
}

}  // namespace tarcil::sim
