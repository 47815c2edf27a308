// Keeps those who are refused from filling the log: of what a user is refused, or granted without an effect,
// for one reason within a second there are two entries at most: the first at once, and one for the others.
#pragma once

#include <chrono>
#include <compare>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "audit/logic/entry.h"

namespace tarcil::audit {

// Pure; on the clock of its caller.
class Refusals {
 public:
  static constexpr Duration kPeriod = std::chrono::seconds(1);
  // That are told apart within a second; what comes beyond is counted as one, under no name.
  static constexpr size_t kMaxKinds = 256;

  // The entry where it is to be written now.
  std::optional<Entry> take(Entry entry, MonotonicTime now);

  // Entries for what was only counted, of seconds that are over.
  std::vector<Entry> takeDue(MonotonicTime now);
  std::optional<MonotonicTime> nextDue() const;

 private:
  struct Kind {
    std::string user, action, outcome;

    auto operator<=>(const Kind&) const = default;
  };
  struct Counted {
    std::optional<Entry> latest;  // of those that were not written; its count is theirs
  };

  std::optional<MonotonicTime> until_;  // the end of the second
  std::map<Kind, Counted> kinds_;
};

}  // namespace tarcil::audit
