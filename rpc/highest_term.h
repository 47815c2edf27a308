// The highest term of a leading master that a process has heard of (docs/masters.md). A master that answers
// with an earlier one does not lead any more, and does not know it yet.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "core/base/result.h"

namespace tarcil {

class HighestTerm final {
 public:
  // Of the master at this address; 0 where it is the only one, and has none. Unavailable, with nothing
  // changed, where another one has led since.
  Status take(uint64_t term, const std::string& address) {
    if (term != 0 && term < highest_) {
      return Error{ErrorCode::kUnavailable, "the master at " + address + " answers for term " +
                                                std::to_string(term) + ", and another has led since (term " +
                                                std::to_string(highest_) + ")"};
    }
    hear(term);
    return {};
  }
  // That one leads in this term, wherever.
  void hear(uint64_t term) { highest_ = std::max(highest_, term); }
  // 0: of none.
  uint64_t term() const { return highest_; }

 private:
  uint64_t highest_ = 0;
};

}  // namespace tarcil
