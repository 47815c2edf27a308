// What users take of a role: time of its event loop, memory for what they send, connections. Each has a share
// of their own, so that nobody slows others down by asking for much.
#pragma once

#include <kj/async.h>
#include <kj/function.h>
#include <kj/refcount.h>
#include <kj/timer.h>

#include <array>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <set>
#include <string>

#include "core/base/time.h"
#include "env/loop_step.h"
#include "rpc/fair_queue.h"

namespace tarcil {

// Of one user, over all of their connections to one role.
struct UserBounds {
  // Where there are so many, one more is refused.
  size_t connections = 200;
  // Calls that were read and wait for their turn: with so many nothing more is read of the user until there
  // are none; each connection may have one read under way. What has been read is dealt with before what
  // others send later, so it is little.
  size_t waitingTurns = 100;
  // Those and the calls that wait for a seat, and bytes read since there were none of either: with so many
  // nothing more is read until there are half as many.
  size_t waitingCalls = 1'000;
  uint64_t waitingBytes = 16 << 20;
  // Longer reads, of large messages, come one after the other, and so many bytes a second where somebody else
  // has called within a second: what follows from them, in this and other roles, takes longer than reading.
  uint64_t largeRead = 256 << 10;
  uint64_t largeBytesPerSecond = 32 << 20;
  // Under way at once, by kind, and the bytes of these; one may be larger than that. The next waits. What is
  // under way is before what others call next, in this role and the next one: so there are fewer where
  // somebody else has called within a second.
  struct Seats {
    size_t number;
    size_t besideOthers;
    uint64_t bytes;
    uint64_t bytesOfAll;  // of all users
  };
  std::array<Seats, 3> seats = {
      {{64, 16, 1 << 20, 256 << 20}, {4, 2, 4 << 20, 16 << 20}, {64, 64, 4 << 20, 1 << 30}}};
};
enum class SeatKind : uint8_t {
  kSubmission,
  kQuery,  // of another role, which is to have room for more than one user's
  // What comes in several calls. Waits for one keep nobody from reading on, since whoever has one could not
  // go on then; where as many wait as calls may, one more fails as Exhausted.
  kUpload,
};

// Takes calls of users in turns (rpc/fair_queue.h), a bounded time of them at once. In between goes all that
// the event loop has to do, and what has come meanwhile is read. Single-threaded.
class FairCalls final : public kj::Refcounted {
 public:
  using Call = kj::Function<kj::Promise<void>()>;
  class User;
  class Seat;
  class LargeRead;

  // `processorTime` is that of the event loop's thread. `timer` outlives the last user.
  explicit FairCalls(kj::Timer& timer, std::function<Duration()> processorTime = threadTime,
                     UserBounds bounds = {});
  ~FairCalls() noexcept(false) override;
  KJ_DISALLOW_COPY(FairCalls);

  // The role ends, and its event loop after it: calls that wait for their turn are given up, and later ones.
  // Not from within a call.
  void stop();

  // One object for each name, while anybody holds it.
  kj::Own<User> user(const std::string& name);

 private:
  struct Waiting {
    kj::Own<User> user;
    Call call;
    kj::Own<kj::PromiseFulfiller<kj::Promise<void>>> made;
  };
  void wake();
  kj::Promise<void> takeSome();
  void make(Waiting&& next);
  void giveSeats();
  bool giveSeat(User& user, SeatKind kind);
  UserBounds::Seats boundOf(SeatKind kind) const { return bounds_.seats[static_cast<size_t>(kind)]; }
  void letRead();
  bool isAlone(const std::string& user) const;
  kj::Duration untilLargeRead(const std::string& user, uint64_t bytes);

  kj::Timer& timer_;
  const std::function<Duration()> processorTime_;
  const UserBounds bounds_;
  std::map<std::string, User*> users_;
  std::set<User*> forSeats_;             // who wait for seats
  std::set<User*> notRead_;              // of whom nothing is read
  std::array<uint64_t, 3> seatBytes_{};  // of all users, by kind
  FairQueue<Waiting> queue_;
  // Who called last, when, and when somebody else did.
  std::string lastCaller_;
  kj::TimePoint lastCall_ = kj::origin<kj::TimePoint>(), lastOfOthers_ = kj::origin<kj::TimePoint>();
  std::map<std::string, kj::TimePoint> nextLargeRead_;  // by user, where it is later than now
  bool isTaking_ = false;
  bool hasStopped_ = false;
  kj::Promise<void> taking_ = nullptr;
};

class FairCalls::User final : public kj::Refcounted {
 public:
  User(kj::Own<FairCalls> all, std::string name);
  ~User() noexcept(false) override;
  KJ_DISALLOW_COPY(User);

  const std::string& name() const { return name_; }

  // Makes the call when it is the user's turn, unless the promise has been dropped by then. The user is
  // charged the processor time until it returns.
  kj::Promise<void> inTurn(Call call);

  // One of those of a kind that may be under way, until it is dropped.
  kj::Promise<kj::Own<Seat>> seat(SeatKind kind, uint64_t bytes);

  // A connection has been made, or is gone. False where there are too many.
  bool addConnection();
  void removeConnection() { --connections_; }

  // Whether something may be read of the user's connections; and when it may.
  bool mayRead() const;
  kj::Promise<void> untilMayRead();
  // So many bytes have been read.
  void hasRead(uint64_t bytes) { readBytes_ += bytes; }

  // A read of so many bytes has to wait for one of these, and to hold it meanwhile.
  bool isLarge(uint64_t bytes) const { return bytes > all_->bounds_.largeRead; }
  kj::Promise<kj::Own<LargeRead>> largeRead(uint64_t bytes);

 private:
  friend class FairCalls;
  struct SeatWanted {
    uint64_t bytes;
    kj::Own<kj::PromiseFulfiller<kj::Own<Seat>>> given;
  };

  kj::Own<FairCalls> all_;
  const std::string name_;
  size_t connections_ = 0;
  // Reading that has stopped may go on.
  bool mayGoOn() const;

  size_t turns_ = 0;    // calls that wait for their turn
  size_t waiting_ = 0;  // those, and the calls that wait for a seat
  uint64_t readBytes_ = 0;
  struct Seats {
    size_t taken = 0;
    uint64_t bytes = 0;
    std::list<SeatWanted> wanted;
  };
  Seats& seatsOf(SeatKind kind) { return seats_[static_cast<size_t>(kind)]; }

  std::array<Seats, 3> seats_;  // by kind
  std::list<kj::Own<kj::PromiseFulfiller<void>>> toRead_;
  bool isReadingLarge_ = false;
  struct LargeReadWanted {
    uint64_t bytes;
    kj::Own<kj::PromiseFulfiller<kj::Promise<kj::Own<LargeRead>>>> given;
  };
  kj::Promise<kj::Own<LargeRead>> giveLargeRead(uint64_t bytes);

  std::list<LargeReadWanted> toReadLarge_;
};

// Outlive neither the calls nor the connection that they are for.
class FairCalls::Seat final {
 public:
  Seat(kj::Own<User> user, SeatKind kind, uint64_t bytes);
  ~Seat() noexcept(false);
  KJ_DISALLOW_COPY(Seat);

 private:
  kj::Own<User> user_;
  const SeatKind kind_;
  const uint64_t bytes_;
};

class FairCalls::LargeRead final {
 public:
  explicit LargeRead(kj::Own<User> user);
  ~LargeRead() noexcept(false);
  KJ_DISALLOW_COPY(LargeRead);

 private:
  kj::Own<User> user_;
};

}  // namespace tarcil
