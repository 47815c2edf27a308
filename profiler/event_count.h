// Counts an event of the processor or the kernel for all that a process starts (perf_event_open).
#pragma once

#include <cstdint>
#include <optional>

#include "core/base/result.h"

namespace tarcil {

// perf_event_attr::type and ::config.
struct CountedEvent {
  uint32_t type = 0;
  uint64_t config = 0;
};

// Instructions. PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS.
inline constexpr CountedEvent kInstructions{0, 1};

// A descriptor, close-on-exec, of an event that is counted in user mode only: what the kernel does for a
// process grows when it waits in vain, and needs no rights. It counts what the children that the calling
// process forks from now on do, and theirs, from the first program that each executes. The caller's to close.
// NotFound, with the kernel's reason: nobody can count it here.
Result<int> countOfChildren(const CountedEvent& event);

// So far, also of those that have ended; scaled up where the kernel took turns between more events than the
// processor can count. nullopt: it had no turn yet, or cannot be read.
std::optional<double> readCount(int count);

// Whether countOfChildren would succeed now.
Status countable(const CountedEvent& event);

}  // namespace tarcil
