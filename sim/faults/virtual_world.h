// What the processes of a virtual cluster share: time, chance, the log, and what went wrong.
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
#include "sim/event_queue.h"

namespace tarcil::sim {

// How long messages take: from `least` to `least + spread`, each as likely; and of one in `slowOneIn` (0: of
// none) up to `slow` more.
struct Delays {
  Duration least{100};
  Duration spread{4'900};
  uint64_t slowOneIn = 0;
  Duration slow{};
};

// Whether what happens is written down, a line each. Text is what costs most of the time of a run.
enum class Log : uint8_t { kNone, kKept };

// One thread. Everything random comes from rng(), in the order of events: one seed, one history.
class VirtualWorld {
 public:
  VirtualWorld(uint64_t seed, Log log) : rng_(seed), keepsLog_(log == Log::kKept) {}
  VirtualWorld(const VirtualWorld&) = delete;
  VirtualWorld& operator=(const VirtualWorld&) = delete;

  // True time, which no process sees (machine_clock.h).
  Now now() const { return now_; }
  Rng& rng() { return rng_; }
  // For requests and sessions; never the same twice.
  uint64_t nextNumber() { return ++numbers_; }

  Delays delays;                 // of messages
  uint64_t repeatedOneIn = 0;    // of messages that may come twice, so many do; 0: none
  Duration repeatedWithin{};     // the second time comes at most so much later
  uint64_t lostLaunchOneIn = 0;  // of launches, there or back
  Duration silence{};            // a network that is cut is noticed within so long; 0: as soon as a message

  // Of one message, or of noticing that a peer is gone.
  Duration delay() {
    const Duration usual = delays.least + upTo(delays.spread);
    return oneIn(delays.slowOneIn) ? usual + upTo(delays.slow) : usual;
  }
  // Less than `most`; zero where that is.
  Duration upTo(Duration most) {
    return Duration(
        most.count() <= 0 ? 0 : static_cast<int64_t>(rng_.below(static_cast<uint64_t>(most.count()))));
  }
  // Never for 0.
  bool oneIn(uint64_t count) { return count > 0 && rng_.below(count) == 0; }

  // What is due at the same time happens in the order of the calls.
  void at(MonotonicTime when, std::function<void()> what) {
    uint32_t slot = static_cast<uint32_t>(pending_.size());
    if (free_.empty()) {
      pending_.push_back(std::move(what));
    } else {
      slot = free_.back();
      free_.pop_back();
      pending_[slot] = std::move(what);
    }
    agenda_.push(std::max(when, now_.steady).time_since_epoch(), slot);
  }
  void after(Duration duration, std::function<void()> what) { at(now_.steady + duration, std::move(what)); }

  // Lets the next thing happen that is due by `limit`; where there is none, moves time there and
  // returns false.
  bool step(MonotonicTime limit) {
    if (agenda_.empty() || agenda_.nextTime() > limit.time_since_epoch()) {
      moveTo(limit);
      return false;
    }
    moveTo(MonotonicTime(agenda_.nextTime()));
    const uint32_t slot = agenda_.pop();
    const std::function<void()> what = std::exchange(pending_[slot], nullptr);
    free_.push_back(slot);
    what();
    return true;
  }

  // An event: something that a master, agent or monitor handles. `text` gives its text where it is
  // written down.
  template <typename Text>
  void event(const std::string& who, const Text& text) {
    ++events_;
    if (keepsLog_) write(who, text());
  }
  uint64_t events() const { return events_; }
  // A line of the log that is no event.
  void note(const std::string& who, const std::string& what) {
    if (keepsLog_) write(who, what);
  }
  const std::vector<std::string>& log() const { return log_; }

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
  void write(const std::string& who, const std::string& what) {
    log_.push_back(std::to_string(now_.steady.time_since_epoch().count()) + " " + who + " " + what);
  }

  Rng rng_;
  const bool keepsLog_;
  Now now_{MonotonicTime(std::chrono::hours(1)), WallTime(std::chrono::seconds(1'700'000'000))};
  EventQueue<uint32_t> agenda_;  // of places in pending_
  std::vector<std::function<void()>> pending_;
  std::vector<uint32_t> free_;
  uint64_t numbers_ = 0;
  uint64_t events_ = 0;
  std::vector<std::string> log_;
  std::map<std::pair<JobId, TaskIndex>, uint32_t> starts_;
  std::vector<std::string> violations_;
};

}  // namespace tarcil::sim
