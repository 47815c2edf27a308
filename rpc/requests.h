// Requests that a logic class answers later: numbers to put into events, promises to wait on.
#pragma once

#include <kj/async.h>

#include <cstdint>
#include <unordered_map>

namespace tarcil {

// Single-threaded. Numbers are given from one counter, so several tables may share it.
template <typename T>
class Requests final {
 public:
  explicit Requests(uint64_t& counter) : counter_(counter) {}

  struct Pending {
    uint64_t number;
    kj::Promise<T> promise;
  };

  Pending add() {
    auto paf = kj::newPromiseAndFulfiller<T>();
    const uint64_t number = ++counter_;
    waiting_.emplace(number, kj::mv(paf.fulfiller));
    return {number, kj::mv(paf.promise)};
  }

  // Nothing happens for a number that is not waiting.
  void fulfill(uint64_t number, T&& value) {
    if (auto it = waiting_.find(number); it != waiting_.end()) {
      it->second->fulfill(kj::mv(value));
      waiting_.erase(it);
    }
  }

 private:
  uint64_t& counter_;
  std::unordered_map<uint64_t, kj::Own<kj::PromiseFulfiller<T>>> waiting_;
};

}  // namespace tarcil
