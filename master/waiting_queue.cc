#include "master/waiting_queue.h"

#include <algorithm>
#include <utility>

namespace tarcil::master {
namespace {

// Batches that begin anew in a row.
constexpr int kMostAnew = 3;
// Batches after a wake that have one agent's jobs each.
constexpr int kOfOneAgent = 4;
// Jobs that may not pass the one that something is kept for, before the search for some that may is given up.
constexpr size_t kMostHeldBack = 256;

}  // namespace

void WaitingQueue::put(const Place& place, bool isToTry) {
  if (const auto turn = onTurn_.find(place); turn != onTurn_.end()) {
    turn->second |= isToTry;
  } else if (isToTry) {
    order_.put(place, Mode::kToBeTried);
    isExhausted_ = false;
  } else if (!contains(place)) {
    order_.put(place, Mode::kResting);
  }
}

void WaitingQueue::erase(const Place& place) {
  order_.erase(place);
  onTurn_.erase(place);
}

void WaitingQueue::wakeAll() {
  order_.changeAll(Mode::kResting, Mode::kToBeTried);
  for (auto& [place, again] : onTurn_) again = true;
  vain_.clear();
  ++wakes_;
  beginsAnew_ = true;
  isExhausted_ = false;
}

void WaitingQueue::wakeUntriable() {
  order_.changeAll(Mode::kUntriable, Mode::kToBeTried);
  isExhausted_ = false;
}

bool WaitingQueue::isToBeTriedAgain(const Place& place) const {
  const auto turn = onTurn_.find(place);
  return turn != onTurn_.end() && turn->second;
}

void WaitingQueue::reserve(std::optional<Reservation> reservation) {
  reservation_ = std::move(reservation);
  isExhausted_ = false;
}

bool WaitingQueue::isHeldBack(const Place& place) const {
  return reservation_ && contains(reservation_->job) && order_.isBefore(reservation_->job, place) &&
         !reservation_->mayPass(place.job);
}

std::vector<QueueTurn> WaitingQueue::giveTurns(size_t atMost, const LookUp& lookUp) {
  std::vector<QueueTurn> turns;
  while (onTurn_.empty() && !isExhausted_ && order_.size(Mode::kToBeTried) > 0) {
    const bool wakes = std::exchange(beginsAnew_, false);
    // What is kept for somebody is kept in order.
    const bool isDeep = wakes && begunAnew_ == kMostAnew && !reservation_;
    begunAnew_ = wakes && !isDeep ? begunAnew_ + 1 : 0;
    batches_ = wakes ? 1 : batches_ + 1;
    if (wakes) unitsPassed_ = 0;
    for (const Next& next : isDeep ? deep(atMost, lookUp) : inOrder(atMost, lookUp)) {
      order_.put(next.place, Mode::kOnTurn);
      onTurn_.emplace(next.place, false);
      turns.push_back({.job = next.place.job, .unitsAhead = next.unitsAhead});
    }
    isExhausted_ = turns.empty() && !isDeep;
  }
  return turns;
}

std::vector<WaitingQueue::Next> WaitingQueue::inOrder(size_t atMost, const LookUp& lookUp) {
  std::vector<Next> batch;
  std::vector<Place> untriable;
  std::optional<uint64_t> only;  // the agent of a batch that others do not take part in
  int64_t rank = 0;
  size_t heldBack = 0;
  order_.walk({Mode::kToBeTried}, vain_, [&](const Place& place) -> std::optional<uint64_t> {
    if (batch.size() == atMost) return std::nullopt;
    if (!batch.empty() && order_.rank(place) != rank) return std::nullopt;
    if (isHeldBack(place)) return ++heldBack < kMostHeldBack ? std::optional<uint64_t>(0) : std::nullopt;
    const Candidate candidate = lookUp(place.job);
    if (!candidate.whoTries) {
      untriable.push_back(place);
      return 0;
    }
    if (only && *candidate.whoTries != *only) return std::nullopt;
    if (batches_ <= kOfOneAgent) only = candidate.whoTries;
    rank = order_.rank(place);
    batch.push_back({.place = place, .unitsAhead = unitsPassed_});
    unitsPassed_ += candidate.units;
    return candidate.units;
  });
  for (const Place& place : untriable) order_.put(place, Mode::kUntriable);
  return batch;
}

std::vector<WaitingQueue::Next> WaitingQueue::deep(size_t atMost, const LookUp& lookUp) {
  std::vector<Next> batch;
  for (const Place& place : order_.behind(deepest_, Mode::kToBeTried, atMost)) {
    deepest_ = place;
    if (lookUp(place.job).whoTries) {
      batch.push_back({.place = place});
    } else {
      order_.put(place, Mode::kUntriable);
    }
  }
  return batch;
}

void WaitingQueue::endTurn(const Place& place) {
  const auto turn = onTurn_.find(place);
  if (turn == onTurn_.end()) return;
  order_.put(place, turn->second ? Mode::kToBeTried : Mode::kResting);
  onTurn_.erase(turn);
  isExhausted_ = false;
}

void WaitingQueue::endTurns() {
  while (!onTurn_.empty()) endTurn(onTurn_.begin()->first);
}

std::optional<uint8_t> WaitingQueue::pendingPriority(WallTime now) const {
  std::optional<int64_t> first;
  const auto take = [&](const Place& place) -> std::optional<uint64_t> {
    first = std::min(first.value_or(INT64_MAX), order_.rank(place));
    return std::nullopt;
  };
  if (order_.size(Mode::kToBeTried) > 0) order_.walk({Mode::kToBeTried}, vain_, take);
  if (!onTurn_.empty()) take(onTurn_.begin()->first);
  if (reservation_ && contains(reservation_->job)) {
    first = std::min(first.value_or(INT64_MAX), order_.rank(reservation_->job));
  }
  if (!first) return std::nullopt;
  return order_.lifted(*first, now);
}

}  // namespace tarcil::master
