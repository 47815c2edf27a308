// What a scheduler could do that knew the ground truth, decided at once and had no messages to send: what
// others are measured against.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "sim/policies/scheduler.h"
#include "sim/world.h"

namespace tarcil::sim {

// Mean and deviation of the last values, older ones fading.
class Recent {
 public:
  void add(double value) {
    count_ = count_ < kRemembered ? count_ + 1 : kRemembered;
    const double off = value - mean_;
    mean_ += off / count_;
    variance_ += (off * off - variance_) / count_;
  }
  double mean() const { return mean_; }  // 0 before the first
  double deviation() const;

 private:
  static constexpr int kRemembered = 100;

  int count_ = 0;
  double mean_ = 0, variance_ = 0;
};

// The gain of a start is marginal total progress: the speed of the task there less what its neighbours lose
// of theirs. A task is started where it gains most, of all slots that are free; of those that wait, the one
// that gains most for each moment until it will have ended gets what a task that ends leaves.
//
// It waits where it would cost others at least what it brings, and where waiting is worth more: where what
// tasks were offered of late (a deviation below the mean, and no more than an empty server offers) exceeds
// the gain now, also when the wait is added to its time. How long it would wait follows from how many wait
// and how often tasks ended of late; after that it looks again. What it is offered then counts as an offer
// too, so that no task waits for what does not come.
//
// Not the optimum: it does not foresee who comes next. No schedule passes the bound (sim/bound.h).
class Oracle final : public Scheduler {
 public:
  // Requires: the world has a ground truth; it outlives this.
  explicit Oracle(World& world);

  void jobArrived(JobNumber job) override;
  void taskEnded(TaskNumber task, ServerNumber server) override;
  void received(const Message& message) override;

 private:
  // Tasks that run at the same speed wherever they are, the one with the least work first.
  using Alike = std::set<std::pair<Duration, TaskNumber>>;
  struct Offer {
    ServerNumber server = 0;
    double gain = 0;
    double micros = 0;  // from the arrival of the task to its end, if it starts now and keeps its speed
  };

  Alike& waitingLike(TaskNumber task);
  // Starts the task where it gains most, unless it is to wait: then says so.
  bool startedAtBest(TaskNumber task);
  void lookAgainLater(TaskNumber task);
  // Of all free slots the one with the most gain; 0 where no slot has any.
  Offer best(TaskNumber task);
  Offer offerOf(ServerNumber server, TaskNumber task);
  bool isWorthWaiting(const Offer& offer) const;
  // How long one more that waits would, in microseconds.
  double wait() const;

  World& world_;
  std::vector<std::vector<ServerNumber>> byPlatform_;
  uint32_t mostUnits_ = 1;  // of a server
  // Whether some company makes some application faster than it is alone: then no slot is known to be the best
  // before all others are looked at.
  bool companyHelps_ = false;
  std::map<std::pair<ApplicationNumber, uint32_t>, Alike> waiting_;  // by application and units
  uint32_t waitingTasks_ = 0;
  Recent offers_;       // the gains that tasks found at best
  Recent endInterval_;  // microseconds between the ends of tasks
  SimTime lastEnd_{};
  std::vector<ApplicationNumber> together_;
  std::vector<double> speeds_;
  std::vector<PlatformNumber> platforms_;
};

}  // namespace tarcil::sim
