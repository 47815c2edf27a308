// The file `exit` that tarcil-shim leaves (format: shim/exit_record.h), as the end of a task.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/model/launch.h"

namespace tarcil {

// nullopt for anything but a whole record.
std::optional<TaskEnd> parseExitRecord(std::string_view text);

// Adds to what is said of the end for people.
void addProblem(TaskEnd& end, std::string_view text);

// The record of a task whose end nobody saw.
std::string lostRecord(WallTime started, const std::string& problem);

// The file `started`: microseconds since 1970. kNever for anything else.
WallTime parseStarted(std::string_view text);

}  // namespace tarcil
