#include "latebinding/reservation_queue.h"

#include <algorithm>

namespace tarcil::late {
namespace {

// A turn's number has its position in turns_ in the lowest bits.
constexpr int kPositionBits = 16;
constexpr uint32_t kMostTurns = 1u << kPositionBits;
constexpr uint32_t kPositionMask = kMostTurns - 1;

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

ReservationQueue::ReservationQueue(const QueueOptions& options, ServerId server, uint64_t firstTurn)
    : options_(options), server_(server), firstTurn_(firstTurn), lastTurn_(firstTurn) {}

void ReservationQueue::free(Turn& turn) {
  turn.state = State::kFree;
  freeTurns_.push_back(static_cast<uint32_t>(&turn - turns_.data()));
}

void ReservationQueue::setSlots(uint32_t slots, MonotonicTime now, QueueActions& actions) {
  slots_ = std::min(slots, kMostTurns);
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
  const uint32_t position = message.turn & kPositionMask;
  Turn* turn =
      position < turns_.size() && turns_[position].number == message.turn ? &turns_[position] : nullptr;
  if (turn == nullptr || turn->state == State::kFree) {
    // A turn of this monitor's that is over, though no end of it was acknowledged: nothing was started in it.
    // If one was acknowledged, the agent knows better than to listen.
    const bool isOurs =
        message.turn >> kPositionBits > firstTurn_ && message.turn >> kPositionBits <= lastTurn_;
    if (isOurs && message.task != kNoTask) {
      actions.notStarted.push_back({message.agent, message.job, message.task, message.turn});
    }
    return;
  }
  if (turn->agent != message.agent) return;
  if (turn->state == State::kRunning) {
    if (message.task == turn->task)
      actions.started.push_back({turn->agent, turn->job, turn->task, turn->number});
    return;
  }
  if (turn->state != State::kAsking) return;
  if (message.task != kNoTask) return start(*turn, message.task, now, actions);
  if (const auto row = reservations_.find(turn->agent, turn->job, turn->probe)) drop(*row);
  ++counts_.inVain;
  giveSlotBack(*turn, now);
  free(*turn);
  fillSlots(now, actions);
}

void ReservationQueue::handle(const Forget& message) {
  Turn* turn = find(message.turn, State::kEnded);
  if (turn != nullptr && turn->agent == message.agent) free(*turn);
}

void ReservationQueue::handle(const Stop& message, QueueActions& actions) {
  const Turn* turn = find(message.turn, State::kRunning);
  if (turn != nullptr && turn->agent == message.agent) actions.stops.push_back({turn->number});
}

QueueLength ReservationQueue::handle(const Look& message) const {
  const int32_t length = busy_ < slots_ ? -static_cast<int32_t>(slots_ - busy_)
                                        : static_cast<int32_t>(std::min<uint64_t>(queued_, INT32_MAX));
  return {message.agent, message.server, message.job, message.probe, length};
}

void ReservationQueue::taskEnded(TurnNumber number, int32_t code, MonotonicTime now, QueueActions& actions) {
  Turn* turn = find(number, State::kRunning);
  if (turn == nullptr) return;
  giveSlotBack(*turn, now);
  turn->state = State::kEnded;
  turn->code = code;
  turn->ended = now;
  if (turn->orphan) {
    free(*turn);
  } else {
    actions.ended.push_back(endOf(*turn));
    turn->due = now + options_.repeat;
    wakeBy(turn->due);
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
  for (Turn& turn : turns_) {
    if (turn.state == State::kFree || turn.agent != agent || turn.orphan) continue;
    turn.orphan = true;
    if (turn.state == State::kRunning) continue;
    if (turn.state == State::kAsking) giveSlotBack(turn, now);
    free(turn);
  }
  fillSlots(now, actions);
}

void ReservationQueue::advance(MonotonicTime now, QueueActions& actions) {
  if (now < wake_) return;
  wake_ = MonotonicTime::max();
  for (Turn& turn : turns_) {
    if (turn.state != State::kAsking && turn.state != State::kEnded) continue;
    if (turn.state == State::kAsking && now >= turn.asked + options_.patience) {
      // It does not answer: none of its other reservations shall hold a slot for as long. If it lives it
      // repeats them.
      dropAllOf(turn.agent);
      ++counts_.givenUp;
      giveSlotBack(turn, now);
      free(turn);
      continue;
    }
    if (now >= turn.due) {
      if (turn.state == State::kAsking) {
        actions.asks.push_back(askOf(turn));
      } else {
        actions.ended.push_back(endOf(turn));
      }
      turn.due = now + options_.repeat;
    }
    wakeBy(turn.state == State::kAsking ? std::min(turn.due, turn.asked + options_.patience) : turn.due);
  }
  fillSlots(now, actions);
}

// --- Turns

ReservationQueue::Turn* ReservationQueue::find(TurnNumber number, State state) {
  const uint32_t position = number & kPositionMask;
  if (position >= turns_.size()) return nullptr;
  Turn& turn = turns_[position];
  return turn.number == number && turn.state == state ? &turn : nullptr;
}

ReservationQueue::Turn& ReservationQueue::newTurn() {
  if (freeTurns_.empty()) {
    freeTurns_.push_back(static_cast<uint32_t>(turns_.size()));
    turns_.emplace_back();
  }
  const uint32_t position = freeTurns_.back();
  freeTurns_.pop_back();
  turns_[position] = Turn{};
  turns_[position].number = ++lastTurn_ << kPositionBits | position;
  return turns_[position];
}

void ReservationQueue::begin(Row row, MonotonicTime now, QueueActions& actions) {
  Reservation& reservation = reservations_.at(row);
  Turn& turn = newTurn();
  turn.agent = reservation.agent;
  turn.job = reservation.job;
  turn.probe = reservation.probe;
  turn.flow = reservation.flow;
  turn.caused = reservation.bearing.caused;
  turn.came = reservation.came;
  turn.asked = now;
  turn.state = State::kAsking;
  const TaskIndex bound = reservation.task;
  ++busy_;
  flows_.hold(turn.flow, now);
  add(causedHere_, turn.caused, 1);
  --queued_;
  if (--reservation.left == 0) reservations_.erase(row, flows_.at(turn.flow).queue);
  if (bound != kNoTask) return start(turn, bound, now, actions);
  actions.asks.push_back(askOf(turn));
  turn.due = now + options_.repeat;
  wakeBy(std::min(turn.due, now + options_.patience));
}

void ReservationQueue::start(Turn& turn, TaskIndex task, MonotonicTime now, QueueActions& actions) {
  ++counts_.given;
  turn.state = State::kRunning;
  turn.task = task;
  turn.started = now;
  turn.due = MonotonicTime::max();
  actions.starts.push_back({turn.agent, turn.job, task, turn.number});
}

void ReservationQueue::giveSlotBack(Turn& turn, MonotonicTime now) {
  --busy_;
  flows_.release(turn.flow, now);
  add(causedHere_, turn.caused, -1);
}

void ReservationQueue::drop(Row row) {
  queued_ -= reservations_.at(row).left;
  reservations_.erase(row, flows_.at(reservations_.at(row).flow).queue);
}

Ask ReservationQueue::askOf(const Turn& turn) const {
  return {turn.agent, server_, turn.job, turn.probe, turn.number, turn.asked - turn.came};
}

Ended ReservationQueue::endOf(const Turn& turn) const {
  return {turn.agent,
          server_,
          turn.job,
          turn.task,
          turn.number,
          turn.code,
          turn.asked - turn.came,
          turn.started - turn.asked,
          turn.ended - turn.started};
}

// --- Who comes next

void ReservationQueue::fillSlots(MonotonicTime now, QueueActions& actions) {
  // Ends that nobody acknowledges take turns' numbers, of which there is a bound too.
  while (busy_ < slots_ && queued_ > 0 && turns_.size() - freeTurns_.size() < kMostTurns) {
    const Row row = nextSuitable(now);
    if (row == kNoRow) return;
    begin(row, now, actions);
  }
}

// kNoRow where nothing that is queued bears what is felt here.
Row ReservationQueue::nextSuitable(MonotonicTime now) {
  flows_.search(now);
  while (const auto flow = flows_.next()) {
    Row row = flows_.at(*flow).queue.head;
    for (uint32_t looked = 0; row != kNoRow && looked < options_.lookahead; ++looked) {
      Reservation& reservation = reservations_.at(row);
      if (suits(reservation, now)) return row;
      row = reservation.next;
    }
  }
  return kNoRow;
}

bool ReservationQueue::suits(Reservation& reservation, MonotonicTime now) {
  static constexpr Pressure kBearsAll = Profile::filled(kMaxPressure);
  if (reservation.bearing.tolerated == kBearsAll) return true;
  PressureSum caused = surroundings_.caused;
  for (int i = 0; i < kResources; ++i) caused[i] += causedHere_[i];
  const Pressure felt =
      contention(ContentionModel::kSum, caused, surroundings_.share, surroundings_.background, 1);
  bool bears = true;
  for (int i = 0; i < kResources; ++i) {
    bears = bears && felt[i] <= reservation.bearing.tolerated[i] + options_.noiseFloor;
  }
  if (bears) return true;
  if (reservation.passedOver == MonotonicTime::max()) reservation.passedOver = now;
  const MonotonicTime until = reservation.passedOver + options_.passOver;
  if (now >= until) return true;
  wakeBy(until);
  return false;
}

}  // namespace tarcil::late
