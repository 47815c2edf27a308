#include "rpc/link.h"

#include <kj/debug.h>

#include <algorithm>

#include "rpc/errors.h"

namespace tarcil {
namespace {

constexpr auto kFirstPause = 20 * kj::MILLISECONDS;
constexpr auto kMaxPause = 1 * kj::SECONDS;
constexpr auto kMaxPauseOfSeveral = 400 * kj::MILLISECONDS;
// Whom an attempt is under way with when another has told that it changed has so long to answer.
constexpr auto kAnswerAfterNews = 200 * kj::MILLISECONDS;
// While the link stands, until another peer is listened to where one could not be.
constexpr auto kBetweenListeners = 1 * kj::SECONDS;

// What peers say that could not be attached to.
class Listeners final {
 public:
  explicit Listeners(size_t peers) : listeners_(peers) { forget(); }

  // To the peer of this index, until it is dropped. `says`: it takes attachments, or knows of another that
  // does.
  void listen(size_t peer, kj::Promise<void> says) {
    listeners_[peer] = kj::heap(says.then(
                                        [this]() {
                                          isNews_ = true;
                                          tells_->fulfill();
                                        },
                                        [](kj::Exception&&) {})
                                    .eagerlyEvaluate(nullptr));
  }
  void drop(size_t peer) { listeners_[peer] = nullptr; }
  void dropAll() {
    for (auto& listener : listeners_) listener = nullptr;
    forget();
  }

  // Whether one has said so, and when one does.
  bool isNews() const { return isNews_; }
  kj::Promise<void> news() { return news_.addBranch(); }
  // What was said until now.
  void forget() {
    auto news = kj::newPromiseAndFulfiller<void>();
    tells_ = kj::mv(news.fulfiller);
    news_ = news.promise.fork();
    isNews_ = false;
  }

 private:
  std::vector<kj::Own<kj::Promise<void>>> listeners_;  // null: to none there
  kj::Own<kj::PromiseFulfiller<void>> tells_;
  kj::ForkedPromise<void> news_ = nullptr;
  bool isNews_ = false;
};

class Link final {
 public:
  Link(Net net, std::vector<std::string> addresses, Rng rng, Attach attach, Lost lost, Expected whom,
       kj::Maybe<Changed> changed)
      : net_(net),
        addresses_(std::move(addresses)),
        rng_(rng),
        whom_(std::move(whom)),
        attach_(kj::mv(attach)),
        lost_(kj::mv(lost)),
        changed_(addresses_.size() > 1 ? kj::mv(changed) : nullptr),
        listeners_(addresses_.size()) {}

  kj::Promise<void> run() {
    return tryOnce(addresses_[next_])
        .catch_([this](kj::Exception&& exception) { lost_(fromException(exception), addresses_[next_]); })
        .then([this]() { return pause(); })
        .then([this]() { return run(); });
  }

 private:
  // Ends, always with an exception, when the connection is lost.
  kj::Promise<void> tryOnce(const std::string& address) {
    listeners_.drop(next_);
    return connect(net_, address, whom_)
        .then([this, &address](kj::Own<Connection>&& connection) {
          connection_ = kj::mv(connection);
          return attach_(connection_->bootstrap(), address);
        })
        .exclusiveJoin(heardNews())
        .then([this, &address](Attached&& attached) { return untilLost(kj::mv(attached), address); },
              [this, &address](kj::Exception&& exception) -> kj::Promise<void> {
                if (connection_.get() != nullptr && changed_ != nullptr) {
                  auto says = saysItChanged(*connection_, address, false);
                  listeners_.listen(next_, says.attach(kj::mv(connection_)));
                }
                return kj::mv(exception);
              })
        .attach(kj::defer([this]() { connection_ = nullptr; }));
  }

  // Of the round that goes on: another one is to be tried. Whoever is alive answers before that.
  kj::Promise<Attached> heardNews() {
    return listeners_.news()
        .then([this]() { return net_.timer.afterDelay(kAnswerAfterNews); })
        .then([this]() -> Attached {
          useless_ = next_;
          kj::throwFatalException(toException({ErrorCode::kUnavailable, "another one is to be tried"}));
        });
  }

