// Shares of users and priorities over a whole cluster (Sparrow, SOSP 2013, sections 7.7 and 7.8).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/latebinding/late_world.h"

namespace tarcil::late::sharing_test {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration kTask = milliseconds(100);
constexpr uint32_t kTasksPerJob = 10;

double inMs(Duration duration) {
  return static_cast<double>(duration.count()) / 1e3;
}

// Jobs of 10 tasks of 100 ms, at random times, as many as keep this share of the cluster's slots busy.
class Load {
 public:
  Load(LateWorld& world, uint32_t slots, UserNumber user, uint8_t priority, uint16_t shares = 1)
      : world_(world), slots_(slots), user_(user), priority_(priority), shares_(shares) {}

  // From now on. 0: none.
  void set(double share) {
    ++changes_;
    perMs_ = share * slots_ / inMs(kTask) / kTasksPerJob;
    if (share > 0) next(changes_);
  }

  // Of the jobs so far, in submission order.
  const std::vector<std::pair<uint32_t, JobNumber>>& jobs() const { return jobs_; }
  MonotonicTime submitted(size_t job) const { return submitted_[job]; }

 private:
  void next(uint32_t change) {
    const double pauseMs = -std::log(1 - world_.rng().unit()) / perMs_;
    world_.after(Duration(static_cast<int64_t>(1e3 * pauseMs)), [this, change] {
      if (change != changes_) return;
      LateJob job;
      job.tasks = kTasksPerJob;
      job.user = user_;
      job.priority = priority_;
      job.shares = shares_;
      const auto agent = static_cast<uint32_t>(world_.rng().below(10));
      jobs_.emplace_back(agent, world_.submit(agent, job, [](TaskIndex) { return kTask; }));
      submitted_.push_back(world_.now());
      next(change);
    });
  }

  LateWorld& world_;
  const uint32_t slots_;
  const UserNumber user_;
  const uint8_t priority_;
  const uint16_t shares_;
  double perMs_ = 0;
  uint32_t changes_ = 0;
  std::vector<std::pair<uint32_t, JobNumber>> jobs_;
  std::vector<MonotonicTime> submitted_;
};

// Mean share of the slots on which this user's tasks run, over so long from now on.
double shareOver(LateWorld& world, Duration time, UserNumber user, uint32_t slots) {
  const Duration step = milliseconds(10);
  double sum = 0;
  for (Duration passed{}; passed < time; passed += step) {
    world.run(step);
    sum += world.running(user);
  }
  return sum / static_cast<double>(time / step) / slots;
}

// Fig. 13: user 0 wants the whole cluster, user 1 wants 0, 25, 50, 25 and 0 %.
TEST(Shares, FollowMaxMinFairnessWithinASecond) {
  const uint32_t slots = 100 * 4;
  LateWorld world({.servers = 100, .slots = 4, .agents = 10});
  Load first(world, slots, 0, 50), second(world, slots, 1, 50);
  first.set(1.0);
  for (const double wanted : {0.0, 0.25, 0.5, 0.25, 0.0}) {
    second.set(wanted);
    world.run(seconds(1));
    LateWorld& now = world;
    const double share = shareOver(now, seconds(2), 1, slots);
    EXPECT_NEAR(share, wanted, 0.05) << "of user 1";
    EXPECT_NEAR(static_cast<double>(world.running(0) + world.running(1)) / slots, 1, 0.05) << "of both";
  }
}

// Both want more than there is.
TEST(Shares, FollowTheSharesOfUsersWhereBothWantMore) {
  const uint32_t slots = 20 * 4;
  LateWorld world({.servers = 20, .slots = 4, .agents = 10});
  Load first(world, slots, 0, 50, 3), second(world, slots, 1, 50, 1);
  first.set(1.2);
  second.set(1.2);
  world.run(seconds(1));
  EXPECT_NEAR(shareOver(world, seconds(2), 0, slots), 0.75, 0.05);
}

double medianResponseMs(const LateWorld& world, const Load& load) {
  std::vector<double> responses;
  for (size_t job = 0; job < load.jobs().size(); ++job) {
    const auto over = world.jobsOver().find(load.jobs()[job]);
    if (over != world.jobsOver().end()) responses.push_back(inMs(over->second - load.submitted(job)));
  }
  std::sort(responses.begin(), responses.end());
  return responses[responses.size() / 2];
}

// Table 3: high priority at 25 % load, low priority at up to 175 %.
TEST(Priorities, ShieldFromAnyLoadOfLowerPriority) {
  const uint32_t slots = 25 * 16;
  double alone = 0;
  for (const double low : {0.0, 0.25, 0.5, 0.75, 1.75}) {
    LateWorld world({.servers = 25, .slots = 16, .agents = 10});
    Load important(world, slots, 0, 90), other(world, slots, 1, 10);
    other.set(low);
    important.set(0.25);
    world.run(seconds(3));
    const double median = medianResponseMs(world, important);
    if (low == 0) alone = median;
    EXPECT_LE(median, 1.4 * alone) << "beside " << low;
  }
  EXPECT_LE(alone, 1.05 * inMs(kTask));
}

}  // namespace tarcil::late::sharing_test
