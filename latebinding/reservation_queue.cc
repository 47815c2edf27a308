#include "latebinding/reservation_queue.h"

#include <algorithm>

namespace tarcil::late {
namespace {

// The lowest bits of a lease's id are its position in leases_.
constexpr int kPositionBits = 16;
constexpr uint32_t kMaxLeases = 1u << kPositionBits;
constexpr uint32_t kPositionMask = kMaxLeases - 1;

void add(PressureSum& sum, const Pressure& pressure, int sign) {
  for (int i = 0; i < kResources; ++i) sum[i] += sign * pressure[i];
}

}  // namespace

void QueueActions::clear() {
  asks.clear();
  starts.clear();
  stops.clear();
  started.clear();
  notStarted.clear();
  ended.clear();
}

ReservationQueue::ReservationQueue(const QueueOptions& options, ServerId server, uint64_t firstLease)
    : options_(options), server_(server), firstLease_(firstLease), lastLease_(firstLease) {}

void ReservationQueue::free(SlotLease& lease) {
  lease.state = State::kFree;
  freeLeases_.push_back(static_cast<uint32_t>(&lease - leases_.data()));
}

void ReservationQueue::setSlots(uint32_t slots, MonotonicTime now, QueueActions& actions) {
  slots_ = std::min(slots, kMaxLeases);
  fillSlots(now, actions);
}

void ReservationQueue::setSurroundings(const Surroundings& surroundings, MonotonicTime now,
                                       QueueActions& actions) {
  surroundings_ = surroundings;
  fillSlots(now, actions);
}

void ReservationQueue::handle(const Reserve& message, MonotonicTime now, QueueActions& actions) {
  if (message.count == 0 || reservations_.size() >= options_.mostReservations) return;
  if (reservations_.find(message.agent, message.job, message.probe)) return;
  const FlowIndex flow =
      flows_.flowOf(message.user, std::max<uint16_t>(message.shares, 1), message.priority, now);
  Reservation reservation{.agent = message.agent,
                          .probe = message.probe,
                          .job = message.job,
                          .left = message.count,
                          .task = message.task,
                          .flow = flow,
                          .bearing = message.bearing,
                          .came = now};
  reservations_.append(reservation, flows_.at(flow).queue);
  queued_ += message.count;
  counts_.reserved += message.count;
  fillSlots(now, actions);
}

void ReservationQueue::handle(const Cancel& message) {
  const auto row = reservations_.find(message.agent, message.job, message.probe);
  if (!row) return;
  counts_.cancelled += reservations_.at(*row).left;
  drop(*row);
}

void ReservationQueue::handle(const Give& message, MonotonicTime now, QueueActions& actions) {
  const uint32_t position = message.lease & kPositionMask;
  SlotLease* lease =
      position < leases_.size() && leases_[position].number == message.lease ? &leases_[position] : nullptr;
  if (lease == nullptr || lease->state == State::kFree) {
    // A lease of this monitor that is over, though no end of it was acknowledged: nothing was started in it.
    // If an end was acknowledged, the agent ignores the answer.
    const bool isOurs =
        message.lease >> kPositionBits > firstLease_ && message.lease >> kPositionBits <= lastLease_;
    if (isOurs && message.task != kNoTask) {
      actions.notStarted.push_back({message.agent, message.job, message.task, message.lease});
    }
    return;
  }
  if (lease->agent != message.agent) return;
  if (lease->state == State::kRunning) {
    if (message.task == lease->task)
      actions.started.push_back({lease->agent, lease->job, lease->task, lease->number});
    return;
  }
  if (lease->state != State::kAsking) return;
  if (message.task != kNoTask) return start(*lease, message.task, now, actions);
  if (const auto row = reservations_.find(lease->agent, lease->job, lease->probe)) drop(*row);
  ++counts_.noneLeft;
  giveSlotBack(*lease, now);
  free(*lease);
  fillSlots(now, actions);
}

void ReservationQueue::handle(const Forget& message) {
  SlotLease* lease = find(message.lease, State::kEnded);
  if (lease != nullptr && lease->agent == message.agent) free(*lease);
}

void ReservationQueue::handle(const Stop& message, QueueActions& actions) {
  const SlotLease* lease = find(message.lease, State::kRunning);
  if (lease != nullptr && lease->agent == message.agent) actions.stops.push_back({lease->number});
}

QueueLength ReservationQueue::handle(const Look& message) const {
  const int32_t length = busy_ < slots_ ? -static_cast<int32_t>(slots_ - busy_)
                                        : static_cast<int32_t>(std::min<uint64_t>(queued_, INT32_MAX));
  return {message.agent, message.server, message.job, message.probe, length};
}

void ReservationQueue::taskEnded(SlotLeaseId number, int32_t code, MonotonicTime now, QueueActions& actions) {
  SlotLease* lease = find(number, State::kRunning);
  if (lease == nullptr) return;
  giveSlotBack(*lease, now);
  lease->state = State::kEnded;
  lease->code = code;
  lease->ended = now;
  if (lease->orphan) {
    free(*lease);
  } else {
    actions.ended.push_back(endOf(*lease));
    lease->due = now + options_.repeat;
    wakeBy(lease->due);
  }
  fillSlots(now, actions);
}

void ReservationQueue::dropAllOf(AgentNumber agent) {
  for (FlowIndex flow = 0; flow < flows_.end(); ++flow) {
    for (Row row = flows_.at(flow).queue.head; row != kNoRow;) {
      const Row next = reservations_.at(row).next;
      if (reservations_.at(row).agent == agent) drop(row);
      row = next;
    }
  }
}

void ReservationQueue::agentLost(AgentNumber agent, MonotonicTime now, QueueActions& actions) {
  dropAllOf(agent);
  for (SlotLease& lease : leases_) {
    if (lease.state == State::kFree || lease.agent != agent || lease.orphan) continue;
    lease.orphan = true;
    if (lease.state == State::kRunning) continue;
    if (lease.state == State::kAsking) giveSlotBack(lease, now);
    free(lease);
  }
  fillSlots(now, actions);
}

void ReservationQueue::advance(MonotonicTime now, QueueActions& actions) {
  if (now < wake_) return;
  wake_ = MonotonicTime::max();
  for (SlotLease& lease : leases_) {
    if (lease.state != State::kAsking && lease.state != State::kEnded) continue;
    if (lease.state == State::kAsking && now >= lease.asked + options_.patience) {
      // It does not answer: none of its other reservations shall hold a slot for as long. If it lives it
      // repeats them.
      dropAllOf(lease.agent);
      ++counts_.givenUp;
      giveSlotBack(lease, now);
      free(lease);
      continue;
    }
    if (now >= lease.due) {
      if (lease.state == State::kAsking) {
        actions.asks.push_back(askOf(lease));
      } else {
        actions.ended.push_back(endOf(lease));
      }
      lease.due = now + options_.repeat;
    }
    wakeBy(lease.state == State::kAsking ? std::min(lease.due, lease.asked + options_.patience) : lease.due);
  }
  fillSlots(now, actions);
}

// --- Slot leases

ReservationQueue::SlotLease* ReservationQueue::find(SlotLeaseId number, State state) {
  const uint32_t position = number & kPositionMask;
  if (position >= leases_.size()) return nullptr;
  SlotLease& lease = leases_[position];
  return lease.number == number && lease.state == state ? &lease : nullptr;
}

ReservationQueue::SlotLease& ReservationQueue::newLease() {
  if (freeLeases_.empty()) {
    freeLeases_.push_back(static_cast<uint32_t>(leases_.size()));
    leases_.emplace_back();
  }
  const uint32_t position = freeLeases_.back();
  freeLeases_.pop_back();
  leases_[position] = SlotLease{};
  leases_[position].number = ++lastLease_ << kPositionBits | position;
  return leases_[position];
}

void ReservationQueue::begin(Row row, MonotonicTime now, QueueActions& actions) {
  Reservation& reservation = reservations_.at(row);
  SlotLease& lease = newLease();
  lease.agent = reservation.agent;
  lease.job = reservation.job;
  lease.probe = reservation.probe;
  lease.flow = reservation.flow;
  lease.caused = reservation.bearing.caused;
  lease.came = reservation.came;
  lease.asked = now;
  lease.state = State::kAsking;
  const TaskIndex bound = reservation.task;
  ++busy_;
  flows_.hold(lease.flow, now);
  add(causedHere_, lease.caused, 1);
  --queued_;
  if (--reservation.left == 0) reservations_.erase(row, flows_.at(lease.flow).queue);
  if (bound != kNoTask) return start(lease, bound, now, actions);
  actions.asks.push_back(askOf(lease));
  lease.due = now + options_.repeat;
  wakeBy(std::min(lease.due, now + options_.patience));
}

void ReservationQueue::start(SlotLease& lease, TaskIndex task, MonotonicTime now, QueueActions& actions) {
  ++counts_.given;
  lease.state = State::kRunning;
  lease.task = task;
  lease.started = now;
  lease.due = MonotonicTime::max();
  actions.starts.push_back({lease.agent, lease.job, task, lease.number});
}

void ReservationQueue::giveSlotBack(SlotLease& lease, MonotonicTime now) {
  --busy_;
  flows_.release(lease.flow, now);
  add(causedHere_, lease.caused, -1);
}

void ReservationQueue::drop(Row row) {
  queued_ -= reservations_.at(row).left;
  reservations_.erase(row, flows_.at(reservations_.at(row).flow).queue);
}

Ask ReservationQueue::askOf(const SlotLease& lease) const {
  return {lease.agent, server_, lease.job, lease.probe, lease.number, lease.asked - lease.came};
}

Ended ReservationQueue::endOf(const SlotLease& lease) const {
  return {lease.agent,
          server_,
          lease.job,
          lease.task,
          lease.number,
          lease.code,
          lease.asked - lease.came,
          lease.started - lease.asked,
          lease.ended - lease.started};
}

// --- Who comes next

void ReservationQueue::fillSlots(MonotonicTime now, QueueActions& actions) {
  // Ends that nobody acknowledges occupy leases, whose number is bounded too.
  while (busy_ < slots_ && queued_ > 0 && leases_.size() - freeLeases_.size() < kMaxLeases) {
    const Row row = nextFeasible(now);
    if (row == kNoRow) return;
    begin(row, now, actions);
  }
}

// kNoRow where no queued reservation tolerates the interference here.
Row ReservationQueue::nextFeasible(MonotonicTime now) {
  flows_.search(now);
  while (const auto flow = flows_.next()) {
    Row row = flows_.at(*flow).queue.head;
    for (uint32_t looked = 0; row != kNoRow && looked < options_.lookahead; ++looked) {
      Reservation& reservation = reservations_.at(row);
      if (isFeasible(reservation, now)) return row;
      row = reservation.next;
    }
  }
  return kNoRow;
}

bool ReservationQueue::isFeasible(Reservation& reservation, MonotonicTime now) {
  static constexpr Pressure kBearsAll = Profile::filled(kMaxPressure);
  if (reservation.bearing.tolerated == kBearsAll) return true;
  PressureSum caused = surroundings_.caused;
  for (int i = 0; i < kResources; ++i) caused[i] += causedHere_[i];
  const Pressure interference =
      contention(ContentionModel::kSum, caused, surroundings_.share, surroundings_.background, 1);
  bool bears = true;
  for (int i = 0; i < kResources; ++i) {
    bears = bears && interference[i] <= reservation.bearing.tolerated[i] + options_.noiseFloor;
  }
  if (bears) return true;
  if (reservation.passedOver == MonotonicTime::max()) reservation.passedOver = now;
  const MonotonicTime until = reservation.passedOver + options_.passOver;
  if (now >= until) return true;
  wakeBy(until);
  return false;
}

}  // namespace tarcil::late
