// When it is whose turn on an event loop. On that of a role, which looks again and again for what has come
// (deploy/roles/role.cc), both come in time however much there is to do. Of kj::evalLast alone whoever asked
// last comes first, and nobody as long as there is something to do: beside a user who asked on and on,
// answers to others waited for seconds (docs/benchmarks.md).
#pragma once

#include <kj/async.h>
#include <kj/timer.h>

#include <cstddef>
#include <cstdint>
#include <deque>

namespace tarcil {

// For what gathers, to leave or to be written together: resolves when the event loop has nothing else to do,
// and at the latest a millisecond after the last look.
inline kj::Promise<void> untilIdle(kj::Timer& timer) {
  return kj::evalLast([]() {}).exclusiveJoin(timer.afterDelay(1 * kj::MILLISECONDS));
}

// For work that is done in parts: resolves when the event loop has looked for what has come, and has dealt
// with that for as long as above.
inline kj::Promise<void> nextTurn(kj::Timer& timer) {
  return timer.afterDelay(0 * kj::SECONDS).then([&timer]() { return untilIdle(timer); });
}

// For the same kind of work of many who do not know of one another: so many of them at once, the others at
// later turns in the order in which they came. Single-threaded. `timer` outlives it.
class Turns final {
 public:
  Turns(kj::Timer& timer, size_t atOnce) : timer_(timer), atOnce_(atOnce), left_(atOnce) {}
  KJ_DISALLOW_COPY(Turns);

  // Resolves when it is the caller's turn.
  kj::Promise<void> take();

  // Changes when it is the next ones' turn.
  uint64_t round() const { return round_; }

 private:
  kj::Promise<void> giveNext();

  kj::Timer& timer_;
  const size_t atOnce_;
  size_t left_;
  uint64_t round_ = 1;
  std::deque<kj::Own<kj::PromiseFulfiller<void>>> waiting_;
  bool isGiving_ = false;
  kj::Promise<void> giving_ = nullptr;
};

}  // namespace tarcil
