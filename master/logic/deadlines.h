// Deadlines by key, the earliest first.
#pragma once

#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/ids.h"
#include "core/base/time.h"
#include "core/state/server.h"

namespace tarcil::master {

template <typename Key>
class DeadlinesOf {
 public:
  // Replaces the deadline of this key.
  void set(Key key, MonotonicTime when) {
    clear(key);
    of_.emplace(key, when);
    ordered_.emplace(when, key);
  }
  void clear(Key key) {
    const auto found = of_.find(key);
    if (found == of_.end()) return;
    ordered_.erase({found->second, key});
    of_.erase(found);
  }
  size_t size() const { return of_.size(); }
  std::optional<MonotonicTime> of(Key key) const {
    const auto found = of_.find(key);
    return found == of_.end() ? std::nullopt : std::optional(found->second);
  }
  std::optional<MonotonicTime> next() const {
    return ordered_.empty() ? std::nullopt : std::optional(ordered_.begin()->first);
  }
  // Removes and returns the first key whose deadline has passed.
  std::optional<Key> takeFirstDue(MonotonicTime now) {
    if (ordered_.empty() || ordered_.begin()->first > now) return std::nullopt;
    const Key due = ordered_.begin()->second;
    clear(due);
    return due;
  }
  // Removes and returns the keys whose deadline has passed.
  std::vector<Key> takeDue(MonotonicTime now) {
    std::vector<Key> due;
    while (const std::optional<Key> first = takeFirstDue(now)) due.push_back(*first);
    return due;
  }

 private:
  std::unordered_map<Key, MonotonicTime> of_;
  std::set<std::pair<MonotonicTime, Key>> ordered_;
};

using Deadlines = DeadlinesOf<ServerId>;

}  // namespace tarcil::master
