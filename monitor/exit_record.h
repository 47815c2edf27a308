// The file `exit` that tarcil-shim leaves (format: shim/exit_record.h), as the end of a task.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/model/launch.h"

namespace tarcil {

// nullopt for anything but a whole record. `memoryLimit`: bytes, 0 for none; named when the task ran out of
// memory.
std::optional<TaskEnd> parseExitRecord(std::string_view text, uint64_t memoryLimit);

// The record of a task whose end nobody saw.
std::string lostRecord(WallTime started, const std::string& problem);

// The file `started`: microseconds since 1970. kNever for anything else.
WallTime parseStarted(std::string_view text);

}  // namespace tarcil
