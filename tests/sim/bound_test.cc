// The oracle and the bound, against every schedule that there is on clusters small enough to try them all.
#include "sim/bound.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "sim/ground_truth/measured.h"
#include "sim/policies/oracle.h"

namespace tarcil::sim::bound_test {

using std::chrono::milliseconds;
using std::chrono::seconds;

double meanPerformance(const Workload& workload, const std::vector<double>& endedAt) {
  double sum = 0;
  for (size_t job = 0; job < workload.jobs.size(); ++job) {
    const auto arrival = static_cast<double>(workload.jobs[job].arrival.count());
    sum += static_cast<double>(workload.work[job].count()) / (endedAt[job] - arrival);
  }
  return sum / static_cast<double>(workload.jobs.size());
}

double under(Scheduler& scheduler, World& world) {
  world.run(scheduler);
  EXPECT_EQ(world.violations(), 0u);
  std::vector<double> ended;
  for (const JobOutcome& outcome : world.outcomes()) {
    EXPECT_EQ(outcome.unfinished, 0u);
    ended.push_back(static_cast<double>(outcome.ended.count()));
  }
  return meanPerformance(world.workload(), ended);
}

double ofOracle(const std::vector<SimServer>& servers, const Workload& workload, GroundTruth& truth) {
  World world(servers, workload, &truth);
  Oracle oracle(world);
  return under(oracle, world);
}

// Above the speed that programs of someCoRuns() reach.
constexpr double kFastest = 1.5;

// The best of all schedules that start jobs of one task when a job comes or ends, each on any server that has
// a unit free, or later. Shares nothing with the world.
class AllSchedules {
 public:
  AllSchedules(const std::vector<SimServer>& servers, const Workload& workload, GroundTruth& truth)
      : servers_(servers), workload_(workload), truth_(truth), ended_(workload.jobs.size()) {}

  double best() {
    goOn({.running = std::vector<std::vector<Running>>(servers_.size())});
    return best_;
  }

 private:
  struct Running {
    size_t job;
    double left;
  };
  struct State {
    double now = 0;
    size_t arrived = 0;
    std::vector<size_t> waiting{};
    std::vector<std::vector<Running>> running{};
  };

  std::vector<double> speedsOn(const State& state, size_t server) {
    std::vector<ApplicationNumber> tasks;
    for (const Running& task : state.running[server]) tasks.push_back(workload_.jobs[task.job].application);
    std::vector<double> speeds(tasks.size());
    if (!tasks.empty()) truth_.speeds(0, tasks, speeds);
    return speeds;
  }

  // The waiting job in this place and those behind it are put on each server, or left to wait.
  void decide(const State& state, size_t place) {
    if (place == state.waiting.size()) return goOn(state);
    decide(state, place + 1);
    for (size_t server = 0; server < servers_.size(); ++server) {
      if (state.running[server].size() == servers_[server].units) continue;
      // Servers are alike: of empty ones the first stands for all.
      if (state.running[server].empty() && server > 0 && state.running[server - 1].empty()) continue;
      State next = state;
      const size_t job = next.waiting[place];
      next.waiting.erase(next.waiting.begin() + static_cast<std::ptrdiff_t>(place));
      next.running[server].push_back({job, static_cast<double>(workload_.work[job].count())});
      decide(next, place);
    }
  }

  // Whether it may still be better than the best: if from now on all ran as fast as anything can.
  bool isPromising(const State& state) {
    std::vector<double> ended = ended_;
    for (size_t job = state.arrived; job < workload_.jobs.size(); ++job) {
      ended[job] = static_cast<double>(workload_.jobs[job].arrival.count()) + soonest(job);
    }
    for (const size_t job : state.waiting) ended[job] = state.now + soonest(job);
    for (const auto& tasks : state.running) {
      for (const Running& task : tasks) ended[task.job] = state.now + task.left / kFastest;
    }
    return meanPerformance(workload_, ended) > best_;
  }
  double soonest(size_t job) const { return static_cast<double>(workload_.work[job].count()) / kFastest; }

  // To the next arrival or end.
  void goOn(State state) {
    if (!isPromising(state)) return;
    const auto arrival = [this](size_t job) {
      return job < workload_.jobs.size() ? static_cast<double>(workload_.jobs[job].arrival.count())
                                         : std::numeric_limits<double>::infinity();
    };
    double next = arrival(state.arrived);
    for (size_t server = 0; server < servers_.size(); ++server) {
      const std::vector<double> speeds = speedsOn(state, server);
      for (size_t i = 0; i < speeds.size(); ++i) {
        next = std::min(next, state.now + state.running[server][i].left / speeds[i]);
      }
    }
    if (next == std::numeric_limits<double>::infinity()) {
      // Whoever still waits would for ever.
      if (state.waiting.empty()) best_ = std::max(best_, meanPerformance(workload_, ended_));
      return;
    }
    for (size_t server = 0; server < servers_.size(); ++server) {
      const std::vector<double> speeds = speedsOn(state, server);
      std::vector<Running>& tasks = state.running[server];
      for (size_t i = 0; i < speeds.size(); ++i) tasks[i].left -= (next - state.now) * speeds[i];
      std::erase_if(tasks, [this, next](const Running& task) {
        if (task.left > 1e-6) return false;
        ended_[task.job] = next;
        return true;
      });
    }
    state.now = next;
    for (; arrival(state.arrived) <= next; ++state.arrived) state.waiting.push_back(state.arrived);
    decide(state, 0);
  }

