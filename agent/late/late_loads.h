// How much late-bound jobs an agent holds, of each user and in all. Nothing of it is committed in advance, so
// the master's bounds do not count it.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>

#include "core/base/result.h"

namespace tarcil {

struct LateLoad {
  size_t tasks = 0;
  size_t taskServers = 0;  // pairs of a task and a server, where tasks prefer servers (task_servers.h)
  size_t bytes = 0;        // of what the tasks run

  bool operator==(const LateLoad&) const = default;
};

// What an agent holds at most unless told otherwise: some gigabytes of memory.
inline constexpr LateLoad kMaxLateLoad = {
    .tasks = 2'000'000, .taskServers = 20'000'000, .bytes = size_t{1} << 30};

// Of the most, one user may have half: whoever takes all of theirs shuts out nobody. Single-threaded.
class LateLoads final {
 public:
  explicit LateLoads(const LateLoad& most) : most_(most) {}

  // Exhausted where there is no room for this too.
  Status check(const std::string& user, const LateLoad& more) const;
  void add(const std::string& user, const LateLoad& load);
  // Requires: it was added.
  void remove(const std::string& user, const LateLoad& load);

  const LateLoad& all() const { return all_; }

 private:
  const LateLoad most_;
  LateLoad all_;
  std::unordered_map<std::string, LateLoad> ofUser_;  // none is empty
};

}  // namespace tarcil