  kj::Promise<void> untilLost(Attached attached, const std::string& address) {
    listeners_.dropAll();
    // A call may be the first to see that the connection has ended.
    auto fault = attached.fault.catch_([](kj::Exception&& exception) -> kj::Promise<void> {
      if (exception.getType() == kj::Exception::Type::DISCONNECTED) return kj::READY_NOW;
      return kj::mv(exception);
    });
    auto ended = connection_->onDisconnect().exclusiveJoin(kj::mv(fault)).then([&address]() {
      return Error{ErrorCode::kUnavailable, address + " closed the connection"};
    });
    if (changed_ != nullptr) ended = ended.exclusiveJoin(untilChanged(address));
    return ended.then([this](Error&& why) {
      useless_ = next_;
      pause_ = kFirstPause;
      triedInRow_ = 0;
      kj::throwFatalException(toException(why));
    });
  }

  // While the link stands: by whoever of the others can say.
  kj::Promise<Error> untilChanged(const std::string& address) {
    return untilChanged(following(next_)).then([&address]() {
      return Error{ErrorCode::kUnavailable, "another one has followed on " + address};
    });
  }

  kj::Promise<void> untilChanged(size_t at) {
    const std::string& address = addresses_[at];
    return connect(net_, address, whom_)
        .then([this, &address](kj::Own<Connection>&& connection) {
          auto gone = connection->onDisconnect().then(
              []() { kj::throwFatalException(KJ_EXCEPTION(DISCONNECTED, "whom it listened to is gone")); });
          return saysItChanged(*connection, address, true)
              .exclusiveJoin(kj::mv(gone))
              .attach(kj::mv(connection));
        })
        .catch_([this, at](kj::Exception&&) {
          return net_.timer.afterDelay(withoutAPart(kBetweenListeners)).then([this, at]() {
            return untilChanged(following(at));
          });
        });
  }

  // The index that follows, but for that of the one that is tried or linked to.
  size_t following(size_t at) const {
    const size_t other = (at + 1) % addresses_.size();
    return other == next_ ? (other + 1) % addresses_.size() : other;
  }

  kj::Promise<void> saysItChanged(Connection& connection, const std::string& address, bool isAttached) {
    return kj::evalNow([this, &connection, &address, isAttached]() {
      return KJ_ASSERT_NONNULL(changed_)(connection.bootstrap(), address, isAttached);
    });
  }

  // Before the next address is tried: after news from the one behind that which was of no use last.
  kj::Promise<void> pause() {
    next_ = (next_ + 1) % addresses_.size();
    if (++triedInRow_ % addresses_.size() != 0 && !listeners_.isNews()) return kj::READY_NOW;
    const auto least = withoutAPart(kFirstPause);
    const auto pause = std::max(least, withoutAPart(pause_));
    pause_ = std::min(pause_ * 2, addresses_.size() == 1 ? kMaxPause : kMaxPauseOfSeveral);
    return net_.timer.afterDelay(least)
        .then([this, rest = net_.timer.afterDelay(pause)]() mutable {
          return listeners_.news().exclusiveJoin(kj::mv(rest));
        })
        .then([this]() {
          if (!listeners_.isNews()) return;
          listeners_.forget();
          next_ = (useless_ + 1) % addresses_.size();
          triedInRow_ = 0;
          pause_ = kFirstPause;
        });
  }

  // So that peers do not come all at once.
  kj::Duration withoutAPart(kj::Duration pause) {
    const auto half = static_cast<uint64_t>(pause / 2 / kj::NANOSECONDS);
    return pause - static_cast<int64_t>(rng_.below(half + 1)) * kj::NANOSECONDS;
  }

  Net net_;
  const std::vector<std::string> addresses_;
  Rng rng_;
  const Expected whom_;
  Attach attach_;
  Lost lost_;
  kj::Maybe<Changed> changed_;
  kj::Own<Connection> connection_;  // to the address that is tried or linked to
  Listeners listeners_;
  size_t useless_ = 0;  // index of who was linked to last, or did not answer
  size_t next_ = 0;     // of the addresses
  size_t triedInRow_ = 0;
  kj::Duration pause_ = kFirstPause;
};

}  // namespace

kj::Promise<void> keepLinked(Net net, std::vector<std::string> addresses, Rng rng, Attach attach, Lost lost,
                             Expected whom, kj::Maybe<Changed> changed) {
  auto link = kj::heap<Link>(net, std::move(addresses), rng, kj::mv(attach), kj::mv(lost), std::move(whom),
                             kj::mv(changed));
  auto running = link->run();
  return running.attach(kj::mv(link));
}

}  // namespace tarcil
