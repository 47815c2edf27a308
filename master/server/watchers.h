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

// Bounded: callers beyond the bound are told to try again later; callers that have gone do not
// count. Single-threaded.
template <typename Key>
class Watchers final {
 public:
  explicit Watchers(size_t most = 20'000) : most_(most) {}

  // Done with the next wake() of the key. Fails as Exhausted where too many wait already.
  kj::Promise<void> add(const Key& key) {
    if (waiting_.size() >= most_) dropGone();
    if (waiting_.size() >= most_) {
      return toException(
          {ErrorCode::kExhausted,
           std::to_string(waiting_.size()) + " callers wait for changes, as many as may; " + kTryAgain});
    }
    auto pair = kj::newPromiseAndFulfiller<void>();
    waiting_.emplace(key, kj::mv(pair.fulfiller));
    return kj::mv(pair.promise);
  }

  void wake(const Key& key) {
    auto [begin, end] = waiting_.equal_range(key);
    std::vector<kj::Own<kj::PromiseFulfiller<void>>> ready;
    for (auto it = begin; it != end; ++it) ready.push_back(kj::mv(it->second));
    waiting_.erase(begin, end);
    for (auto& fulfiller : ready) fulfiller->fulfill();
  }

 private:
  void dropGone() {
    for (auto it = waiting_.begin(); it != waiting_.end();) {
      it = it->second->isWaiting() ? std::next(it) : waiting_.erase(it);
    }
  }

  const size_t most_;
  std::unordered_multimap<Key, kj::Own<kj::PromiseFulfiller<void>>> waiting_;
};

}  // namespace tarcil
