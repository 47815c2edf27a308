// Servers for which something is due at some time.
#pragma once

#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/ids.h"
#include "core/base/time.h"

namespace tarcil::master {

class Deadlines {
 public:
  // Replaces an earlier time of the server.
  void set(ServerId server, MonotonicTime when) {
    clear(server);
    of_.emplace(server, when);
    ordered_.emplace(when, server);
  }
  void clear(ServerId server) {
    const auto found = of_.find(server);
    if (found == of_.end()) return;
    ordered_.erase({found->second, server});
    of_.erase(found);
  }
  size_t size() const { return of_.size(); }
  std::optional<MonotonicTime> next() const {
    return ordered_.empty() ? std::nullopt : std::optional(ordered_.begin()->first);
  }
  // Those whose time has come; they have none any more.
  std::vector<ServerId> takeDue(MonotonicTime now) {
    std::vector<ServerId> due;
    while (!ordered_.empty() && ordered_.begin()->first <= now) {
      due.push_back(ordered_.begin()->second);
      clear(due.back());
    }
    return due;
  }

 private:
  std::unordered_map<ServerId, MonotonicTime> of_;
  std::set<std::pair<MonotonicTime, ServerId>> ordered_;
};

}  // namespace tarcil::master
