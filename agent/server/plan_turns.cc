#include "agent/server/plan_turns.h"

#include "env/stop.h"
#include "rpc/errors.h"

namespace tarcil {

kj::Promise<void> PlanTurns::add(const std::string& user, kj::Function<void()> plan) {
  if (isFull(user)) dropGone();
  if (isFull(user)) {
    const bool isOfAll = size_ >= most_.inAll;
    return toException({ErrorCode::kExhausted, std::to_string(isOfAll ? most_.inAll : most_.ofUser) +
                                                   " plans" + (isOfAll ? "" : " of " + user) +
                                                   " wait at this agent, as many as may; " + kTryAgain});
  }
  auto pair = kj::newPromiseAndFulfiller<void>();
  waiting_[user].push_back({kj::mv(plan), kj::mv(pair.fulfiller)});
  ++size_;
  if (!isRunning_) {
    isRunning_ = true;
    running_ = run().eagerlyEvaluate(stopsIfFailed("making plans"));
  }
  return kj::mv(pair.promise);
}

bool PlanTurns::isFull(const std::string& user) const {
  const auto found = waiting_.find(user);
  return size_ >= most_.inAll || (found != waiting_.end() && found->second.size() >= most_.ofUser);
}

void PlanTurns::dropGone() {
  size_ = 0;
  for (auto& [user, plans] : waiting_) {
    std::erase_if(plans, [](Waiting& each) { return !each.done->isWaiting(); });
    size_ += plans.size();
  }
  std::erase_if(waiting_, [](const auto& entry) { return entry.second.empty(); });
}

// Of the user behind the one who had the last turn.
PlanTurns::Waiting PlanTurns::takeNext() {
  auto user = waiting_.upper_bound(last_);
  if (user == waiting_.end()) user = waiting_.begin();
  last_ = user->first;
  Waiting next = kj::mv(user->second.front());
  user->second.pop_front();
  --size_;
  if (user->second.empty()) waiting_.erase(user);
  return next;
}

// The timer is what lets the event loop look at its connections between two plans.
kj::Promise<void> PlanTurns::run() {
  dropGone();
  if (waiting_.empty()) {
    isRunning_ = false;
    return kj::READY_NOW;
  }
  Waiting next = takeNext();
  const MonotonicTime begin = clock_.now().steady;
  next.done->rejectIfThrows([&next]() {
    next.plan();
    next.done->fulfill();
  });
  const Duration took = clock_.now().steady - begin;
  return timer_.afterDelay(took.count() * kj::MICROSECONDS).then([this]() { return run(); });
}

}  // namespace tarcil
