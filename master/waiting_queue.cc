#include "master/waiting_queue.h"

#include <algorithm>
#include <iterator>

namespace tarcil::master {

Place placeOf(const JobRecord& record) {
  return {.urgency = static_cast<uint8_t>(255 - record.spec.priority),
          .submitted = record.submitted,
          .job = record.id};
}

void WaitingQueue::put(const Place& place, Mode mode) {
  const auto turn = onTurn_.find(place);
  if (turn != onTurn_.end()) {
    turn->second |= mode == Mode::kToBeTried;
  } else if (mode == Mode::kToBeTried) {
    resting_.erase(place);
    untriable_.erase(place);
    toTry_.insert(place);
  } else if (!toTry_.contains(place) && !untriable_.contains(place)) {
    resting_.insert(place);
  }
}

void WaitingQueue::erase(const Place& place) {
  toTry_.erase(place);
  resting_.erase(place);
  untriable_.erase(place);
  onTurn_.erase(place);
}

void WaitingQueue::wakeAll() {
  if (toTry_.size() < resting_.size()) toTry_.swap(resting_);
  toTry_.merge(resting_);
  for (auto& [place, again] : onTurn_) again = true;
}

void WaitingQueue::wakeUntriable() {
  toTry_.merge(untriable_);
}

std::set<Place>::iterator WaitingQueue::nextBegin() {
  if (fromHead_) return toTry_.begin();
  const auto after = toTry_.upper_bound(cursor_);
  return after == toTry_.end() ? toTry_.begin() : after;
}

std::vector<JobId> WaitingQueue::giveTurns(size_t atMost, const CanBeTried& canBeTried) {
  std::vector<JobId> turns;
  // A batch that begins at the cursor may find nobody to try what is behind it.
  while (onTurn_.empty() && !toTry_.empty()) turns = nextBatch(atMost, canBeTried);
  return turns;
}

std::vector<JobId> WaitingQueue::nextBatch(size_t atMost, const CanBeTried& canBeTried) {
  std::vector<JobId> turns;
  for (auto next = nextBegin(); next != toTry_.end() && turns.size() < atMost;) {
    if (!onTurn_.empty() && next->urgency != onTurn_.begin()->first.urgency) break;
    const auto here = next++;
    if (!fromHead_) cursor_ = *here;
    if (canBeTried(here->job)) {
      turns.push_back(here->job);
      onTurn_.emplace(*here, false);
      toTry_.erase(here);
    } else {
      untriable_.insert(toTry_.extract(here));
    }
  }
  fromHead_ = !fromHead_;
  return turns;
}

void WaitingQueue::endTurn(const Place& place) {
  const auto turn = onTurn_.find(place);
  if (turn == onTurn_.end()) return;
  (turn->second ? toTry_ : resting_).insert(place);
  onTurn_.erase(turn);
}

void WaitingQueue::endTurns() {
  for (const auto& [place, again] : onTurn_) (again ? toTry_ : resting_).insert(place);
  onTurn_.clear();
}

std::optional<uint8_t> WaitingQueue::pendingPriority() const {
  std::optional<uint8_t> highest;
  if (!toTry_.empty()) highest = toTry_.begin()->priority();
  if (!onTurn_.empty()) highest = std::max(highest, std::optional(onTurn_.begin()->first.priority()));
  return highest;
}

bool WaitingQueue::contains(const Place& place) const {
  return toTry_.contains(place) || resting_.contains(place) || untriable_.contains(place) ||
         onTurn_.contains(place);
}

uint32_t WaitingQueue::ahead(const Place& place) const {
  const auto before = [&place](const auto& places) {
    return std::distance(places.begin(), places.lower_bound(place));
  };
  return static_cast<uint32_t>(before(toTry_) + before(resting_) + before(untriable_) + before(onTurn_));
}

}  // namespace tarcil::master
