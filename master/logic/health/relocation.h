// Degraded tasks that start again on another server, where they get enough more of their best
// performance (docs/protocol.md).
#pragma once

#include "master/logic/health/violation_case.h"

namespace tarcil::master {

// What keeps a task from performing as expected: others on its server, or that it uses up its own cores
// or memory.
enum class Bottleneck : uint8_t { kInterference, kCores, kMemory };

// Ends the task, so that it starts again on a better server. False, and nothing is done, where its job does
// not allow that, it was moved as often as may be, or no server looked at is enough better.
bool relocate(ViolationCase& violation, Bottleneck bottleneck);

// To be called when an attempt is over: a task that was ended to have more units elsewhere starts there, if
// they are still free for it.
void startRelocated(EventContext& context, Job& job, TaskIndex task);

}  // namespace tarcil::master
