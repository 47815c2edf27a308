#include "rpc/visitors.h"

#include <arpa/inet.h>
#include <kj/debug.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "rpc/errors.h"
#include "rpc/stream_around.h"

namespace tarcil {
namespace {

// In place of the address of a peer that has left again already.
constexpr const char* kGone = "gone";

}  // namespace

std::string addressOf(kj::AsyncIoStream& stream) {
  sockaddr_storage peer{};
  socklen_t size = sizeof peer;
  KJ_IF_MAYBE (fd, stream.getFd()) {
    if (::getpeername(*fd, reinterpret_cast<sockaddr*>(&peer), &size) != 0) return kGone;
  }
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (peer.ss_family == AF_INET) {
    ::inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in&>(peer).sin_addr, text.data(), text.size());
  } else if (peer.ss_family == AF_INET6) {
    ::inet_ntop(AF_INET6, &reinterpret_cast<const sockaddr_in6&>(peer).sin6_addr, text.data(), text.size());
  }
  return text.data();
}

// Shared by the stream, LetIn and the promise, each of which may be the last to go.
struct Visitors::Visitor final : kj::Refcounted {
  Visitor(Visitors& of, std::string from) : all(&of), address(std::move(from)) {
    place = all->visitors_.insert(all->visitors_.end(), this);
    ++all->ofAddress_[address];
  }
  ~Visitor() noexcept(false) override {
    leave();
    KJ_IF_MAYBE (known, user) {
      (*known)->removeConnection();
    }
  }

  // Counts no more, whether it was let in, sent away, or has gone.
  void leave() {
    if (all == nullptr) return;
    all->visitors_.erase(place);
    if (const auto found = all->ofAddress_.find(address); --found->second == 0) all->ofAddress_.erase(found);
    all = nullptr;
  }
  void letIn(Peer as, kj::Maybe<FairCalls::User&> whose, kj::Promise<void> until) {
    if (logins == kMaxLogins) {
      kj::throwFatalException(toException(
          {ErrorCode::kExhausted, "this connection has logged in as often as one may; make another one"}));
    }
    ++logins;
    loginsEnded = loginsEnded
                      .exclusiveJoin(until.catch_([](kj::Exception&&) {}).then([this]() {
                        sendAway("a login has ended");
                      }))
                      .eagerlyEvaluate(nullptr);
    if (isIn) return;
    KJ_IF_MAYBE (known, whose) {
      if (!known->addConnection()) {
        kj::throwFatalException(toException(
            {ErrorCode::kExhausted,
             "user " + known->name() + " has as many connections here as a user may have; close some"}));
      }
      user = kj::addRef(*known);
    }
    isIn = true;
    leave();
    in.fulfiller->fulfill();
    if (as == Peer::kRole) role.fulfiller->fulfill();
  }
  // A message is several reads, for which one turn does.
  kj::Promise<void> turn() {
    if (all == nullptr || heardIn == all->turns_.round()) return kj::READY_NOW;
    return all->turns_.take().then([this]() {
      if (all != nullptr) heardIn = all->turns_.round();
    });
  }
  void sendAway(const char* why) {
    leave();
    sentAway.fulfiller->reject(KJ_EXCEPTION(DISCONNECTED, why));
  }

  Visitors* all;  // null once it does not count
  const std::string address;
  std::list<Visitor*>::iterator place;
  bool isIn = false;
  size_t logins = 0;
  kj::Promise<void> loginsEnded = kj::NEVER_DONE;
  kj::Maybe<kj::Own<FairCalls::User>> user;  // who is in; nobody where it is a role
  size_t read = 0;
  uint64_t heardIn = 0;  // the round of turns, from 1 on
  kj::PromiseFulfillerPair<void> in = kj::newPromiseAndFulfiller<void>();
  kj::ForkedPromise<void> whenIn = in.promise.fork();
  kj::PromiseFulfillerPair<void> role = kj::newPromiseAndFulfiller<void>();
  kj::PromiseFulfillerPair<void> sentAway = kj::newPromiseAndFulfiller<void>();
};

class Visitors::Stream final : public StreamAround {
 public:
  Stream(kj::Own<kj::AsyncIoStream> inner, kj::Own<Visitor> visitor)
      : StreamAround(kj::mv(inner)), visitor_(kj::mv(visitor)) {}

