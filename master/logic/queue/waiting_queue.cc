#include "master/logic/queue/waiting_queue.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

namespace tarcil::master {
namespace {

// Batches that begin anew in a row.
constexpr int kMaxAnew = 3;
// Batches after a wake that have one agent's jobs each.
constexpr int kOfOneAgent = 4;
// Wakes during one batch beyond which what came free is more than one agent takes in the next.
constexpr uint64_t kFewWakes = 4;

}  // namespace

void WaitingQueue::put(const QueueKey& key, bool isToTry) {
  if (const auto offer = offered_.find(key); offer != offered_.end()) {
    offer->second |= isToTry;
  } else if (isToTry) {
    order_.put(key, Mode::kToBeTried);
    isExhausted_ = false;
  } else if (!contains(key)) {
    order_.put(key, Mode::kResting);
  }
}

void WaitingQueue::erase(const QueueKey& key) {
  order_.erase(key);
  offered_.erase(key);
}

void WaitingQueue::rekey(const QueueKey& from, const QueueKey& to) {
  const std::optional<Mode> mode = order_.modeOf(from);
  if (!mode) return;
  const bool wasOffered = offered_.contains(from);
  erase(from);
  order_.put(to, *mode);
  if (wasOffered) offered_.emplace(to, true);
}

void WaitingQueue::wakeAll() {
  order_.changeAll(Mode::kResting, Mode::kToBeTried);
  for (auto& [key, again] : offered_) again = true;
  exhausted_.clear();
  ++capacityVersion_;
  progress_.beginsAnew = true;
  isExhausted_ = false;
}

void WaitingQueue::wakeUntriable() {
  order_.changeAll(Mode::kUntriable, Mode::kToBeTried);
  isExhausted_ = false;
}

bool WaitingQueue::isToBeTriedAgain(const QueueKey& key) const {
  const auto offer = offered_.find(key);
  return offer != offered_.end() && offer->second;
}

void WaitingQueue::reserve(Purpose purpose, Reservation reservation) {
  const JobId job = reservation.job.job;
  reservations_.insert_or_assign({purpose, job}, std::move(reservation));
  listReserved();
}

void WaitingQueue::release(Purpose purpose, const JobId& job) {
  reservations_.erase({purpose, job});
  listReserved();
}

void WaitingQueue::listReserved() {
  std::set<ServerId> all;
  for (const auto& [key, each] : reservations_) all.insert(each.servers.begin(), each.servers.end());
  reserved_.assign(all.begin(), all.end());
  isExhausted_ = false;
}

bool WaitingQueue::mayUse(const Reservation& reservation, const QueueKey& key) const {
  return !contains(reservation.job) || key.job == reservation.job.job ||
         order_.rank(key) < order_.rank(reservation.job) ||
         (reservation.mayPass && reservation.mayPass(key.job));
}

std::vector<ServerId> WaitingQueue::reservedForOthers(const QueueKey& key) const {
  std::set<ServerId> servers;
  for (const auto& [holder, reservation] : reservations_) {
    if (!mayUse(reservation, key)) servers.insert(reservation.servers.begin(), reservation.servers.end());
  }
  return {servers.begin(), servers.end()};
}

bool WaitingQueue::isReservedForItsClass(const QueueKey& key) const {
  return std::ranges::any_of(reservations_, [&](const auto& entry) {
    const Reservation& reservation = entry.second;
    return reservation.job.equivalenceClass == key.equivalenceClass && !mayUse(reservation, key);
  });
}

void WaitingQueue::noteFailedAttempt(const QueueKey& key) {
  if (isReservedForItsClass(key)) return;
  uint8_t& highest = exhausted_.try_emplace(key.equivalenceClass, key.priority).first->second;
  highest = std::max(highest, key.priority);
}

JobOffer WaitingQueue::offerTo(const QueueKey& key) const {
  JobOffer offer{.job = key.job};
  const std::vector<ServerId> left = reservedForOthers(key);
  offer.mayUseReserved = left.empty();
  if (!left.empty()) std::ranges::set_difference(reserved_, left, std::back_inserter(offer.usableReserved));
  return offer;
}

std::vector<JobOffer> WaitingQueue::offerJobs(size_t atMost, const LookUp& lookUp) {
  std::vector<JobOffer> offers;
  isInterrupted_ = false;
  while (!isInterrupted_ && offered_.empty() && !isExhausted_ && order_.size(Mode::kToBeTried) > 0) {
    const Progress before = progress_;
    const bool anew = std::exchange(progress_.beginsAnew, false);
    const bool isDeep = anew && progress_.begunAnew == kMaxAnew;
    progress_.begunAnew = anew && !isDeep ? progress_.begunAnew + 1 : 0;
    progress_.batches = anew ? 1 : progress_.batches + 1;
    const uint64_t wakes = capacityVersion_ - std::exchange(progress_.versionOfBatch, capacityVersion_);
    for (const QueueKey& next : isDeep ? deep(atMost, lookUp) : inOrder(atMost, wakes, lookUp)) {
      offers.push_back(offerTo(next));
      order_.put(next, Mode::kOffered);
      offered_.emplace(next, false);
    }
    if (isInterrupted_) progress_ = before;  // there was no batch
    isExhausted_ = offers.empty() && !isDeep && !isInterrupted_;
  }
  return offers;
}

std::vector<QueueKey> WaitingQueue::inOrder(size_t atMost, uint64_t wakes, const LookUp& lookUp) {
  std::vector<QueueKey> batch;
  std::vector<QueueKey> untriable;
  std::optional<uint64_t> only;  // the agent of a batch that others do not take part in
  int64_t rank = 0;
  order_.walk({Mode::kToBeTried}, exhausted_, [&](const QueueKey& key) -> std::optional<uint64_t> {
    if (batch.size() == atMost) return std::nullopt;
    if (!batch.empty() && order_.rank(key) != rank) return std::nullopt;
    const Candidate candidate = lookUp(key.job);
    if (!candidate.whoTries) {
      untriable.push_back(key);
      if (untriable.size() < kSetAsideAtOnce) return uint64_t{0};
      isInterrupted_ = batch.empty();
      return std::nullopt;
    }
    if (only && *candidate.whoTries != *only) return std::nullopt;
    if (progress_.batches <= kOfOneAgent && wakes <= kFewWakes) only = candidate.whoTries;
    rank = order_.rank(key);
    batch.push_back(key);
    return candidate.units;
  });
  for (const QueueKey& key : untriable) order_.put(key, Mode::kUntriable);
  return batch;
}

std::vector<QueueKey> WaitingQueue::deep(size_t atMost, const LookUp& lookUp) {
  std::vector<QueueKey> batch;
  for (const QueueKey& key : order_.behind(deepest_, Mode::kToBeTried, atMost)) {
    deepest_ = key;
    if (lookUp(key.job).whoTries) {
      batch.push_back(key);
    } else {
      order_.put(key, Mode::kUntriable);
    }
  }
  return batch;
}

void WaitingQueue::endOffer(const QueueKey& key) {
  const auto offer = offered_.find(key);
  if (offer == offered_.end()) return;
  order_.put(key, offer->second ? Mode::kToBeTried : Mode::kResting);
  offered_.erase(offer);
  isExhausted_ = false;
}

std::vector<JobId> WaitingQueue::offered() const {
  std::vector<JobId> jobs;
  for (const auto& [key, again] : offered_) jobs.push_back(key.job);
  return jobs;
}

void WaitingQueue::endOffers() {
  while (!offered_.empty()) endOffer(offered_.begin()->first);
}

void WaitingQueue::withdrawOffers() {
  for (auto& offer : offered_) offer.second = true;
  endOffers();
}

std::optional<uint8_t> WaitingQueue::pendingPriority(WallTime now) const {
  std::optional<int64_t> first;
  const auto take = [&](const QueueKey& key) -> std::optional<uint64_t> {
    first = std::min(first.value_or(INT64_MAX), order_.rank(key));
    return std::nullopt;
  };
  if (order_.size(Mode::kToBeTried) > 0) order_.walk({Mode::kToBeTried}, exhausted_, take);
  if (!offered_.empty()) take(offered_.begin()->first);
  for (const auto& [key, reservation] : reservations_) {
    if (contains(reservation.job)) take(reservation.job);
  }
  if (!first) return std::nullopt;
  return order_.lifted(*first, now);
}

}  // namespace tarcil::master
