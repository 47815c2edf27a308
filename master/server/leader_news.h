// Who waits to hear that a later master leads: MasterGate.laterLeader.
#pragma once

#include <kj/async.h>

#include <algorithm>
#include <cstdint>

#include "rpc/wait_list.h"

namespace tarcil {

// Single-threaded. Outlives the promises that it gives.
class LeaderNews final {
 public:
  // Resolves with the term of a leader that is later than this one, at once where one is known; or of this
  // master when it begins to serve.
  kj::Promise<uint64_t> laterThan(uint64_t term) {
    if (serves_ || term_ > term) return term_;
    return waiting_.wait(0).then([this, term]() { return laterThan(term); });
  }

  // One leads in this term.
  void note(uint64_t term) {
    if (term <= term_) return;
    term_ = term;
    waiting_.happened(0);
  }
  // This one does, and lets peers in.
  void serves(uint64_t term) {
    serves_ = true;
    term_ = std::max(term_, term);
    waiting_.happened(0);
  }

 private:
  uint64_t term_ = 0;
  bool serves_ = false;
  WaitList<int> waiting_;
};

}  // namespace tarcil