  const std::vector<SimServer>& servers_;
  const Workload& workload_;
  GroundTruth& truth_;
  std::vector<double> ended_;
  double best_ = 0;
};

// Programs that slow one another down, or help, by chance.
CoRuns someCoRuns(size_t programs, Rng& rng) {
  CoRuns runs;
  runs.programs.resize(programs);
  const auto slowdown = [&rng]() { return rng.unit() < 0.2 ? -0.3 * rng.unit() : 2 * rng.unit(); };
  for (size_t i = 0; i < programs * programs; ++i) runs.pairs.push_back(slowdown());
  for (size_t i = 0; i < programs * programs * programs; ++i) runs.triples.push_back(slowdown());
  return runs;
}

// The same truth, said to have phases: then bounds go by units.
class SaidToHavePhases final : public GroundTruth {
 public:
  explicit SaidToHavePhases(GroundTruth& truth) : truth_(truth) {}

  uint16_t applications() const override { return truth_.applications(); }
  double alone(ApplicationNumber application, PlatformNumber platform) const override {
    return truth_.alone(application, platform);
  }
  double fastest(ApplicationNumber application, PlatformNumber platform, uint32_t tasks) const override {
    return truth_.fastest(application, platform, tasks);
  }
  uint32_t phases() const override { return 2; }
  void speeds(PlatformNumber platform, std::span<const ApplicationNumber> tasks,
              std::span<double> speeds) override {
    truth_.speeds(platform, tasks, speeds);
  }