  kj::Promise<size_t> tryRead(void* to, size_t least, size_t most) override {
    if (visitor_->isIn) return tryReadOfUser(to, least, most);
    const size_t left = kMaxVisitorBytes - visitor_->read;
    if (left == 0) {
      return visitor_->whenIn.addBranch().then(
          [this, to, least, most]() { return tryRead(to, least, most); });
    }
    const size_t now = std::min(least, left);
    return inner_->tryRead(to, now, std::min(most, left))
        .then(
            [visitor = visitor_.get()](size_t got) { return visitor->turn().then([got]() { return got; }); })
        .then([this, to, least, most, now](size_t got) -> kj::Promise<size_t> {
          visitor_->read += got;
          if (got < now || got >= least) return got;  // the peer has ended; it is enough
          return tryRead(static_cast<kj::byte*>(to) + got, least - got, most - got).then([got](size_t more) {
            return got + more;
          });
        });
  }

  kj::Promise<void> write(const void* data, size_t size) override { return inner_->write(data, size); }
  kj::Promise<void> write(kj::ArrayPtr<const kj::ArrayPtr<const kj::byte>> pieces) override {
    return inner_->write(pieces);
  }
  void shutdownWrite() override { inner_->shutdownWrite(); }

 private:
  kj::Promise<size_t> tryReadOfUser(void* to, size_t least, size_t most) {
    KJ_IF_MAYBE (known, visitor_->user) {
      FairCalls::User& user = **known;
      if (!user.mayRead()) {
        return user.untilMayRead().then([this, to, least, most]() { return tryReadOfUser(to, least, most); });
      }
      if (user.isLarge(least)) {
        return user.largeRead(least).then(
            [this, &user, to, least, most](kj::Own<FairCalls::LargeRead>&& turn) {
              return counted(user, inner_->tryRead(to, least, most)).attach(kj::mv(turn));
            });
      }
      return counted(user, inner_->tryRead(to, least, most));
    }
    return inner_->tryRead(to, least, most);
  }

  static kj::Promise<size_t> counted(FairCalls::User& user, kj::Promise<size_t> reading) {
    return reading.then([&user](size_t read) {
      user.hasRead(read);
      return read;
    });
  }

  kj::Own<Visitor> visitor_;
};

Visitors::~Visitors() noexcept(false) {
  for (Visitor* visitor : visitors_) visitor->all = nullptr;
}

Visitors::Admission Visitors::admit(kj::Own<kj::AsyncIoStream> stream, const std::string& from,
                                    std::shared_ptr<const PeerName> peer) {
  makeRoom(from);
  auto visitor = kj::refcounted<Visitor>(*this, from);
  auto late =
      timer_.afterDelay(kLoginTime).then([self = kj::addRef(*visitor)]() mutable -> kj::Promise<void> {
        if (self->isIn) return kj::NEVER_DONE;
        return KJ_EXCEPTION(DISCONNECTED, "a peer did not log in in time");
      });
  auto sentAway = kj::mv(visitor->sentAway.promise);
  auto isRole = kj::mv(visitor->role.promise);
  // std::function copies what it holds.
  auto shared = std::make_shared<kj::Own<Visitor>>(kj::addRef(*visitor));
  return {kj::heap<Stream>(kj::mv(stream), kj::mv(visitor)),
          LetIn([shared](Peer as, kj::Maybe<FairCalls::User&> user,
                         kj::Promise<void> until) { (*shared)->letIn(as, user, kj::mv(until)); },
                std::move(peer)),
          late.exclusiveJoin(kj::mv(sentAway)), kj::mv(isRole)};
}

void Visitors::makeRoom(const std::string& address) {
  if (!address.empty()) {
    const auto found = ofAddress_.find(address);
    if (found != ofAddress_.end() && found->second >= kMaxVisitorsOfAddress) {
      (*std::ranges::find(visitors_, address, &Visitor::address))
          ->sendAway("too many peers of its address have not logged in");
    }
  }
  if (visitors_.size() >= kMaxVisitors) {
    visitors_.front()->sendAway("too many peers have not logged in");
  }
}

}  // namespace tarcil
