// What the processes of a fake cluster share: virtual time, chance, the log, and what went wrong.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/base/ids.h"
#include "core/base/rng.h"
#include "core/base/time.h"

namespace tarcil {

class FakeWorld {
 public:
  explicit FakeWorld(uint64_t seed) : rng_(seed) {}

  Now now() const { return now_; }
  // Everything random comes from here, in the order of events: one seed, one history.
  Rng& rng() { return rng_; }
  // Of one message, or of noticing that a peer is gone.
  Duration delay() { return Duration(100 + static_cast<int64_t>(rng_.below(4'900))); }
  // For requests and sessions; never the same twice.
  uint64_t nextNumber() { return ++numbers_; }

  // What is due at the same time happens in the order of the calls.
  void at(MonotonicTime when, std::function<void()> what) {
    agenda_.emplace(std::pair(std::max(when, now_.steady), ++scheduled_), std::move(what));
  }
  void after(Duration duration, std::function<void()> what) { at(now_.steady + duration, std::move(what)); }

  // Lets the next thing happen that is due by `limit`; where there is none, moves time there and returns
  // false.
  bool step(MonotonicTime limit) {
    if (agenda_.empty() || agenda_.begin()->first.first > limit) {
      moveTo(limit);
      return false;
    }
    auto next = agenda_.extract(agenda_.begin());
    moveTo(next.key().first);
    next.mapped()();
    return true;
  }

  void note(const std::string& who, const std::string& what) {
    log_ += std::to_string(now_.steady.time_since_epoch().count()) + " " + who + " " + what + "\n";
  }
  const std::string& log() const { return log_; }

  // A task was started, whatever its allocation.
  void countStart(const JobId& job, TaskIndex task) { ++starts_[{job, task}]; }
  const std::map<std::pair<JobId, TaskIndex>, uint32_t>& starts() const { return starts_; }

  // A promise of the design was broken.
  void violated(const std::string& how) {
    note("VIOLATION", how);
    violations_.push_back(how);
  }
  const std::vector<std::string>& violations() const { return violations_; }

 private:
  void moveTo(MonotonicTime when) {
    now_.wall += when - now_.steady;
    now_.steady = when;
  }

  Rng rng_;
  Now now_{MonotonicTime(std::chrono::hours(1)), WallTime(std::chrono::seconds(1'700'000'000))};
  std::map<std::pair<MonotonicTime, uint64_t>, std::function<void()>> agenda_;
  uint64_t scheduled_ = 0;
  uint64_t numbers_ = 0;
  std::string log_;
  std::map<std::pair<JobId, TaskIndex>, uint32_t> starts_;
  std::vector<std::string> violations_;
};

// What carries out WakeAt: setting it again replaces what was set before.
class FakeTimer {
 public:
  explicit FakeTimer(FakeWorld& world) : world_(world) {}

  void set(MonotonicTime when, std::function<void()> ring) {
    world_.at(when, [this, current = ++setting_, ring = std::move(ring)] {
      if (current == setting_) ring();
    });
  }
  void clear() { ++setting_; }

 private:
  FakeWorld& world_;
  uint64_t setting_ = 0;
};

}  // namespace tarcil
