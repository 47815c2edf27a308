// Plans that users ask for (`tarcil plan`). They cost as much as decisions and commit to nothing, so nothing
// else holds back whoever asks for many.
#pragma once

#include <kj/async.h>
#include <kj/function.h>
#include <kj/timer.h>

#include <cstddef>
#include <deque>
#include <map>
#include <string>

#include "env/clock.h"

namespace tarcil {

// That wait, of one user and in all.
struct PlanBounds {
  size_t ofUser = 8;
  size_t inAll = 64;
};

// One plan at a time, of users in turns. After each comes a pause as long as it took: plans together take
// half of the agent's time at most. Single-threaded.
class PlanTurns final {
 public:
  // `timer` and `clock` outlive it.
  PlanTurns(kj::Timer& timer, const Clock& clock, PlanBounds most = {})
      : timer_(timer), clock_(clock), most_(most) {}

  // Runs `plan` when it has its turn, unless the promise is dropped before. Fails with what that throws, and
  // as Exhausted where too many wait.
  kj::Promise<void> add(const std::string& user, kj::Function<void()> plan);

 private:
  struct Waiting {
    kj::Function<void()> plan;
    kj::Own<kj::PromiseFulfiller<void>> done;
  };

  bool isFull(const std::string& user) const;
  void dropGone();
  Waiting takeNext();
  kj::Promise<void> run();

  kj::Timer& timer_;
  const Clock& clock_;
  const PlanBounds most_;
  std::map<std::string, std::deque<Waiting>> waiting_;  // by user; none is empty
  size_t size_ = 0;
  std::string last_;  // user who had a turn
  bool isRunning_ = false;
  kj::Promise<void> running_ = nullptr;
};

}  // namespace tarcil