 private:
  GroundTruth& truth_;
};

TEST(Bound, IsPassedByNoScheduleAndTheOracleIsNoBetterThanTheBest) {
  double oracles = 0, bests = 0;
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    Rng rng(seed);
    const std::vector<SimServer> servers(2, {.units = 2 + static_cast<uint32_t>(seed % 2)});
    MeasuredTruth truth(someCoRuns(3, rng));
    Workload workload;
    SimTime arrival{};
    const size_t jobs = 4 + seed % 2;
    for (size_t job = 0; job < jobs; ++job) {
      const auto application = static_cast<ApplicationNumber>(rng.below(3));
      workload.add({.arrival = arrival, .application = application}, 1,
                   milliseconds(500 + static_cast<int64_t>(rng.below(5'000))));
      arrival += milliseconds(rng.below(2'000));
    }
    const double best = AllSchedules(servers, workload, truth).best();
    const double oracle = ofOracle(servers, workload, truth);
    const double bound = performanceBound(servers, workload, &truth, 0);
    SaidToHavePhases phased(truth);
    // Of the world's times each is rounded up to a microsecond.
    EXPECT_LE(oracle, best + 1e-4) << seed;
    EXPECT_LE(best, bound + 1e-4) << seed;
    EXPECT_LE(best, performanceBound(servers, workload, &phased, 0) + 1e-4) << seed;
    oracles += oracle;
    bests += best;
  }
  EXPECT_GT(oracles, 0.93 * bests);
}

// Takes the newest first, and waits until it has a server for itself: the best there is where units are
// scarce and company hurts.
class NewestFirst final : public Scheduler {
 public:
  explicit NewestFirst(World& world) : world_(world) {}

  void jobArrived(JobNumber job) override {
    waiting_.push_back(job);
    startNext();
  }
  void taskEnded(TaskNumber, ServerNumber) override {
    isBusy_ = false;
    startNext();
  }
  void received(const Message&) override {}

 private:
  void startNext() {
    if (isBusy_ || waiting_.empty()) return;
    isBusy_ = true;
    const JobNumber job = waiting_.back();
    waiting_.pop_back();
    world_.start(job, 0);
  }

  World& world_;
  std::vector<JobNumber> waiting_;
  bool isBusy_ = false;
};

Workload oneEvery(Duration gap, size_t jobs, const std::function<ApplicationNumber(size_t)>& application) {
  Workload workload;
  for (size_t i = 0; i < jobs; ++i) {
    workload.add({.arrival = gap * static_cast<int64_t>(i), .application = application(i)}, 1, seconds(1));
  }
  return workload;
}

constexpr size_t kMany = 2'000;

TEST(Bound, IsCloseWhereUnitsAreScarce) {
  const std::vector<SimServer> servers{{.units = 1}};
  const Workload workload = oneEvery(milliseconds(500), kMany, [](size_t) { return ApplicationNumber{0}; });
  World world(servers, workload, nullptr);
  NewestFirst newest(world);
  const double reached = under(newest, world);
  const double bound = performanceBound(servers, workload, nullptr, 0);
  EXPECT_GT(reached, 0.5);
  EXPECT_LT(reached, bound);
  EXPECT_LT(bound, 0.53) << "units are there for one job in two";
}

// Two of one kind run at half their speed together, two of different kinds at full speed.
CoRuns twoThatBearEachOther() {
  CoRuns runs;
  runs.programs = {"a", "b"};
  runs.pairs = {1, 0, 0, 1};
  runs.triples.assign(8, 3);
  return runs;
}

TEST(Bound, KnowsWhoBearsWhom) {
  const std::vector<SimServer> servers{{.units = 2}};
  MeasuredTruth truth(twoThatBearEachOther());
  const auto bound = [&](const std::function<ApplicationNumber(size_t)>& application) {
    const Workload workload = oneEvery(milliseconds(600), kMany, application);
    return performanceBound(servers, workload, &truth, 0);
  };
  const double alike = bound([](size_t) { return ApplicationNumber{0}; });
  EXPECT_GT(alike, 0.6) << "one alone at full speed, six tenths of the time that they ask for";
  EXPECT_LT(alike, 0.63);
  EXPECT_GT(bound([](size_t i) { return static_cast<ApplicationNumber>(i % 2); }), 0.99)
      << "each has one of the other kind beside it";
}

TEST(Bound, LeavesOutWhatIsNotCounted) {
  const std::vector<SimServer> servers{{.units = 1}};
  Workload workload = oneEvery(milliseconds(500), kMany, [](size_t) { return ApplicationNumber{0}; });
  for (size_t i = 0; i < kMany; i += 2) workload.jobs[i].isCounted = false;
  EXPECT_GT(performanceBound(servers, workload, nullptr, 0), 0.99);
  EXPECT_EQ(performanceBound(servers, workload, nullptr, kMany), 0) << "none is left";
}

TEST(Oracle, WaitsWhereItWouldCostMoreThanItBrings) {
  const std::vector<SimServer> servers{{.units = 2}};
  CoRuns runs = twoThatBearEachOther();
  runs.pairs = {9, 0, 0, 9};
  MeasuredTruth truth(runs);
  Workload workload;
  workload.add({.arrival = seconds(0)}, 1, seconds(10));
  workload.add({.arrival = seconds(1)}, 1, seconds(10));
  World world(servers, workload, &truth);
  Oracle oracle(world);
  world.run(oracle);
  EXPECT_EQ(world.outcomes()[0].ended, seconds(10));
  EXPECT_EQ(world.outcomes()[1].ended, seconds(20));
}

TEST(Oracle, CountsWhatNeighboursLoseOfThePaceThatTheyHave) {
  const std::vector<SimServer> servers{{.units = 2}};
  CoRuns runs = twoThatBearEachOther();
  runs.pairs = {0, 19, 4, 0};  // the second runs at a fifth there, the first at a twentieth of its speed
  MeasuredTruth truth(runs);
  Workload workload;
  workload.add({.arrival = seconds(0), .application = 0}, 1, seconds(1));
  workload.add({.arrival = seconds(1), .application = 1}, 1, seconds(1));
  workload.pace = {0.22, 1};
  World world(servers, workload, &truth);
  Oracle oracle(world);
  world.run(oracle);
  EXPECT_EQ(world.outcomes()[1].waited, world.outcomes()[0].ended - seconds(1)) << "0.2 for 0.209";
}

TEST(Oracle, TakesTheSlotThatCostsOthersLeast) {
  const std::vector<SimServer> servers(2, {.units = 2});
  CoRuns runs = twoThatBearEachOther();
  runs.pairs = {1, 1, 0, 0.1};  // the second runs at full speed beside the first, which halves that one's
  MeasuredTruth truth(runs);
  Workload workload;
  for (const ApplicationNumber application : {0, 1, 1}) {
    workload.add({.application = application}, 1, seconds(10));
  }
  World world(servers, workload, &truth);
  Oracle oracle(world);
  world.run(oracle);
  EXPECT_EQ(world.outcomes()[0].ended, seconds(10)) << "it is left alone";
}

// 1.3 times what a server does alone: who waits for an empty one waits longer and longer.
TEST(Oracle, KeepsUpWhereKeepingAllUnitsBusyDoes) {
  const std::vector<SimServer> servers{{.units = 2}};
  CoRuns runs = twoThatBearEachOther();
  runs.pairs = {0.4, 0.4, 0.4, 0.4};
  MeasuredTruth truth(runs);
  const Workload workload = oneEvery(milliseconds(770), kMany, [](size_t) { return ApplicationNumber{0}; });
  World world(servers, workload, &truth);
  Oracle oracle(world);
  world.run(oracle);
  Duration longest{};
  for (size_t i = 0; i < kMany; ++i) {
    longest = std::max(longest, world.outcomes()[i].ended - workload.jobs[i].arrival);
  }
  EXPECT_LT(longest, seconds(20));
}

}  // namespace tarcil::sim::bound_test
