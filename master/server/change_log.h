// Which jobs and servers have changed, and in which order: for those who keep a copy of the state
// (UserPort.changes).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <variant>
#include <vector>

#include "core/base/ids.h"
#include "core/state/server.h"

namespace tarcil {

// Only the last change of each job and server is remembered, and of the oldest none: kMaxChanges in all.
// Pure.
class ChangeLog final {
 public:
  static constexpr size_t kMaxChanges = 100'000;

  using What = std::variant<JobId, ServerId>;
  struct Change {
    uint64_t number = 0;
    What what;
  };

  // `instance` tells the numbers of this log from those of others, and is not 0.
  explicit ChangeLog(uint64_t instance, size_t most = kMaxChanges) : instance_(instance), most_(most) {}

  uint64_t instance() const { return instance_; }
  // Of the last change; 0 where there was none.
  uint64_t last() const { return last_; }

  // O(log of what is remembered).
  void add(const What& what);

  // What has changed behind this number, by number, so many at most; nullopt where some of it is forgotten,
  // or the number has not been given.
  std::optional<std::vector<Change>> behind(uint64_t number, size_t atMost) const;

 private:
  struct HashOfWhat {
    size_t operator()(const What& what) const;
  };

  const uint64_t instance_;
  const size_t most_;
  uint64_t last_ = 0;
  uint64_t forgotten_ = 0;  // up to this number some may be
  std::map<uint64_t, What> changes_;
  std::unordered_map<What, uint64_t, HashOfWhat> numbers_;
};

}  // namespace tarcil
