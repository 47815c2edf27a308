// Those who wait for something to happen once. A wait that is dropped leaves nothing behind, however often
// somebody waits anew.
#pragma once

#include <kj/async.h>

#include <map>

namespace tarcil {

// By what they wait for. Single-threaded.
template <typename Key>
class WaitList final {
 public:
  // Resolves with the next happened() of the key.
  kj::Promise<void> wait(const Key& key) {
    auto [found, isNew] = awaited_.try_emplace(key);
    if (isNew) {
      auto pair = kj::newPromiseAndFulfiller<void>();
      found->second = {kj::mv(pair.fulfiller), pair.promise.fork()};
    }
    return found->second.promise.addBranch();
  }

  void happened(const Key& key) {
    if (const auto awaited = awaited_.extract(key)) awaited.mapped().fulfiller->fulfill();
  }

 private:
  struct Awaited {
    kj::Own<kj::PromiseFulfiller<void>> fulfiller;
    kj::ForkedPromise<void> promise = nullptr;
  };

  std::map<Key, Awaited> awaited_;
};

}  // namespace tarcil
