// Callers that wait for the next change of something.
#pragma once

#include <kj/async.h>

#include <iterator>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "rpc/errors.h"

namespace tarcil {

// In all, and of one user: who takes every place of theirs takes nobody else's.
struct WatcherBounds {
  size_t inAll = 20'000;
  size_t ofUser = 5'000;
};

// Callers beyond the bounds are told to try again later; callers that have gone do not count.
// Single-threaded.
template <typename Key>
class Watchers final {
 public:
  explicit Watchers(WatcherBounds most = {}) : most_(most) {}

  // Done with the next wake() of the key. Fails as Exhausted where too many wait already.
  kj::Promise<void> add(const Key& key, const std::string& user) {
    if (isFull(user)) dropGone();
    if (isFull(user)) {
      const bool isInAll = waiting_.size() >= most_.inAll;
      return toException({ErrorCode::kExhausted, std::to_string(isInAll ? most_.inAll : most_.ofUser) +
                                                     " callers" + (isInAll ? "" : " of " + user) +
                                                     " wait for changes, as many as may; " + kTryAgain});
    }
    auto pair = kj::newPromiseAndFulfiller<void>();
    waiting_.emplace(key, Watcher{kj::mv(pair.fulfiller), user});
    ++ofUser_[user];
    return kj::mv(pair.promise);
  }

  void wake(const Key& key) {
    auto [begin, end] = waiting_.equal_range(key);
    std::vector<kj::Own<kj::PromiseFulfiller<void>>> ready;
    for (auto it = begin; it != end; it = erase(it)) ready.push_back(kj::mv(it->second.fulfiller));
    for (auto& fulfiller : ready) fulfiller->fulfill();
  }

 private:
  struct Watcher {
    kj::Own<kj::PromiseFulfiller<void>> fulfiller;
    std::string user;
  };
  using Waiting = std::unordered_multimap<Key, Watcher>;

  bool isFull(const std::string& user) const {
    const auto found = ofUser_.find(user);
    return waiting_.size() >= most_.inAll || (found != ofUser_.end() && found->second >= most_.ofUser);
  }

  void dropGone() {
    for (auto it = waiting_.begin(); it != waiting_.end();) {
      it = it->second.fulfiller->isWaiting() ? std::next(it) : erase(it);
    }
  }

  typename Waiting::iterator erase(typename Waiting::iterator it) {
    if (const auto count = ofUser_.find(it->second.user); --count->second == 0) ofUser_.erase(count);
    return waiting_.erase(it);
  }

  const WatcherBounds most_;
  Waiting waiting_;
  std::unordered_map<std::string, size_t> ofUser_;
};

}  // namespace tarcil
