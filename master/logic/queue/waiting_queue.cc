#include "master/logic/queue/waiting_queue.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

namespace tarcil::master {
namespace {

// Batches that begin anew in a row.
constexpr int kMostAnew = 3;
// Batches after a wake that have one agent's jobs each.
constexpr int kOfOneAgent = 4;

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

void WaitingQueue::keep(Purpose purpose, Reservation reservation) {
  const JobId job = reservation.job.job;
  reservations_.insert_or_assign({purpose, job}, std::move(reservation));
  listKept();
}

void WaitingQueue::letGo(Purpose purpose, const JobId& job) {
  reservations_.erase({purpose, job});
  listKept();
}

void WaitingQueue::listKept() {
  std::set<ServerId> all;
  for (const auto& [key, each] : reservations_) all.insert(each.servers.begin(), each.servers.end());
  kept_.assign(all.begin(), all.end());
  isExhausted_ = false;
}

bool WaitingQueue::mayTake(const Reservation& reservation, const Place& place) const {
  return !contains(reservation.job) || place.job == reservation.job.job ||
         order_.rank(place) < order_.rank(reservation.job) ||
         (reservation.mayPass && reservation.mayPass(place.job));
}

std::vector<ServerId> WaitingQueue::leaves(const Place& place) const {
  std::set<ServerId> servers;
  for (const auto& [key, reservation] : reservations_) {
    if (!mayTake(reservation, place)) servers.insert(reservation.servers.begin(), reservation.servers.end());
  }
  return {servers.begin(), servers.end()};
}

bool WaitingQueue::leavesToItsKind(const Place& place) const {
  return std::ranges::any_of(reservations_, [&](const auto& entry) {
    const Reservation& reservation = entry.second;
    return reservation.job.kind == place.kind && !mayTake(reservation, place);
  });
}

void WaitingQueue::noteFailedAttempt(const Place& place) {
  if (leavesToItsKind(place)) return;
  uint8_t& highest = vain_.try_emplace(place.kind, place.priority).first->second;
  highest = std::max(highest, place.priority);
}

QueueTurn WaitingQueue::turnOf(const Place& place) const {
  QueueTurn turn{.job = place.job};
  const std::vector<ServerId> left = leaves(place);
  turn.mayUseReserved = left.empty();
  if (!left.empty()) std::ranges::set_difference(kept_, left, std::back_inserter(turn.mayTake));
  return turn;
}

std::vector<QueueTurn> WaitingQueue::giveTurns(size_t atMost, const LookUp& lookUp) {
  std::vector<QueueTurn> turns;
  while (onTurn_.empty() && !isExhausted_ && order_.size(Mode::kToBeTried) > 0) {
    const bool wakes = std::exchange(beginsAnew_, false);
    const bool isDeep = wakes && begunAnew_ == kMostAnew;
    begunAnew_ = wakes && !isDeep ? begunAnew_ + 1 : 0;
    batches_ = wakes ? 1 : batches_ + 1;
    for (const Place& next : isDeep ? deep(atMost, lookUp) : inOrder(atMost, lookUp)) {
      turns.push_back(turnOf(next));
      order_.put(next, Mode::kOnTurn);
      onTurn_.emplace(next, false);
    }
    isExhausted_ = turns.empty() && !isDeep;
  }
  return turns;
}

std::vector<Place> WaitingQueue::inOrder(size_t atMost, const LookUp& lookUp) {
  std::vector<Place> batch;
  std::vector<Place> untriable;
  std::optional<uint64_t> only;  // the agent of a batch that others do not take part in
  int64_t rank = 0;
  order_.walk({Mode::kToBeTried}, vain_, [&](const Place& place) -> std::optional<uint64_t> {
    if (batch.size() == atMost) return std::nullopt;
    if (!batch.empty() && order_.rank(place) != rank) return std::nullopt;
    const Candidate candidate = lookUp(place.job);
    if (!candidate.whoTries) {
      untriable.push_back(place);
      return 0;
    }
    if (only && *candidate.whoTries != *only) return std::nullopt;
    if (batches_ <= kOfOneAgent) only = candidate.whoTries;
    rank = order_.rank(place);
    batch.push_back(place);
    return candidate.units;
  });
  for (const Place& place : untriable) order_.put(place, Mode::kUntriable);
  return batch;
}

std::vector<Place> WaitingQueue::deep(size_t atMost, const LookUp& lookUp) {
  std::vector<Place> batch;
  for (const Place& place : order_.behind(deepest_, Mode::kToBeTried, atMost)) {
    deepest_ = place;
    if (lookUp(place.job).whoTries) {
      batch.push_back(place);
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

std::vector<JobId> WaitingQueue::onTurn() const {
  std::vector<JobId> jobs;
  for (const auto& [place, again] : onTurn_) jobs.push_back(place.job);
  return jobs;
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
  for (const auto& [key, reservation] : reservations_) {
    if (contains(reservation.job)) take(reservation.job);
  }
  if (!first) return std::nullopt;
  return order_.lifted(*first, now);
}

}  // namespace tarcil::master
