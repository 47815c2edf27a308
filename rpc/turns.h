// When it is whose turn on an event loop. On that of a role, which looks again and again for what has come
// (deploy/roles/role.cc), both come in time however much there is to do. Of kj::evalLast alone whoever asked
// last comes first, and nobody as long as there is something to do: beside a user who asked on and on,
// answers to others waited for seconds (docs/benchmarks.md).
#pragma once

#include <kj/async.h>
#include <kj/timer.h>

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

}  // namespace tarcil
