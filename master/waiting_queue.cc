#include "master/waiting_queue.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace tarcil::master {
namespace {

// Batches that begin anew in a row.
constexpr int kMostAnew = 3;
// Batches after a wake that have one agent's jobs each.
constexpr int kOfOneAgent = 4;

}  // namespace

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
  beginsAnew_ = true;
}

void WaitingQueue::wakeUntriable() {
  toTry_.merge(untriable_);
}

std::set<Place>::iterator WaitingQueue::firstBehind(const Place& place) {
  const auto behind = toTry_.upper_bound(place);
  return behind == toTry_.end() ? toTry_.begin() : behind;
}

std::vector<JobId> WaitingQueue::giveTurns(size_t atMost, const WhoTries& whoTries) {
  std::vector<JobId> turns;
  // A batch that does not begin with the first may find nobody to try what is behind.
  while (onTurn_.empty() && !toTry_.empty()) turns = nextBatch(atMost, whoTries);
  return turns;
}

std::vector<JobId> WaitingQueue::nextBatch(size_t atMost, const WhoTries& whoTries) {
  const bool wakes = std::exchange(beginsAnew_, false);
  const bool isDeep = wakes && begunAnew_ == kMostAnew;
  begunAnew_ = wakes && !isDeep ? begunAnew_ + 1 : 0;
  Place& last = isDeep ? deepest_ : last_;
  auto next = wakes && !isDeep ? toTry_.begin() : firstBehind(last);
  batches_ = wakes ? 1 : batches_ + 1;
  std::optional<uint64_t> only;  // the agent of a batch that others do not take part in
  std::vector<JobId> turns;
  while (next != toTry_.end() && turns.size() < atMost) {
    if (!onTurn_.empty() && next->urgency != onTurn_.begin()->first.urgency) break;
    const std::optional<uint64_t> who = whoTries(next->job);
    if (who && only && *who != *only) break;
    const auto here = next++;
    last = *here;
    if (who) {
      if (batches_ <= kOfOneAgent) only = who;
      turns.push_back(here->job);
      onTurn_.emplace(*here, false);
      toTry_.erase(here);
    } else {
      untriable_.insert(toTry_.extract(here));
    }
  }
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

std::vector<JobId> WaitingQueue::first(size_t atMost) const {
  std::vector<Place> places;
  const auto add = [&places, atMost](const auto& from, auto placeOf) {
    size_t left = atMost;
    for (auto next = from.begin(); next != from.end() && left > 0; ++next, --left)
      places.push_back(placeOf(*next));
  };
  for (const auto* from : {&toTry_, &resting_, &untriable_})
    add(*from, [](const Place& place) { return place; });
  add(onTurn_, [](const auto& entry) { return entry.first; });
  std::ranges::sort(places);
  if (places.size() > atMost) places.resize(atMost);
  std::vector<JobId> jobs;
  jobs.reserve(places.size());
  for (const Place& place : places) jobs.push_back(place.job);
  return jobs;
}

uint32_t WaitingQueue::ahead(const Place& place) const {
  const auto before = [&place](const auto& places) {
    return std::distance(places.begin(), places.lower_bound(place));
  };
  return static_cast<uint32_t>(before(toTry_) + before(resting_) + before(untriable_) + before(onTurn_));
}

}  // namespace tarcil::master
