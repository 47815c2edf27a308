#include "rpc/fair_calls.h"

#include <kj/debug.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "env/stop.h"
#include "rpc/errors.h"
#include "rpc/turns.h"

namespace tarcil {
namespace {

bool keepsFromReading(SeatKind kind) {
  return kind != SeatKind::kUpload;
}

// A user is alone where nobody else has called for so long.
constexpr auto kAlone = 1 * kj::SECONDS;

}  // namespace

FairCalls::FairCalls(kj::Timer& timer, std::function<Duration()> processorTime, UserBounds bounds)
    : timer_(timer), processorTime_(std::move(processorTime)), bounds_(bounds) {}

FairCalls::~FairCalls() noexcept(false) = default;

kj::Own<FairCalls::User> FairCalls::user(const std::string& name) {
  if (const auto found = users_.find(name); found != users_.end()) return kj::addRef(*found->second);
  auto user = kj::refcounted<User>(kj::addRef(*this), name);
  users_.emplace(name, user.get());
  return user;
}

void FairCalls::stop() {
  hasStopped_ = true;
  taking_ = nullptr;
  // They hold their users, who hold this.
  const auto givenUp = std::exchange(queue_, {});
}

// Calls that came together are in turns from the first on.
void FairCalls::wake() {
  if (hasStopped_ || std::exchange(isTaking_, true)) return;
  taking_ = untilIdle(timer_)
                .then([this]() { return takeSome(); })
                .eagerlyEvaluate(stopsIfFailed("calls of users"));
}

kj::Promise<void> FairCalls::takeSome() {
  const LoopStep step("calls of users");
  const Duration begin = processorTime_();
  do {
    auto next = queue_.pop();
    if (!next) break;
    make(std::move(next->item));
  } while (processorTime_() - begin < kWorkAtOnce);
  letRead();
  isTaking_ = !queue_.empty();
  if (!isTaking_) return kj::READY_NOW;
  return nextTurn(timer_).then([this]() { return takeSome(); });
}

void FairCalls::make(Waiting&& next) {
  User& user = *next.user;
  --user.turns_;
  --user.waiting_;
  if (!next.made->isWaiting()) return;
  if (lastCaller_ != user.name_) lastOfOthers_ = lastCall_;
  lastCaller_ = user.name_;
  lastCall_ = timer_.now();
  const Duration begin = processorTime_();
  auto made = kj::evalNow([&next]() { return next.call(); });
  queue_.charge(user.name_, std::max(Duration(1), processorTime_() - begin));
  next.made->fulfill(kj::mv(made));
}

// One for each user, again and again, as long as there is room.
void FairCalls::giveSeats() {
  for (bool hasGiven = true; hasGiven;) {
    hasGiven = false;
    for (User* user : std::vector<User*>(forSeats_.begin(), forSeats_.end())) {
      hasGiven |= giveSeat(*user, SeatKind::kSubmission);
      hasGiven |= giveSeat(*user, SeatKind::kQuery);
      hasGiven |= giveSeat(*user, SeatKind::kUpload);
    }
  }
}

// To the first who waits for one, if there is room.
bool FairCalls::giveSeat(User& user, SeatKind kind) {
  User::Seats& seats = user.seatsOf(kind);
  if (seats.wanted.empty()) return false;
  User::SeatWanted& first = seats.wanted.front();
  const UserBounds::Seats bound = boundOf(kind);
  const uint64_t ofAll = seatBytes_[static_cast<size_t>(kind)];
  const bool isGone = !first.given->isWaiting();
  const bool fits = seats.taken < (isAlone(user.name_) ? bound.number : bound.besideOthers) &&
                    (seats.taken == 0 || seats.bytes + first.bytes <= bound.bytes) &&
                    (ofAll == 0 || ofAll + first.bytes <= bound.bytesOfAll);
  if (!fits && !isGone) return false;
  User::SeatWanted wanted = std::move(seats.wanted.front());
  seats.wanted.pop_front();
  if (keepsFromReading(kind)) --user.waiting_;
  if (std::ranges::all_of(user.seats_, [](const User::Seats& each) { return each.wanted.empty(); })) {
    forSeats_.erase(&user);
  }
  if (!isGone) wanted.given->fulfill(kj::heap<Seat>(kj::addRef(user), kind, wanted.bytes));
  return true;
}

void FairCalls::letRead() {
  std::erase_if(notRead_, [](User* user) {
    if (user->waiting_ == 0) user->readBytes_ = 0;
    if (!user->mayGoOn()) return false;
    auto readers = std::move(user->toRead_);
    user->toRead_.clear();
    for (auto& reader : readers) reader->fulfill();
    return true;
  });
}

bool FairCalls::isAlone(const std::string& user) const {
  return timer_.now() - (user == lastCaller_ ? lastOfOthers_ : lastCall_) >= kAlone;
}

// How long a large read has yet to wait, and those after it the longer.
kj::Duration FairCalls::untilLargeRead(const std::string& user, uint64_t bytes) {
  const kj::TimePoint now = timer_.now();
  std::erase_if(nextLargeRead_, [now](const auto& each) { return each.second <= now; });
  if (isAlone(user)) {
    nextLargeRead_.erase(user);
    return 0 * kj::SECONDS;
  }
  kj::TimePoint& next = nextLargeRead_.try_emplace(user, now).first->second;
  const kj::Duration wait = next - now;
  next += bytes * kj::SECONDS / bounds_.largeBytesPerSecond;
  return wait;
}

FairCalls::User::User(kj::Own<FairCalls> all, std::string name) : all_(kj::mv(all)), name_(std::move(name)) {}

FairCalls::User::~User() noexcept(false) {
  all_->forSeats_.erase(this);
  all_->notRead_.erase(this);
  all_->users_.erase(name_);
}

kj::Promise<void> FairCalls::User::inTurn(Call call) {
  if (all_->hasStopped_) return KJ_EXCEPTION(DISCONNECTED, "the role ends");
  auto made = kj::newPromiseAndFulfiller<kj::Promise<void>>();
  all_->queue_.push(name_, Waiting{kj::addRef(*this), kj::mv(call), kj::mv(made.fulfiller)});
  ++turns_;
  ++waiting_;
  all_->wake();
  return kj::mv(made.promise);
}

kj::Promise<kj::Own<FairCalls::Seat>> FairCalls::User::seat(SeatKind kind, uint64_t bytes) {
  auto& wanted = seatsOf(kind).wanted;
  if (!keepsFromReading(kind) && wanted.size() >= all_->bounds_.waitingCalls) {
    return toException({ErrorCode::kExhausted, "so many submissions of " + name_ + " wait already: " +
                                                   std::to_string(wanted.size()) + "; " + kTryAgain});
  }
  auto given = kj::newPromiseAndFulfiller<kj::Own<Seat>>();
  wanted.push_back(SeatWanted{bytes, kj::mv(given.fulfiller)});
  all_->forSeats_.insert(this);
  if (keepsFromReading(kind)) ++waiting_;
  all_->giveSeats();
  return kj::mv(given.promise);
}

bool FairCalls::User::addConnection() {
  if (connections_ >= all_->bounds_.connections) return false;
  ++connections_;
  return true;
}

bool FairCalls::User::mayRead() const {
  const UserBounds& bounds = all_->bounds_;
  return toRead_.empty() && turns_ < bounds.waitingTurns && waiting_ < bounds.waitingCalls &&
         readBytes_ < bounds.waitingBytes;
}

bool FairCalls::User::mayGoOn() const {
  const UserBounds& bounds = all_->bounds_;
  return turns_ == 0 && waiting_ <= bounds.waitingCalls / 2 && readBytes_ < bounds.waitingBytes;
}

kj::Promise<void> FairCalls::User::untilMayRead() {
  std::erase_if(toRead_, [](auto& reader) { return !reader->isWaiting(); });
  auto may = kj::newPromiseAndFulfiller<void>();
  toRead_.push_back(kj::mv(may.fulfiller));
  all_->notRead_.insert(this);
  all_->wake();
  return kj::mv(may.promise);
}

kj::Promise<kj::Own<FairCalls::LargeRead>> FairCalls::User::largeRead(uint64_t bytes) {
  std::erase_if(toReadLarge_, [](LargeReadWanted& wanted) { return !wanted.given->isWaiting(); });
  if (!std::exchange(isReadingLarge_, true)) return giveLargeRead(bytes);
  auto turn = kj::newPromiseAndFulfiller<kj::Promise<kj::Own<LargeRead>>>();
  toReadLarge_.push_back({bytes, kj::mv(turn.fulfiller)});
  return kj::mv(turn.promise);
}

kj::Promise<kj::Own<FairCalls::LargeRead>> FairCalls::User::giveLargeRead(uint64_t bytes) {
  auto read = kj::heap<LargeRead>(kj::addRef(*this));
  const kj::Duration wait = all_->untilLargeRead(name_, bytes);
  if (wait == 0 * kj::SECONDS) return kj::mv(read);
  return all_->timer_.afterDelay(wait).then([read = kj::mv(read)]() mutable { return kj::mv(read); });
}

FairCalls::Seat::Seat(kj::Own<User> user, SeatKind kind, uint64_t bytes)
    : user_(kj::mv(user)), kind_(kind), bytes_(bytes) {
  ++user_->seatsOf(kind_).taken;
  user_->seatsOf(kind_).bytes += bytes_;
  user_->all_->seatBytes_[static_cast<size_t>(kind_)] += bytes_;
}

FairCalls::Seat::~Seat() noexcept(false) {
  FairCalls& all = *user_->all_;
  --user_->seatsOf(kind_).taken;
  user_->seatsOf(kind_).bytes -= bytes_;
  all.seatBytes_[static_cast<size_t>(kind_)] -= bytes_;
  all.giveSeats();
  all.wake();
}

FairCalls::LargeRead::LargeRead(kj::Own<User> user) : user_(kj::mv(user)) {}

FairCalls::LargeRead::~LargeRead() noexcept(false) {
  user_->isReadingLarge_ = false;
  while (!user_->toReadLarge_.empty()) {
    auto next = kj::mv(user_->toReadLarge_.front());
    user_->toReadLarge_.pop_front();
    if (!next.given->isWaiting()) continue;
    user_->isReadingLarge_ = true;
    next.given->fulfill(user_->giveLargeRead(next.bytes));
    return;
  }
}

}  // namespace tarcil
